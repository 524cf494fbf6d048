import type { BundleManifest } from '@porthole/contract';
import { EXIT } from '../../exit-codes.ts';
import { formatBytes } from '../../output/format-bytes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

/** Who wants more of them looks into the manifest. */
const MAX_WARNINGS = 20;

/** Says what a bundle is and what it lacks; gives the exit code that means the same. */
export function printManifest(manifest: BundleManifest, terminal: Terminal): number {
  const { entries, missing, members, isComplete } = manifest;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  terminal.note(
    `${entries.length} files, ${formatBytes(bytes)} unpacked, of ${members.length} nodes; the hashes are right`,
  );
  const problems = [
    ...missing.map(({ name, reason }) => `${name} is missing: ${reason}`),
    ...entries.flatMap(({ name, problems: known }) => known.map((problem) => `${name}: ${problem}`)),
  ];
  for (const problem of problems.slice(0, MAX_WARNINGS)) terminal.warn(visibleText(problem));
  const more = problems.length - MAX_WARNINGS;
  if (more > 0) terminal.warn(`and ${more} more, all in its manifest.json`);
  return isComplete ? EXIT.ok : EXIT.partial;
}
