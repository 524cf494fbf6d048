import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseByteRange } from './log-routes.ts';

describe('a Range header', () => {
  it('picks the bytes that picking one by one gives', () => {
    const position = fc.option(fc.nat(24), { nil: undefined });
    fc.assert(
      fc.property(position, position, fc.nat(20), (first, last, size) => {
        const picked = pickSlowly(first, last, size);
        expect(parseByteRange(`bytes=${first ?? ''}-${last ?? ''}`, size)).toEqual(picked);
      }),
      { numRuns: 5000 },
    );
  });

  it('of any text gives a range within the file, or none', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^bytes=[-0-9, a]{0,12}$/));
    fc.assert(
      fc.property(text, fc.nat(1000), (header, size) => {
        const range = parseByteRange(header, size);
        if (typeof range !== 'object') return true;
        return Number.isInteger(range.start) && range.start >= 0 && range.start < range.end && range.end <= size;
      }),
      { numRuns: 5000 },
    );
  });
});

/** Every offset of the file asked whether it is meant. */
function pickSlowly(first: number | undefined, last: number | undefined, size: number) {
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && last < first) return undefined;
  const offsets = Array.from({ length: size }, (_, offset) => offset).filter((offset) =>
    first === undefined ? offset >= size - (last ?? 0) : offset >= first && (last === undefined || offset <= last),
  );
  const [start] = offsets;
  return start === undefined ? 'unsatisfiable' : { start, end: start + offsets.length };
}
