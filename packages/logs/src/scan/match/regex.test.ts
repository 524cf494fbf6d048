import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { readTail } from '../../testing/read-bytes.ts';
import { runSearch } from '../../testing/run-search.ts';
import { openDir } from '../../testing/temp-dir.ts';
import { compileRegex } from './regex.ts';

const HEAD = '2026-06-01 10:00:00.000\tINFO\ta.go:1\t';

describe('patterns that stall other engines', () => {
  const LONG = `${HEAD}${'a'.repeat(100 * 1024)}!\n`;
  const patterns: [string, boolean][] = [
    ['(a+)+$', false],
    ['(a|aa)+$', false],
    ['(.*)*Q', false],
    ['(a*)*b$', false],
    ['(a|a?)+Q', false],
    [`${'a?'.repeat(30)}${'a'.repeat(30)}`, true],
    ['(a?){30}a{30}!', true],
    ['([a-z]+)*\\d$', false],
    ['(x+x+)+y', false],
  ];
  test.each(patterns)('%s completes, and so do other searches meanwhile', async (regex, isFound) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), LONG.repeat(4));
    const logs = openDir(dir);
    const search = runSearch(logs, { regex });
    const tail = await readTail(logs, 'a.log', 10);
    expect(tail.length).toBeLessThanOrEqual(10);
    const { records, end } = await search;
    expect([end.reason, records.length]).toEqual(['exhausted', isFound ? 4 : 0]);
  });

  const tooMuch = [
    '(x{1000}){1000}',
    '((x{100}){100}){100}',
    '.{0,1000}.{0,25}',
    '((((x{50}){50}){50}){50}){50}',
    `${'('.repeat(5000)}x${')'.repeat(5000)}`,
  ];
  test.each(tooMuch)(
    '%.40s would take too much time and memory and is rejected before it is compiled',
    async (regex) => {
      const refusal = { code: 'REGEX_TOO_COMPLEX', message: expect.stringContaining('at most 2048 are allowed') };
      await expect(compileRegex(regex)).rejects.toMatchObject(refusal);
      const logs = openDir(tempDir());
      await expect(runSearch(logs, { regex })).rejects.toMatchObject(refusal);
      await expect(logs.histogram({ regex, buckets: 1 })).rejects.toMatchObject(refusal);
      await expect(logs.digest({ regex, limit: 1 })).rejects.toMatchObject(refusal);
      await expect(logs.follow({ regex, start: 'end' }).next()).rejects.toMatchObject(refusal);
    },
  );

  test.each(['x{1000}', '.{0,1000}.{0,24}'])('%s is just below the limit', async (regex) => {
    expect((await compileRegex(regex)).test('x'.repeat(1000))).toBe(true);
  });

  test('and an invalid pattern is rejected by every operation', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), LONG);
    const logs = openDir(dir);
    const invalid = { code: 'REGEX_INVALID' };
    for (const regex of ['(', '[', '*', 'a**', '(?<=a)b', '\\1', '(?=a)', 'a{2,1}', '\\xZZ', '[z-a]']) {
      await expect(runSearch(logs, { regex })).rejects.toMatchObject(invalid);
      await expect(logs.histogram({ regex, buckets: 1 })).rejects.toMatchObject(invalid);
      await expect(logs.digest({ regex, limit: 1 })).rejects.toMatchObject(invalid);
    }
  });
});

describe('a regex', () => {
  test('matches letters beyond ASCII regardless of case', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), `${HEAD}di\u017F\u212A full\n${HEAD}disk full\n${HEAD}another\n`);
    const logs = openDir(dir);
    expect((await runSearch(logs, { regex: 'disk full' })).records).toHaveLength(2);
    expect((await runSearch(logs, { regex: 'disk full', caseSensitive: true })).records).toHaveLength(1);
  });

  test('with ^ and $ matches at the lines of a record, not only at its ends', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), `${HEAD}first\nsecond\nthird\n${HEAD}other\n`);
    expect((await runSearch(openDir(dir), { regex: '^second$' })).records).toMatchObject([{ offset: 0 }]);
  });
});
