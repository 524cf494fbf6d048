import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/* Some code needs a reason beside it: a comment such as `// clock: as of when a list is shown`, on its line or alone above it. */

const PACKAGES = join(import.meta.dirname, '..', 'packages');

/** Code that needs a reason: the word its reasons begin with, and the lines where it is, from 0. */
export interface MarkerRule {
  word: string;
  findUses(text: string): number[];
}

/** Sources that are published, by their paths below `packages`: no tests, nothing generated. */
export function readSources(): { file: string; text: string }[] {
  return readdirSync(PACKAGES)
    .flatMap((name) =>
      readdirSync(join(PACKAGES, name, 'src'), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${name}/src/${path}`,
      ),
    )
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$|\/(testing|generated)\//.test(file))
    .map((file) => ({ file, text: readFileSync(join(PACKAGES, file), 'utf8') }));
}

/** Uses without a reason, and reasons without a use, each with its line from 1. */
export function checkMarkers(text: string, { word, findUses }: MarkerRule): string[] {
  const lines = text.split('\n');
  const marker = new RegExp(`// ${word}:\\s*(.*)$`);
  const unused = new Set(lines.flatMap((line, index) => (marker.test(line) ? [index] : [])));
  const problems: string[] = [];
  for (const index of new Set(findUses(text))) {
    const isAbove = lines[index - 1]?.trim().startsWith('//') && marker.test(lines[index - 1] ?? '');
    const at = isAbove && !unused.has(index) ? index - 1 : index;
    const reason = marker.exec(lines[at] ?? '')?.[1];
    unused.delete(at);
    if (!reason) problems.push(`${index + 1}: a reason is missing (// ${word}: ...): ${lines[index]?.trim()}`);
  }
  return [...problems, ...[...unused].map((index) => `${index + 1}: a reason without a use: ${lines[index]?.trim()}`)];
}

/** The lines that match, except those that are only a comment. */
export function linesWith(pattern: RegExp, text: string): number[] {
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/\/\/ .*$/, '');
    return pattern.test(code) && !/^\s*\/?\*/.test(line) ? [index] : [];
  });
}
