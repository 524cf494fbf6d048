import type { SearchQuery } from '@porthole/logs/types';
import type { LaneReach, QueriedLane } from '../merge/member-lane.ts';

type Order = SearchQuery['order'];

/** How far the records of a member were emitted: up to this time, and this many records of exactly this time. */
export interface Reach {
  /** By the clock of this node; `null`: before the first record with a time. */
  timeMs: number | null;
  /** In the order of the search; Infinity: all of them. */
  count: number;
}

/**
 * How far a search has emitted the records of all members. It is small, whatever the number of members, and replaces their
 * exact positions when these are lost: the merge emits by time and, within a millisecond, by member id.
 */
export interface ClusterReach extends Reach {
  /** The member of the last record: of this time, others have emitted all (smaller ids) or nothing. Absent: `count` is that of all. */
  node?: string;
  /** Members that are behind the others: late, failed, or stopped by their time budget. */
  behind: readonly BehindMembers[];
  /** Records of one log may be this much out of order: a member resumes that much earlier, and drops what was emitted. */
  marginMs: number;
  /** The time at which the search started, if at one. */
  startMs?: number;
}

export interface BehindMembers extends Reach {
  /** See `shortId`. */
  ids: ReadonlySet<string>;
}

/** Records of a log are out of order as threads write them; pages so far may not have shown it. */
const MIN_MARGIN_MS = 1000;

/** The disorder that time seeks of a member take into account. */
const MAX_MARGIN_MS = 60_000;

/** Nothing was emitted yet. */
export function initialReach({ start }: Pick<SearchQuery, 'start'>): ClusterReach {
  const startMs = start && 'timeMs' in start ? { startMs: start.timeMs } : {};
  return { timeMs: null, count: 0, behind: [], marginMs: MIN_MARGIN_MS, ...startMs };
}

/** How far a member was emitted. */
export function reachOf({ timeMs, count, node, behind }: ClusterReach, id: string): Reach {
  const found = findBehind(behind, id);
  if (found) return { timeMs: found.timeMs, count: found.count };
  if (node === undefined || id === node) return { timeMs, count };
  return { timeMs, count: id < node ? Infinity : 0 };
}

function findBehind(behind: readonly BehindMembers[], id: string): BehindMembers | undefined {
  if (behind.length === 0) return undefined;
  const short = shortId(id);
  return behind.find(({ ids }) => ids.has(short));
}

/** What is earlier in the order of the search has a smaller key. */
export function toKey(timeMs: number | null, order: Order): number {
  if (timeMs === null) return -Infinity;
  return order === 'newest' ? -timeMs : timeMs;
}

function toTime(key: number, order: Order): number | null {
  if (key === -Infinity) return null;
  return order === 'newest' ? -key : key;
}

export interface PageFacts {
  /** In the order of their ids. */
  lanes: readonly QueriedLane[];
  /** Ids of members that are gone. */
  absent: readonly string[];
  order: Order;
}

/** The reach after a page. */
export function nextReach(before: ClusterReach, { lanes, absent, order }: PageFacts): ClusterReach {
  let { timeMs, count, node } = before;
  let key = toKey(timeMs, order);
  for (const { id, reached } of lanes) {
    if (reached === undefined || reached.key < key) continue;
    // An earlier page may have emitted records of this time, of members behind this one.
    if (reached.key === key && node !== undefined && id < node) continue;
    ({ key, count } = reached);
    node = id;
  }
  timeMs = toTime(key, order);
  const marginMs = marginAfter(before, lanes);
  const { startMs } = before;
  const reach = {
    timeMs,
    count,
    ...(node !== undefined && { node }),
    marginMs,
    ...(startMs !== undefined && { startMs }),
  };
  return { ...reach, behind: behindMembers({ ...reach, behind: [] }, { before, lanes, absent, order }) };
}

