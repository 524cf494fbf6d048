import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { countSteps, MAX_REGEX_STEPS } from './count-steps.ts';

const SEED = 20261115;

/** Patterns with every kind of syntax that the compiler repeats, or that could be mistaken for it. */
const pattern = fc.letrec<{ pattern: string; atom: string; piece: string }>((tie) => ({
  pattern: fc
    .array(tie('piece'), { minLength: 1, maxLength: 4 })
    .chain((pieces) => fc.constantFrom('', '|').map((separator) => pieces.join(separator))),
  piece: fc
    .tuple(
      tie('atom'),
      fc.constantFrom('', '', '*', '+', '?', '+?', '{3}', '{0,4}', '{2,5}', '{7,}', '{0}', '{1}?', '{', '{,3}', '{x}'),
    )
    .map(([atom, count]) => atom + count),
  atom: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'pattern' },
    fc.constantFrom('a', 'é', '.', '^', '$', '\\d', '\\.', '\\x{1F600}', '\\x41', '\\pL', '\\p{Greek}', '\\b', ' '),
    fc.constantFrom('[a-z]', '[]a]', '[^]]', '[[:alpha:]x]', '[\\]}]', '[{3}]', '[(]', '\\Qa(b{9\\E', '\\(', '\\{'),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
    tie('pattern').map((inner) => `(?i-s:${inner})`),
    fc.integer({ min: 0, max: 9999 }).chain((id) => tie('pattern').map((inner) => `(?P<n${id}>${inner})`)),
  ),
})).pattern;

describe('the steps of a regex, counted without compiling it', () => {
  test('are at least those it compiles to, and not many more', () => {
    let compiled = 0;
    fc.assert(
      fc.property(pattern, fc.boolean(), (text, fold) => {
        const size = compiledSize(text, fold);
        if (size === undefined) return;
        compiled++;
        const steps = countSteps(text);
        // Every program has two instructions that belong to no pattern.
        expect(size - 2).toBeLessThanOrEqual(steps);
        // The compiler merges alternatives and classes, and drops unreachable code.
        expect(steps).toBeLessThanOrEqual(16 * size);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
    expect(compiled).toBeGreaterThan(500);
  });

  test.each([
    ['error', 5],
    ['x{1000}', 1000],
    ['.{0,500}', 1000],
    ['(?:[0-9]{1,3}\\.){3}[0-9]{1,3}', 23],
    ['[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}', 42],
    ['((x{50}){50}){50}', 130_100],
    ['(x{1000}){1000}', 1_002_000],
  ])('of %j are %d', (text, steps) => {
    expect(countSteps(text)).toBe(steps);
  });

  test('of realistic patterns are far from the limit', () => {
    const written = [
      'timeout|deadline exceeded|connection (refused|reset)',
      '\\b\\d{1,3}(\\.\\d{1,3}){3}:\\d{2,5}\\b',
      '"status":\\s*5\\d\\d',
      '(?i)panic|fatal|out of memory',
      '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
      'took ([1-9]\\d{3,}|[5-9]\\d{2})ms',
      '^\\s+at .{0,200}\\.java:\\d+\\)$',
    ];
    for (const text of written) expect(countSteps(text)).toBeLessThan(MAX_REGEX_STEPS / 2);
  });

  test('are counted quickly, however deep and long a pattern is', () => {
    expect(countSteps('('.repeat(100_000))).toBe(0);
    expect(countSteps(`${'('.repeat(500)}x${'){1000}'.repeat(500)}`)).toBe(Number.POSITIVE_INFINITY);
    expect(countSteps('['.repeat(2048))).toBeLessThan(3000);
  });
});

/** Number of instructions it compiles to; `undefined` for an invalid pattern, or one too large for the engine. */
function compiledSize(text: string, fold: boolean): number | undefined {
  try {
    return RE2JS.compile(text, RE2JS.MULTILINE | (fold ? RE2JS.CASE_INSENSITIVE : 0)).programSize();
  } catch {
    return undefined;
  }
}
