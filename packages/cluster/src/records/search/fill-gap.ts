import { codeOf } from '@porthole/contract';
import { isBatch } from '@porthole/records';
import type { LaneItem } from '../merge/member-pages.ts';
import type { MemberPosition, ReplacedPosition } from './cluster-cursor.ts';
import type { GapEnds } from './resume-position.ts';

/** How far a page has filled a gap. */
export interface Filling {
  /** Where the member continues behind it, once all of it has come. */
  behind?: MemberPosition;
  /** Nothing was in it: what has come is from behind it. */
  isEmpty: boolean;
}

export interface FillOptions {
  place: ReplacedPosition;
  /** See `gapEnds`. */
  ends(): Promise<GapEnds>;
  /** Where the member continues if it no longer has one of the positions. */
  byReach: MemberPosition;
  open(position: MemberPosition, options: { until?: string; budgetMs: number }): AsyncIterable<LaneItem>;
  budgetMs: number;
  filling: Filling;
}

/**
 * The records of a member that is back: of the gap, or from behind it if there are none. All records of a page are of one
 * of these searches, and so is the position after them.
 */
export async function* fillGap(options: FillOptions): AsyncGenerator<LaneItem, void, undefined> {
  const { open, byReach, budgetMs, filling } = options;
  try {
    yield* searchGap(options);
  } catch (error) {
    // A position is looked for before the first record.
    if (codeOf(error) !== 'CURSOR_GONE') throw error;
    filling.behind = byReach;
    filling.isEmpty = true;
    yield* open(byReach, { budgetMs });
  }
}

async function* searchGap({
  place,
  ends,
  open,
  budgetMs,
  filling,
}: FillOptions): AsyncGenerator<LaneItem, void, undefined> {
  if (place.until === '') {
    filling.behind = place.from;
    return yield* open(place.from, { budgetMs });
  }
  const { until, behind } = await ends();
  for await (const item of open(place.from, { until, budgetMs })) {
    if (item.type !== 'end' || item.cursor !== null) {
      if (isBatch(item) && item.ends.length > 0) filling.isEmpty = false;
      yield item;
      continue;
    }
    filling.behind = behind;
    // Mostly, the recording had everything.
    if (filling.isEmpty) return yield* open(behind, { budgetMs: Math.max(1, budgetMs - item.elapsedMs) });
    // Later times are in earlier pages.
    yield { ...item, reason: 'limit', cursor: behind.cursor, coveredFromMs: null, coveredToMs: null };
  }
}
