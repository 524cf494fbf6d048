import { type SteppedClock, type TimeRange, toOwnTime } from '../../fan-out/clock-steps.ts';
import type { LaneItems } from '../merge/member-pages.ts';
import { LineRows } from '../merge/record-lines.ts';
import { isTime } from '../to-cluster-record.ts';

/**
 * Leaves out records outside of the range by the clock of this node. A member whose clock was set is asked for more than the
 * range: the same times of its clock may be before and after the step.
 */
export async function* dropOutside<T extends LaneItems>(
  batches: AsyncIterable<T>,
  clock: SteppedClock,
  { fromMs = -Infinity, toMs = Infinity }: TimeRange,
): AsyncGenerator<T, void, undefined> {
  if (!clock.steps?.length) return yield* batches;
  const isInside = (timeMs: number | undefined) => {
    if (!isTime(timeMs)) return true;
    const atMs = toOwnTime(clock, timeMs);
    return atMs >= fromMs && atMs < toMs;
  };
  for await (const items of batches)
    yield items.flatMap((item): LaneItems => {
      if (item instanceof LineRows) return insideRows(item, isInside);
      return item?.type === 'record' && !isInside(item.timeMs) ? [] : [item];
    }) as T;
}

function insideRows(rows: LineRows, isInside: (timeMs: number) => boolean): LineRows[] {
  const runs: LineRows[] = [];
  for (let at = rows.first; at < rows.end; ) {
    const first = at;
    while (at < rows.end && isInside(rows.times[at] as number)) at++;
    if (at > first) runs.push(rows.slice(first, at));
    at++;
  }
  return runs;
}
