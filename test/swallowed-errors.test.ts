import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PACKAGES = join(import.meta.dirname, '..', 'packages');

/** Handlers of failures that take no error: `catch {`, `.catch(() => ...)`, `.on('error', () => {})`, `unneeded(...)`. */
const SILENT = /\bcatch \{|\.catch\(\(\) =>|\.on\('error', \(\) => \{\}\)|\bunneeded\(/;

const COMMENT = /\/\/|\/\*\*|^\s*\*/;

const files = readdirSync(PACKAGES).flatMap((name) =>
  readdirSync(join(PACKAGES, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|testing\//.test(file))
    .map((file) => join(PACKAGES, name, 'src', file)),
);

it('whatever handles a failure without its error says why, on its line or next to it', () => {
  const unexplained = files.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((line, index) => {
      const near = [lines[index - 1], line, lines[index + 1]];
      const isExplained = near.some((each) => COMMENT.test(each ?? ''));
      return SILENT.test(line) && !isExplained ? [`${file}:${index + 1}: ${line.trim()}`] : [];
    });
  });
  expect(unexplained).toEqual([]);
});
