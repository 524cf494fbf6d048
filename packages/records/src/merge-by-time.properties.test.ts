import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MergedRun, MergeLane, type MergeOptions, mergeByTime, TimeMerge } from './merge-by-time.ts';
import { runs } from './testing/runs.ts';

interface Batch {
  times: number[];
  names: string[];
}

interface LaneSpec {
  times: number[];
  size: number;
}

async function* lane(
  { times, size }: LaneSpec,
  index: number,
  onEnd = () => {},
): AsyncGenerator<Batch, void, undefined> {
  try {
    yield { times: [], names: [] };
    for (let at = 0; at < times.length; at += size) {
      const part = times.slice(at, at + size);
      yield { times: part, names: part.map((_, row) => `${index}:${at + row}`) };
    }
  } finally {
    onEnd();
  }
}

async function merged(
  lanes: readonly AsyncGenerator<Batch, void, undefined>[],
  options: MergeOptions,
): Promise<string[]> {
  const found: string[] = [];
  for await (const runs of mergeByTime(lanes, options)) {
    expect(runs.length).toBeGreaterThan(0);
    for (const { batch, from, to, lane: index } of runs) {
      const names = batch.names.slice(from, to);
      expect(names.every((name) => name.startsWith(`${index}:`))).toBe(true);
      found.push(...names);
    }
  }
  return found;
}

/** All at once: sorted by the furthest time the lane has come to, then by lane. */
function slowMerge(specs: readonly LaneSpec[], order: MergeOptions['order']): string[] {
  const sign = order === 'oldest' ? 1 : -1;
  const all = specs.flatMap(({ times }, index) => {
    let key = -Infinity;
    return times.map((timeMs, row) => {
      if (sign * timeMs > key) key = sign * timeMs;
      return { key, index, name: `${index}:${row}` };
    });
  });
  return all.sort((a, b) => a.key - b.key || a.index - b.index || 0).map(({ name }) => name);
}

const time = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 30 }) }, fc.constant(Number.NaN));
const spec = fc.record({ times: fc.array(time, { maxLength: 25 }), size: fc.integer({ min: 1, max: 6 }) });

describe('the merge by time', () => {
  it('is what sorting all records by time gives, up to the limit, whatever the batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(spec, { maxLength: 5 }),
        fc.constantFrom('newest' as const, 'oldest' as const),
        fc.integer({ min: 1, max: 80 }),
        async (specs, order, limit) => {
          const limits: boolean[] = [];
          const onLimit = async (hasMore: boolean) => void limits.push(hasMore);
          const expected = slowMerge(
            specs.map((each) => ({ ...each, times: each.times.map((at) => (Number.isFinite(at) ? at : Number.NaN)) })),
            order,
          );
          const lanes = specs.map((each, index) => lane(each, index));
          expect(await merged(lanes, { order, limit, onLimit })).toEqual(expected.slice(0, limit));
          expect(limits.length).toBe(expected.length >= limit ? 1 : 0);
          if (limits[0]) expect(expected.length).toBeGreaterThan(limit);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it('emits what is known before it waits, and ends every lane when its reader leaves', async () => {
    const ended: number[] = [];
    const lanes = [0, 1].map((index) => lane({ times: [1, 2, 3], size: 1 }, index, () => ended.push(index)));
    for await (const runs of mergeByTime(lanes, { order: 'oldest' })) {
      expect(runs).toHaveLength(1);
      break;
    }
    expect(ended).toEqual([0, 1]);
  });

  it('reads a lane that has nothing before a time only when the others have come that far', async () => {
    const read: string[] = [];
    const named = async function* (index: number, times: number[]): AsyncGenerator<Batch, void, undefined> {
      for (const timeMs of times) {
        read.push(`${index}:${timeMs}`);
        yield { times: [timeMs], names: [`${index}:${timeMs}`] };
      }
    };
    const found: string[] = [];
    const lanes = [named(0, [9, 8, 5, 2]), named(1, [6, 5, 1])];
    for await (const runs of mergeByTime(lanes, { order: 'newest', limit: 5, startsAt: [Infinity, 6] }))
      for (const { batch } of runs) {
        found.push(...batch.names);
        if (found.length === 2) expect(read).toEqual(['0:9', '0:8']);
      }
    expect(found).toEqual(['0:9', '0:8', '1:6', '0:5', '1:5']);
  });

  it('takes no record of which it is not certain that it comes next', () => {
    const take = (thenMs: number[]) => {
      const merge = new TimeMerge<MergedRun<Batch>, MergeLane<Batch>>();
      for (const [index, times] of [[1, 4], [2], []].entries()) {
        const each = new MergeLane<Batch>(index, 'oldest');
        each.put({ times, names: times.map((timeMs) => `${index}:${timeMs}`) }, thenMs[index]);
        merge.add(each);
      }
      return merge.take(10).flatMap(({ batch, from, to }) => batch.names.slice(from, to));
    };
    expect(take([Infinity, Infinity, Infinity])).toEqual(['0:1', '1:2', '0:4']);
    expect(take([Infinity, 3, Infinity])).toEqual(['0:1', '1:2']);
    expect(take([Infinity, Infinity, 2])).toEqual(['0:1', '1:2']);
    expect(take([Infinity, Number.NaN, Infinity])).toEqual(['0:1', '1:2']);
    expect(take([Infinity, Infinity, Number.NaN])).toEqual([]);
  });

  it('fails with a lane that fails, and ends the others', async () => {
    const ended: number[] = [];
    const failing = (async function* (): AsyncGenerator<Batch, void, undefined> {
      yield { times: [5], names: ['1:0'] };
      throw new Error('cut');
    })();
    const other = lane({ times: [1, 9], size: 1 }, 0, () => ended.push(0));
    await expect(merged([other, failing], { order: 'oldest' })).rejects.toThrow('cut');
    expect(ended).toEqual([0]);
  });
});
