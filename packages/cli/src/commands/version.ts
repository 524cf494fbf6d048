import { ownVersion } from '@porthole/server/version';
import { EXIT } from '../exit-codes.ts';

export async function run(): Promise<number> {
  console.log(`porthole ${ownVersion()} (node ${process.versions.node})`);
  return EXIT.ok;
}
