import type { Invocation } from '../../invocation.ts';
import { checkBundle } from './check-bundle.ts';
import { tellManifest } from './tell-manifest.ts';

/** Whether a bundle is as it was made, and what it lacked then. */
export async function run({ args, terminal }: Invocation): Promise<number> {
  const [file = ''] = args;
  return tellManifest(await checkBundle(file), terminal);
}
