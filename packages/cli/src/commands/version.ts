import { ownVersion } from '@porthole/server/version';
import { EXIT } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';

/** The same as bin/porthole.cjs tells by itself, for command lines that it does not know. */
export async function run({ terminal }: Invocation): Promise<number> {
  await terminal.write(`porthole ${ownVersion()} (node ${process.versions.node})\n`);
  return EXIT.ok;
}
