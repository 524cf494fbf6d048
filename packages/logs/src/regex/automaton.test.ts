import { IS_LONG_RUN } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { ScanKernel } from '../kernel/scan-kernel.ts';
import { compileRegex } from '../scan/match/regex.ts';

const kernel = new ScanKernel();

/** Pseudorandom numbers, the same in every run. */
function* numbers(seed: number): Generator<number, never, undefined> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 16;
  }
}

/** Records of a line or, some of them, of several. */
function makeRecords(letters: string, { seed, bytes }: { seed: number; bytes: number }): string[] {
  const random = numbers(seed);
  const pick = (below: number) => random.next().value % below;
  const line = () => Array.from({ length: 1 + pick(120) }, () => letters[pick(letters.length)]).join('');
  const records: string[] = [];
  for (let size = 0; size < bytes; size += records.at(-1)?.length ?? 0) {
    const lines = Array.from({ length: pick(8) === 0 ? 1 + pick(200) : 1 }, line);
    records.push(`${lines.join('\n')}\n`);
  }
  return records;
}

/** Indices of the records found by the automaton, each searched from the start of the one after the last. */
function pointedAt(find: (from: number, to: number) => number, records: readonly string[]): Set<number> {
  kernel.text[0] = 10;
  const end = 1 + kernel.text.write(records.join(''), 1, 'latin1');
  const found = new Set<number>();
  let from = 1;
  let hit = find(from, end);
  records.forEach((record, index) => {
    const next = from + record.length;
    if (hit >= 0 && hit < next) {
      found.add(index);
      hit = next < end ? find(next, end) : -1;
    }
    from = next;
  });
  return found;
}

describe('an automaton', () => {
  const patterns: [string, string, 'sharp' | 'blunt'][] = [
    ['a[0-9]{4}b', 'ab0123456789xyz ', 'sharp'],
    ['^[ab]{6}$', 'abcdefgh', 'sharp'],
    ['x{5}\\nx{2}', 'xxxy', 'sharp'],
    ['q[^y]{150}q', 'qaaaaaaaaaaaaaaaaay', 'sharp'],
    ['q[^y]{900,}q', 'qaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay', 'sharp'],
    ['\\bab\\b.*\\bba\\b.*\\baa\\b.*cc$', 'abc ', 'sharp'],
    ['(?s)zz.*yy.*zz', 'abcdefghijklmnopqrstuvwxyz', 'sharp'],
    // Too many states for the table, and far too many.
    ['a[ab]{14}7', 'abababababababababababababababababab7', 'blunt'],
    ['a[ab]{60}7', 'abababababababababababababababababababababababababababababababababab7', 'blunt'],
    ['(a|b|c)*a.{20}b.{20}c.{20}7', 'abc7', 'blunt'],
  ];
  test.each(patterns)('of %s finds every record that matches in a long text', async (pattern, letters, kind) => {
    for (const seed of IS_LONG_RUN ? [1, 2, 3] : [1]) {
      const regex = await compileRegex(pattern);
      const records = makeRecords(letters, { seed, bytes: 400_000 });
      const find = (from: number, to: number) => regex.prefilter.find(kernel, from, to);
      const found = pointedAt(find, records);
      const missed = records.filter((record, index) => !found.has(index) && regex.test(record));
      expect(missed).toEqual([]);
      if (kind === 'sharp') expect(found.size).toBeLessThan(records.length / 2);
    }
  });

  test('finds a match across any two lines, wherever the text is divided', async () => {
    const { prefilter } = await compileRegex('q\\nq');
    const line = `${'y'.repeat(99)}\n`;
    const end = 1 + kernel.text.write(line.repeat(1000), 1);
    for (let next = 1 + line.length; next < end; next += line.length) {
      // Parts are walked in parallel only after a while without a match.
      expect(prefilter.find(kernel, 1, end)).toBe(-1);
      kernel.text[next - 2] = kernel.text[next] = 113;
      expect(prefilter.find(kernel, 1, end)).toBe(next);
      kernel.text[next - 2] = kernel.text[next] = 121;
    }
  });

  test('shares the kernel with another', async () => {
    const one = await compileRegex('[0-9]{3}x');
    const other = await compileRegex('[a-f]+\\d{2}[g-z]');
    kernel.text.write('\n...12x...123x...', 0);
    for (let turn = 0; turn < 3; turn++) {
      expect(one.prefilter.find(kernel, 1, 17)).toBe(13);
      expect(other.prefilter.find(kernel, 1, 17)).toBe(-1);
    }
  });
});
