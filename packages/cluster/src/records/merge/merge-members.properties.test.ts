import type { ClusterRecord, MemberClock } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs';
import { recordsOf } from '@porthole/records';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endItem, FakeNode, record } from '../../testing/fake-node.ts';
import { ClusterBatchWriter } from './cluster-batch.ts';
import { MemberLane } from './member-lane.ts';
import { mergeMembers } from './merge-members.ts';

interface LaneSpec {
  records: FoundRecord[];
  clock: MemberClock;
  batchRecords: number;
}

const times = fc.array(fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 300 }) }, fc.constant(Number.NaN)), {
  maxLength: 30,
});

const laneSpec = fc.record({
  times,
  clock: fc.record({ offsetMs: fc.integer({ min: -200, max: 200 }), uncertaintyMs: fc.integer({ min: 0, max: 20 }) }),
  batchRecords: fc.integer({ min: 1, max: 7 }),
});

describe('the merge by time', () => {
  it('returns what sorting all records by corrected time returns, whatever the lanes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(laneSpec, { maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 200 }),
        async (specs, newestFirst, isHonest, limit) => {
          const lanes = specs.map(({ times: given, ...rest }, place): LaneSpec => {
            const inOrder = isHonest ? sorted(given, newestFirst) : given;
            return { records: inOrder.map((timeMs, index) => record(`${place}:${index}`, timeMs, index)), ...rest };
          });
          const actual = await merged(lanes, { newestFirst, limit });
          const expected = slowMerge(lanes, newestFirst).slice(0, limit);
          expect(actual.map(({ message }) => message)).toEqual(expected.map(({ message }) => message));
          expect(actual.map(({ isUnsure = false }) => isUnsure)).toEqual(expectedUnsure(expected));
          for (const { node, timeMs, atMs } of actual)
            expect(atMs).toBe(timeMs === undefined ? undefined : timeMs - (lanes[Number(node)]?.clock.offsetMs ?? 0));
        },
      ),
      { numRuns: runs(150) },
    );
  });
});

function sorted(given: readonly number[], newestFirst: boolean): number[] {
  const timed = given.filter((timeMs) => !Number.isNaN(timeMs)).sort((a, b) => (newestFirst ? b - a : a - b));
  return given.map((timeMs) => (Number.isNaN(timeMs) ? timeMs : (timed.shift() ?? 0)));
}

async function merged(
  specs: readonly LaneSpec[],
  { newestFirst, limit }: { newestFirst: boolean; limit: number },
): Promise<ClusterRecord[]> {
  const lanes = specs.map(({ records, clock, batchRecords }, place) => {
    const node = new FakeNode({ search: () => inBatches(records, batchRecords) });
    const open = () => node.search({ order: 'oldest', limit, before: 0, after: 0 });
    return new MemberLane({
      index: place,
      id: String(place),
      clock,
      newestFirst,
      open,
      firstBatchMs: 9e4,
      timeoutMs: 9e4,
    });
  });
  const emitted: ClusterRecord[] = [];
  const writer = new ClusterBatchWriter();
  for await (const runs of mergeMembers(lanes, { limit, maxParallel: 2 }))
    emitted.push(...recordsOf<ClusterRecord>(writer.write(runs)));
  return emitted;
}

async function* inBatches(records: readonly FoundRecord[], size: number) {
  yield [];
  for (let at = 0; at < records.length; at += size) yield records.slice(at, at + size);
  yield [endItem()];
}

interface ExpectedRecord {
  message: string;
  key: number;
  lane: number;
  uncertaintyMs: number;
}

/** All records at once, sorted by the furthest time their lane has come to, then by lane. */
function slowMerge(specs: readonly LaneSpec[], newestFirst: boolean): ExpectedRecord[] {
  const all = specs.flatMap(({ records, clock }, lane) => {
    let key = -Infinity;
    return records.map(({ message, timeMs }): ExpectedRecord => {
      const own = timeMs === undefined ? -Infinity : (newestFirst ? -1 : 1) * (timeMs - clock.offsetMs);
      key = Math.max(key, own);
      return { message, key, lane, uncertaintyMs: clock.uncertaintyMs };
    });
  });
  return all.sort((a, b) => (a.key === b.key ? a.lane - b.lane : a.key < b.key ? -1 : 1));
}

function expectedUnsure(placed: readonly ExpectedRecord[]): boolean[] {
  return placed.map(({ key, lane, uncertaintyMs }, index) => {
    const before = placed[index - 1];
    if (before === undefined || before.lane === lane) return false;
    return key - before.key < uncertaintyMs + before.uncertaintyMs;
  });
}
