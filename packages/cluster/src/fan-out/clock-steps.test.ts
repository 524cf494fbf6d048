import type { NodeDescription } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeCluster } from '../testing/fake-cluster.ts';
import { FakeNode } from '../testing/fake-node.ts';
import { ClockTable } from './clock.ts';
import { describeUncertainty, type SteppedClock, toMemberRange, toOwnTime } from './clock-steps.ts';

const START_MS = 1_700_000_000_000;
const RECORD_MS = 500;
/** What measurements leave open, and what drift does in an hour. */
const EDGE_MS = 250;

interface Step {
  /** After the start. */
  atMs: number;
  byMs: number;
}

/** A member that writes a record every half a second while its clock is set, and what a node that measures it knows then. */
async function observe(sets: readonly Step[], { totalMs, everyMs }: { totalMs: number; everyMs: number }) {
  let nowMs = START_MS;
  const offsetNow = () => sets.reduce((sum, { atMs, byMs }) => (START_MS + atMs <= nowMs ? sum + byMs : sum), 0);
  const member = new FakeNode({ describe: async () => ({ clockMs: nowMs + offsetNow() }) as NodeDescription });
  const { peers } = fakeCluster({ a: member });
  const source = { nowMs: () => nowMs, runningMs: () => nowMs - START_MS };
  const clocks = new ClockTable({ peers, selfId: 'self', timeoutMs: 1000, source });
  const records: { trueMs: number; timeMs: number }[] = [];
  for (let atMs = 0; atMs <= totalMs; atMs += RECORD_MS) {
    nowMs = START_MS + atMs;
    records.push({ trueMs: nowMs, timeMs: nowMs + offsetNow() });
    if (atMs % everyMs === 0) await clocks.measure(peers.get('a'));
  }
  const now = clocks.of('a');
  if (!now) throw new Error('it was measured');
  const clock: SteppedClock = { ...now, steps: clocks.steps('a') };
  return { clock, records };
}

/** Numbers of the records in a range, those at its very edges left out. */
function inside(records: readonly { trueMs: number }[], fromMs: number, toMs: number) {
  const isClear = (trueMs: number) => Math.abs(trueMs - fromMs) > EDGE_MS && Math.abs(trueMs - toMs) > EDGE_MS;
  return records.filter(({ trueMs }) => isClear(trueMs)).map(({ trueMs }) => trueMs - START_MS);
}

function found(
  clock: SteppedClock,
  records: readonly { trueMs: number; timeMs: number }[],
  fromMs: number,
  toMs: number,
) {
  const { fromMs: first = -Infinity, toMs: end = Infinity } = toMemberRange(clock, { fromMs, toMs });
  const asked = records.filter(({ timeMs }) => timeMs >= first && timeMs < end);
  const exact = asked.filter(({ timeMs }) => toOwnTime(clock, timeMs) >= fromMs && toOwnTime(clock, timeMs) < toMs);
  return { asked: new Set(inside(asked, fromMs, toMs)), exact: new Set(inside(exact, fromMs, toMs)) };
}

describe('a clock that is set', () => {
  it.each([10_000, -10_000])(
    'by %d ms corrects every record by the offset in force when it was written',
    async (byMs) => {
      const { clock, records } = await observe([{ atMs: 300_000, byMs }], { totalMs: 600_000, everyMs: 10_000 });
      expect([clock.offsetMs, clock.steps?.length]).toEqual([byMs, 1]);
      const wrong = records.filter(({ trueMs, timeMs }) => Math.abs(toOwnTime(clock, timeMs) - trueMs) > EDGE_MS);
      // Only where the clock showed the same times twice.
      for (const { trueMs } of wrong) expect(Math.abs(trueMs - START_MS - 300_000)).toBeLessThan(21_000);
      expect(wrong.length).toBeLessThan(byMs > 0 ? 1 : 42);
    },
  );

  it('says so only for ranges that begin or end about then', async () => {
    const { clock } = await observe([{ atMs: 300_000, byMs: -10_000 }], { totalMs: 600_000, everyMs: 10_000 });
    const doubt = (fromMs: number, toMs: number) =>
      describeUncertainty(clock, { fromMs: START_MS + fromMs, toMs: START_MS + toMs });
    expect(doubt(0, 200_000)).toBeUndefined();
    expect(doubt(200_000, 400_000)).toBeUndefined();
    expect(doubt(400_000, 600_000)).toBeUndefined();
    expect(describeUncertainty(clock, {})).toBeUndefined();
    expect(doubt(0, 305_000)).toMatch(
      /^its clock was set by -10\.0 s at about 2023-11-14T22:18:20\.000Z: times from 2023-.*Z to 2023-.*Z are uncertain$/,
    );
    expect(doubt(295_000, 600_000)).toBeDefined();
  });

  it('loses no record of any range, and has exactly those of a range that is not said to be uncertain', async () => {
    const byMs = fc.integer({ min: 600, max: 30_000 }).chain((size) => fc.constantFrom(size, -size));
    // Not between the same two measurements, which would be one step.
    const sets = fc
      .array(fc.tuple(fc.nat(40_000), byMs), { maxLength: 4 })
      .map((all) => all.map(([atMs, by], place) => ({ atMs: 20_000 + place * 60_000 + atMs, byMs: by })));
    const ranges = fc.array(fc.tuple(fc.nat(300_000), fc.nat(300_000)), { minLength: 20, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sets, ranges, fc.constantFrom(1000, 5000, 10_000), async (given, asked, everyMs) => {
        const { clock, records } = await observe(given, { totalMs: 300_000, everyMs });
        for (const edges of asked) {
          const [fromMs = 0, toMs = 0] = edges.map((ms) => START_MS + ms).sort((a, b) => a - b);
          const truth = inside(
            records.filter(({ trueMs }) => trueMs >= fromMs && trueMs < toMs),
            fromMs,
            toMs,
          );
          const got = found(clock, records, fromMs, toMs);
          const lost = truth.filter((each) => !got.asked.has(each));
          expect(lost).toEqual([]);
          if (describeUncertainty(clock, { fromMs, toMs }) === undefined) expect([...got.exact]).toEqual(truth);
        }
      }),
      { numRuns: runs(50) },
    );
  });
});
