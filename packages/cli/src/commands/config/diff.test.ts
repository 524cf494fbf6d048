import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Difference, unifiedDiff } from './diff.ts';

function listKeys(pairs: readonly Difference[], side: 'a' | 'b'): string {
  return pairs
    .filter((pair) => pair[side] !== undefined)
    .map((pair) => `${pair.key} = ${JSON.stringify(pair[side])}\n`)
    .join('');
}

const value = fc.option(fc.integer({ min: 0, max: 1 }), { nil: undefined });
const somePairs = fc.array(fc.record({ a: value, b: value }), { maxLength: 40 }).map((rows) =>
  rows.flatMap(({ a, b }, index): Difference[] =>
    a === undefined && b === undefined
      ? []
      : [
          {
            key: `key-${String(index).padStart(2, '0')}`,
            ...(a !== undefined && { a }),
            ...(b !== undefined && { b }),
          },
        ],
  ),
);

test('applied to one list, it gives the other', () => {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-diff-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'list');
  fc.assert(
    fc.property(somePairs, (pairs) => {
      const [before, after] = [listKeys(pairs, 'a'), listKeys(pairs, 'b')];
      const diff = unifiedDiff(['a/list', 'b/list'], pairs);
      if (before === after) expect(diff).toEqual([]);
      // git would want to create or remove the file
      if (before === after || before === '' || after === '') return;
      writeFileSync(file, before);
      // programs: git
      execFileSync('git', ['apply', '-'], { cwd: dir, input: `${diff.join('\n')}\n` });
      expect(readFileSync(file, 'utf8')).toBe(after);
    }),
    { numRuns: runs(20) },
  );
});

test('an empty side is named by line 0', () => {
  expect(unifiedDiff(['a', 'b'], [{ key: 'k', b: 1 }])).toEqual(['--- a', '+++ b', '@@ -0,0 +1 @@', '+k = 1']);
});
