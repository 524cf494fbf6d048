import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRegex } from '../scan/match/regex.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import { HARD_PATTERNS, LETTERS, rejectedByEngine, sample } from './testing/random-patterns.ts';

const HEAD = '2026-06-01 10:00:00.000\tINFO\ta.go:1\t';

const piece = fc.oneof(
  fc.array(fc.constantFrom(...LETTERS, '\n', 'ſ', '\r\n')).map((parts) => Buffer.from(parts.join(''))),
  fc.array(fc.constantFrom(0x80, 0xc3, 0xe2, 0xff, 10, 32, 97)).map((codes) => Buffer.from(codes)),
);
const searchCase = fc.record({
  made: fc.oneof(
    { arbitrary: sample, weight: 3 },
    fc.constantFrom(...HARD_PATTERNS).map((pattern) => ({ pattern, text: 'a7' })),
  ),
  pieces: fc.array(piece, { minLength: 1, maxLength: 6 }),
  caseSensitive: fc.boolean(),
  /** Records between those that may match: blocks without any, or with one in every line. */
  filler: fc.constantFrom('', 'nothing here', 'aaaa bbbb 7777 {"x":[1.5]}', 'z'.repeat(3000)),
  term: fc.constantFrom(undefined, undefined, 'info', 'a.go'),
  endsOpen: fc.boolean(),
});

test('a regex finds the same records as testing it on each', async () => {
  const dir = tempDir();
  const logs = openDir(dir);
  let found = 0;
  await fc.assert(
    fc.asyncProperty(searchCase, async ({ made, pieces, caseSensitive, filler, term, endsOpen }) => {
      const { pattern: regex, text } = made;
      const compiled = await compileRegex(regex, { caseSensitive }).catch(rejectedByEngine);
      if (!compiled) return;
      const bodies = pieces.flatMap((one) => [one, Buffer.concat([one, Buffer.from(text), one])]);
      const fillers = Array.from({ length: filler === '' ? 0 : Math.ceil(60_000 / filler.length) }, () =>
        Buffer.from(filler),
      );
      const records = [...bodies, ...fillers, ...bodies, ...fillers].map((body, index, { length }) =>
        Buffer.concat([Buffer.from(HEAD), body, Buffer.from(endsOpen && index === length - 1 ? '' : '\n')]),
      );
      writeFileSync(join(dir, 'a.log'), Buffer.concat(records));
      let offset = 0;
      const expected: number[] = [];
      for (const record of records) {
        if (compiled.test(record.toString())) expected.push(offset);
        offset += record.length;
      }
      const response = await runSearch(logs, {
        regex,
        caseSensitive,
        ...(term !== undefined && !caseSensitive && { terms: [term] }),
      });
      expect(response.records.map((record) => record.offset)).toEqual(expected);
      found += expected.length;
    }),
    { numRuns: runs(20) },
  );
  expect(found).toBeGreaterThan(100);
});
