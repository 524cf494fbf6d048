import { filterBatch, isBatch, type RecordBatch } from '@porthole/records';
import { type SteppedClock, type TimeRange, toOwnTime } from '../../fan-out/clock-steps.ts';
import { isTime } from '../to-cluster-record.ts';

/**
 * Leaves out records outside of the range by the clock of this node. A member whose clock was set is asked for more than the
 * range: the same times of its clock may be before and after the step.
 */
export async function* dropOutside<T extends { type: string }>(
  items: AsyncIterable<RecordBatch | T>,
  clock: SteppedClock,
  { fromMs = -Infinity, toMs = Infinity }: TimeRange,
): AsyncGenerator<RecordBatch | T, void, undefined> {
  if (!clock.steps?.length) return yield* items;
  const isInside = (timeMs: number | undefined) => {
    if (!isTime(timeMs)) return true;
    const atMs = toOwnTime(clock, timeMs);
    return atMs >= fromMs && atMs < toMs;
  };
  for await (const item of items)
    yield isBatch(item) ? filterBatch(item, (index) => isInside(item.times[index])) : item;
}
