import type { Floors } from '@porthole/contract';

/** A time range no record is in: a range must not be empty. The last millisecond that has a four-digit year. */
const NEVER_MS = 253_402_300_799_998;

/** As far as a time can go back: the member is asked for everything. */
const ALWAYS_MS = -8.64e15;

/** The query of a member, by its clock, without the records before its floor: those are read from the archive. */
export function withFloor<Query extends { fromMs?: number; toMs?: number }>(
  query: Query,
  floors: Floors | undefined,
  id: string,
): Query {
  const floorMs = floors && (Object.hasOwn(floors, id) ? floors[id] : floors['*']);
  if (floorMs === undefined || floorMs <= ALWAYS_MS) return query;
  const { fromMs = floorMs, toMs } = query;
  const startMs = Math.max(fromMs, floorMs);
  if (toMs !== undefined && startMs >= toMs) return { ...query, fromMs: NEVER_MS, toMs: NEVER_MS + 1 };
  return { ...query, fromMs: startMs };
}