/** By how much these members resume earlier. */
export function marginAfter({ marginMs }: ClusterReach, lanes: readonly Pick<QueriedLane, 'disorderMs'>[]): number {
  const disorderMs = Math.max(0, ...lanes.map((lane) => lane.disorderMs));
  return Math.min(MAX_MARGIN_MS, Math.max(marginMs, 2 * disorderMs));
}

/** Members with the same reach together. */
function behindMembers(
  reach: ClusterReach,
  { before, lanes, absent, order }: PageFacts & { before: ClusterReach },
): BehindMembers[] {
  const found = new Map<string, BehindMembers & { ids: Set<string> }>();
  const note = (id: string, own: Reach) => {
    const usual = reachOf(reach, id);
    if (own.timeMs === usual.timeMs && own.count === usual.count) return;
    const key = `${own.timeMs} ${own.count}`;
    const group = found.get(key) ?? { ...own, ids: new Set() };
    group.ids.add(shortId(id));
    found.set(key, group);
  };
  for (const id of absent) note(id, reachOf(before, id));
  for (const lane of lanes) {
    const { id, reached } = lane;
    const own = reached ? toReach(reached, order) : reachOf(before, id);
    if (!isExhausted(lane) && !(lane.hasNext && isUpTo(lane, reach, order))) note(id, own);
  }
  return [...found.values()];
}

/** Whether what it sent comes after the reach: one that was behind may still be. */
function isUpTo(lane: QueriedLane, { timeMs }: ClusterReach, order: Order): boolean {
  const { firstUndeliveredMs: first } = lane;
  return first === undefined || toKey(first, order) >= toKey(timeMs, order);
}

/** The end of what was recorded of a member is not its own. */
function isExhausted({ end, problem, recorded }: QueriedLane): boolean {
  return end?.cursor === null && problem === undefined && recorded === undefined;
}

export function toReach({ key, count }: LaneReach, order: Order): Reach {
  return { timeMs: toTime(key, order), count };
}

/** The same from an earlier time on, if clocks are not known as exactly as when it was made. */
export function widenReach(reach: ClusterReach, { shiftMs, slackMs, order }: ReachShift): ClusterReach {
  const moved = (timeMs: number | null) =>
    timeMs === null ? null : timeMs + shiftMs + (order === 'newest' ? slackMs : -slackMs);
  const { timeMs, marginMs, behind, startMs } = reach;
  return {
    ...(startMs !== undefined && { startMs: startMs + shiftMs }),
    timeMs: moved(timeMs),
    count: 0,
    marginMs,
    behind: behind.map(({ ids, timeMs: ownMs }) => ({ ids, timeMs: moved(ownMs), count: 0 })),
  };
}

export interface ReachShift {
  /** What to add to its times. */
  shiftMs: number;
  slackMs: number;
  order: Order;
}

/** All members from where the one that is furthest behind is: for a reach with too many exceptions. */
export function leastReach({ behind, ...reach }: ClusterReach, order: Order): ClusterReach {
  const { timeMs, marginMs, startMs } = reach;
  const times = [timeMs, ...behind.map((group) => group.timeMs)];
  const key = Math.min(...times.map((time) => toKey(time, order)));
  return { timeMs: toTime(key, order), count: 0, marginMs, behind: [], ...(startMs !== undefined && { startMs }) };
}

/** All members that are behind from where the last of them is. */
export function joinBehind(reach: ClusterReach, order: Order): ClusterReach {
  const { behind } = reach;
  if (behind.length < 2) return reach;
  const key = Math.min(...behind.map(({ timeMs }) => toKey(timeMs, order)));
  const ids = new Set(behind.flatMap((group) => [...group.ids]));
  return { ...reach, behind: [{ timeMs: toTime(key, order), count: 0, ids }] };
}

/** Characters of a short id. */
export const SHORT_ID = 4;

/**
 * A few characters for an id, so that a cursor can name hundreds of members. Two ids may have the same: then both are behind,
 * and records of the other one repeat.
 */
export function shortId(id: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  return Buffer.from([hash & 255, (hash >>> 8) & 255, (hash >>> 16) & 255]).toString('base64url');
}
