import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderView } from '../testing/fake-lindb.ts';
import { joinTail } from './join-tail.ts';

const join = (known: string, tail: string, grownBytes: number): string | undefined => {
  const bytes = Buffer.from(tail);
  const joined = joinTail(Buffer.from(known), bytes, { grownBytes });
  return joined && bytes.subarray(joined.at).toString();
};

describe('what follows what is known', () => {
  it.each([
    ['the known lines come first', 'a\nb\n', 'a\nb\nc\n', 2, 'c\n'],
    ['only the last known line is there', 'a\nb\n', 'b\nc\nd\n', 4, 'c\nd\n'],
    ['nothing is new', 'a\nb\n', 'a\nb\n', 0, ''],
    ['nothing of it is there', 'a\nb\n', 'c\nd\n', 4, undefined],
    ['the last known line was not finished', 'a\nbe', 'a\nbegin\nc\n', 6, 'gin\nc\n'],
    ['the node had ended a line that was not finished', 'a\nbe\n', 'a\nbegin\nc\n', 5, 'gin\nc\n'],
    ['lines repeat: the sizes say how many are new', 'x\nx\nx\n', 'x\nx\nx\nx\n', 4, 'x\nx\n'],
    ['lines repeat and the node added a newline', 'x\nx\n', 'x\nx\nx\n', 1, 'x\n'],
    ['the tail starts before what is known', 'b\nc\n', 'a\nb\nc\nd\n', 2, 'd\n'],
    ['it starts before, and more was written since', 'b\nc\n', 'a\nb\nc\nd\ne\n', 2, 'd\ne\n'],
    ['what is known is only the end of another line', 'b\n', 'ab\nc\n', 4, undefined],
    ['lines begin alike: part of one is no proof', 'q\n10:00 ', '10:00 a\n10:00 b\n10:00 c\n', 3, undefined],
    ['it ends within a line that goes on', 'a\nb\n', 'b\nb\n', 2, 'b\n'],
  ])('%s', (_name, known, tail, grown, rest) => {
    expect(join(known, tail, grown)).toBe(rest);
  });
});

/** At least the last line. */
function lastLines(known: Buffer, bytes: number): Buffer {
  const from = Math.min(known.length - bytes, known.lastIndexOf(10, -2) + 1);
  return from <= 0 ? known : known.subarray(known.indexOf(10, from - 1) + 1);
}

/** A log is read by what LinDB sends of it, again and again; every line must arrive once. */
it('a log that grows is put together again, whatever is written between a list and a view', () => {
  // Numbered as logs have times: lines of their own, and some that repeat.
  const text = fc.array(fc.constantFrom('a', 'b', 'same line', 'longer line of a log'), {
    minLength: 1,
    maxLength: 12,
  });
  const step = fc.record({
    listed: text,
    raced: fc.option(text, { nil: [] }),
    overlap: fc.integer({ min: 40, max: 400 }),
    keptBytes: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(text, fc.array(step, { maxLength: 6 }), fc.boolean(), (first, steps, isNumbered) => {
      let number = 0;
      const linesOf = (lines: readonly string[]) =>
        lines.map((line) => (isNumbered ? `${number++} ${line}\n` : `${line}\n`));
      let disk = Buffer.from(['head\n', ...linesOf(first)].join(''));
      let known = renderView(disk, disk.length);
      let size = disk.length;
      for (const { listed, raced, overlap, keptBytes } of steps) {
        disk = Buffer.concat([disk, Buffer.from(linesOf(listed).join(''))]);
        const listedSize = disk.length;
        // If lines cannot be distinguished, a race looks like a repetition.
        if (isNumbered) disk = Buffer.concat([disk, Buffer.from(linesOf(raced).join(''))]);
        const grownBytes = listedSize - size;
        const tail = renderView(disk, grownBytes + overlap);
        const joined = joinTail(lastLines(known, keptBytes), tail, { grownBytes });
        if (joined === undefined) {
          // Only where the view does not reach back to a known line.
          expect(grownBytes + overlap - (disk.length - size)).toBeLessThan(40);
          return;
        }
        known = Buffer.concat([known, tail.subarray(joined.at)]);
        size = listedSize;
      }
      const all = disk.subarray('head\n'.length).toString();
      expect(all.startsWith(known.toString())).toBe(true);
      if (!isNumbered) expect(known.toString()).toBe(all);
    }),
    { numRuns: 500 * Number(process.env.MORE ?? 1) },
  );
});
