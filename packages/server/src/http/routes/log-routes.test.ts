import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseByteRange } from './log-routes.ts';

describe('a Range header', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=0-99', { start: 0, end: 100 }],
    ['bytes=0-', { start: 0, end: 100 }],
    ['bytes=99-', { start: 99, end: 100 }],
    ['bytes=10-1000', { start: 10, end: 100 }],
    ['bytes=10-99999999999999999999', { start: 10, end: 100 }],
    ['bytes=-1', { start: 99, end: 100 }],
    ['bytes=-100', { start: 0, end: 100 }],
    ['bytes=-101', { start: 0, end: 100 }],
    ['BYTES= 1-2 ', { start: 1, end: 3 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    [`bytes=${'9'.repeat(400)}-`, 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', undefined],
    ['bytes=-', undefined],
    ['bytes=', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=0-1,', undefined],
    ['bytes=a-b', undefined],
    ['bytes=0x1-2', undefined],
    ['bytes=+1-2', undefined],
    ['bytes=1.5-2', undefined],
    ['bytes 0-1', undefined],
    ['lines=0-1', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j of 100 bytes asks for %j', (header, range) => {
    expect(parseByteRange(header, 100)).toEqual(range);
  });

  it('on an empty file can never be satisfied', () => {
    for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-5']) expect(parseByteRange(header, 0)).toBe('unsatisfiable');
  });

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
