import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeNeedle, ScanKernel } from '../kernel/scan-kernel.ts';
import { compileRegex, type SafeRegex } from '../scan/match/regex.ts';
import { HARD_PATTERNS, LETTERS, rejectedByEngine, sample } from './testing/random-patterns.ts';

const kernel = new ScanKernel();

/** Puts a record into the kernel's memory, between others; returns its range. */
function load(record: Buffer): { from: number; to: number } {
  kernel.text[0] = 10;
  record.copy(kernel.text, 1);
  kernel.text.fill('7aKs', record.length + 1, record.length + 100);
  return { from: 1, to: record.length + 1 };
}

/** What a regex may match in `record`, according to its prefilter: all of the text sets, and the automaton. */
function inspect(regex: SafeRegex, record: Buffer, caseSensitive: boolean) {
  const { from, to } = load(record);
  const byTexts = regex.prefilter.textSets.every((texts) =>
    texts.some((text) => {
      kernel.setNeedle(makeNeedle(text, { caseSensitive }));
      return kernel.find(from, to) >= 0;
    }),
  );
  const found = regex.prefilter.find(kernel, from, to);
  expect(found).toBeLessThan(to);
  return { matches: regex.test(record.toString()), byTexts, byAutomaton: found >= 0 };
}

const bytes = fc
  .array(fc.oneof(fc.constantFrom(0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff, 0xc0), fc.constantFrom(10, 32, 97)))
  .map((codes) => Buffer.from(codes));
const letters = fc.array(fc.constantFrom(...LETTERS, '\n', '\u212a', '\u017f'));
const around = fc.oneof(
  letters.map((parts) => Buffer.from(parts.join(''))),
  bytes,
);

describe('the prefilter of a regex', () => {
  test('skips no match', async () => {
    let matched = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(sample, around, around, fc.boolean(), async (made, before, after, caseSensitive) => {
        const regex = await compileRegex(made.pattern, { caseSensitive }).catch(rejectedByEngine);
        const text = Buffer.from(made.text);
        const other = Buffer.from(caseSensitive ? made.text : made.text.toUpperCase());
        const records = [text, other, before, Buffer.concat([before, text, after]), Buffer.concat([before, other])];
        // No record is empty.
        for (const record of regex ? records.filter(({ length }) => length > 0) : []) {
          const seen = regex && inspect(regex, record, caseSensitive);
          if (seen?.matches) expect(seen).toEqual({ matches: true, byTexts: true, byAutomaton: true });
          if (seen?.matches) matched++;
          if (seen && !seen.byAutomaton) refused++;
        }
      }),
      { numRuns: runs(300) },
    );
    expect(matched).toBeGreaterThan(600);
    expect(refused).toBeGreaterThan(200);
  });

  test.each(HARD_PATTERNS)('skips no match of %s', async (pattern) => {
    const letter = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'x', '7', ' ', '\n', 'é');
    const text = fc.array(letter, { minLength: 1, maxLength: 400, size: 'max' }).map((parts) => parts.join(''));
    const regexes = [await compileRegex(pattern), await compileRegex(pattern, { caseSensitive: true })] as const;
    fc.assert(
      fc.property(text, fc.boolean(), (record, caseSensitive) => {
        const seen = inspect(regexes[caseSensitive ? 1 : 0], Buffer.from(record), caseSensitive);
        if (seen.matches) expect(seen).toEqual({ matches: true, byTexts: true, byAutomaton: true });
      }),
      { numRuns: runs(15) },
    );
  });

  test('knows all letters that equal an ASCII letter when case is ignored', async () => {
    const ascii = await compileRegex('[\\x00-\\x7f]');
    const beyond: number[] = [];
    for (let code = 0x80; code < 0x20000; code++) {
      if ((code < 0xd800 || code > 0xdfff) && ascii.test(String.fromCodePoint(code))) beyond.push(code);
    }
    expect(beyond).toEqual([0x17f, 0x212a]);
  });
});
