import fc from 'fast-check';
import { expect, it } from 'vitest';
import { foldRows } from './fold-rows.ts';

const formatRuns = (rows: string) =>
  foldRows([...rows].map((row) => row === '.')).map(
    ({ isFolded, start, end }) => `${isFolded ? 'fold' : 'show'} ${start}-${end}`,
  );

it('equal rows are folded except around what differs', () => {
  expect(formatRuns('..........x..........')).toEqual(['fold 0-7', 'show 7-14', 'fold 14-21']);
  expect(formatRuns('x.............x')).toEqual(['show 0-4', 'fold 4-11', 'show 11-15']);
});

it('few equal rows are shown', () => {
  expect(formatRuns('x.........x')).toEqual(['show 0-11']);
  expect(formatRuns('...')).toEqual(['show 0-3']);
  expect(formatRuns('')).toEqual([]);
});

it('texts without a difference are one fold', () => {
  expect(formatRuns('.'.repeat(20))).toEqual(['fold 0-20']);
});

it('every row is in exactly one run, and no fold holds a difference', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
        { maxLength: 80 },
      ),
      (isEqual) => {
        const runs = foldRows(isEqual);
        expect(runs.flatMap(({ start, end }) => isEqual.slice(start, end))).toEqual(isEqual);
        for (const [index, { start }] of runs.entries()) expect(start).toBe(runs[index - 1]?.end ?? 0);
        for (const { isFolded, start, end } of runs)
          if (isFolded) expect(isEqual.slice(start, end)).not.toContain(false);
      },
    ),
  );
});
