import type { Invocation } from '../../invocation.ts';
import { printManifest } from './print-manifest.ts';
import { verifyBundle } from './verify-bundle.ts';

/** Whether a bundle is as it was made, and what it lacked then. */
export async function run({ args, terminal }: Invocation): Promise<number> {
  const [file = ''] = args;
  return printManifest(await verifyBundle(file), terminal);
}
