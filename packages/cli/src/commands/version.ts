import { ownVersion } from '@porthole/server/version';
import { EXIT } from '../exit-codes.ts';

/** The same as bin/porthole.cjs tells by itself, for command lines that it does not know. */
export async function run(): Promise<number> {
  console.log(`porthole ${ownVersion()} (node ${process.versions.node})`);
  return EXIT.ok;
}
