import { expect, it } from 'vitest';
import { readSources } from './markers.ts';

/** Handlers of failures that take no error: `catch {`, `.catch(() => ...)`, `.on('error', () => {})`, `unneeded(...)`. */
const SILENT = /\bcatch \{|\.catch\(\(\) =>|\.on\('error', \(\) => \{\}\)|\bunneeded\(/;

const COMMENT = /\/\/|\/\*\*|^\s*\*/;

it('whatever handles a failure without its error says why, on its line or next to it', () => {
  const unexplained = readSources().flatMap(({ file, text }) => {
    const lines = text.split('\n');
    return lines.flatMap((line, index) => {
      const near = [lines[index - 1], line, lines[index + 1]];
      const isExplained = near.some((each) => COMMENT.test(each ?? ''));
      return SILENT.test(line) && !isExplained ? [`${file}:${index + 1}: ${line.trim()}`] : [];
    });
  });
  expect(unexplained).toEqual([]);
});
