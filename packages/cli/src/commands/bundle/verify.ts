import type { Invocation } from '../../invocation.ts';
import { printManifest } from './print-manifest.ts';
import { verifyBundle } from './verify-bundle.ts';

/** Checks a bundle and lists what is missing from it. */
export async function run({ args, terminal }: Invocation): Promise<number> {
  const [file = ''] = args;
  return printManifest(await verifyBundle(file), terminal);
}
