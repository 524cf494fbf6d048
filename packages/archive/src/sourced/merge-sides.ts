import type { ClusterRecord } from '@porthole/contract';
import type { SearchSide } from './search-side.ts';

/** Maximum batch. */
const BATCH_RECORDS = 1024;

/** A side, and the key before which it has nothing: until then it is not opened. */
export interface MergedSide {
  side: SearchSide;
  startsAt: number;
  /** Handles an error of the side: returns if the merge continues without it. */
  onFailure(error: unknown): void;
}

/** Emits the records of all sides by time; an empty batch first, as soon as one of them has accepted the request. */
export async function* mergeSides(
  sides: readonly MergedSide[],
  limit: number,
): AsyncGenerator<ClusterRecord[], void, undefined> {
  const open = new Set(sides);
  let remaining = limit;
  let isFirst = true;
  try {
    while (remaining > 0) {
      const batch = takeBatch([...open], Math.min(remaining, BATCH_RECORDS));
      remaining -= batch.length;
      if (batch.length > 0) {
        yield batch;
        continue;
      }
      const waited = [...open].filter((merged) => mustWaitFor(merged, open));
      if (waited.length === 0) break;
      await Promise.all(waited.map((merged) => pull(merged, open)));
      if (isFirst) yield [];
      isFirst = false;
      // What is left of a side whose time ran out would be out of order.
      for (const { side } of open) if (side.isOver && side.ends.at(-1)?.reason === 'time budget') return;
    }
  } finally {
    await Promise.all(sides.map(({ side }) => side.close()));
  }
}

async function pull(merged: MergedSide, open: Set<MergedSide>): Promise<void> {
  try {
    await merged.side.pull();
  } catch (error) {
    merged.onFailure(error);
    open.delete(merged);
  }
}

/** The records that can be emitted without waiting for a side. */
function takeBatch(sides: readonly MergedSide[], most: number): ClusterRecord[] {
  const batch: ClusterRecord[] = [];
  while (batch.length < most) {
    const next = firstOf(sides);
    if (!next || sides.some((other) => other !== next && isNeededBefore(other, next.side.key))) break;
    batch.push(next.side.take());
  }
  return batch;
}

function firstOf(sides: readonly MergedSide[]): MergedSide | undefined {
  let first: MergedSide | undefined;
  for (const merged of sides)
    if (merged.side.hasNext && (first === undefined || merged.side.key < first.side.key)) first = merged;
  return first;
}

/** Whether a side that has nothing at hand may have a record up to this key. */
function isNeededBefore({ side, startsAt }: MergedSide, key: number): boolean {
  return !side.hasNext && !side.isOver && startsAt <= key;
}

function mustWaitFor(merged: MergedSide, open: ReadonlySet<MergedSide>): boolean {
  if (merged.side.hasNext || merged.side.isOver) return false;
  const next = firstOf([...open]);
  if (next) return isNeededBefore(merged, next.side.key);
  // Nothing is at hand: the side that may have the earliest record.
  const waiting = [...open].filter(({ side }) => !side.isOver);
  return waiting.every((other) => merged.startsAt <= other.startsAt);
}
