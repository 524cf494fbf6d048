import type { BundleManifest } from '@porthole/contract';
import { EXIT } from '../../exit-codes.ts';
import { formatBytes } from '../../output/format-bytes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** The manifest lists all of them. */
const MAX_WARNINGS = 20;

/** Prints a summary of a bundle and what is missing from it. Returns the exit code. */
export function printManifest(manifest: BundleManifest, terminal: Terminal): number {
  const { entries, missing, members, isComplete } = manifest;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const nodes = members.length === 1 ? '1 node' : `${members.length} nodes`;
  terminal.note(`${entries.length} files, ${formatBytes(bytes)} uncompressed, from ${nodes}; all hashes match`);
  const problems = [
    ...missing.map(({ name, reason }) => `${name} is missing: ${reason}`),
    ...entries.flatMap(({ name, problems: known }) => known.map((problem) => `${name}: ${problem}`)),
  ];
  for (const problem of problems.slice(0, MAX_WARNINGS)) terminal.warn(visibleText(problem));
  const more = problems.length - MAX_WARNINGS;
  if (more > 0) terminal.warn(`and ${more} more, listed in manifest.json`);
  return isComplete ? EXIT.ok : EXIT.partial;
}
