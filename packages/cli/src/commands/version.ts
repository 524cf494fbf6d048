import { ownVersion } from '@porthole/server/version';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';

/** Prints the same as bin/porthole.cjs, for command lines that it does not handle itself. */
export async function run({ terminal }: Invocation): Promise<number> {
  await terminal.write(`porthole ${ownVersion()} (node ${process.versions.node})\n`);
  return EXIT.ok;
}
