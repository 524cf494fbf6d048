import {
  type AroundRequest,
  type CallOptions,
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  codeOf,
  type NodeState,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { decodeCursor, groupFamilies } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { withDeadline } from '../../fan-out/bounded-calls.ts';
import { withFloor } from '../../fan-out/member-floor.ts';
import { chooseMembers } from '../../state/choose-members.ts';
import { SnapshotNode } from '../../state/snapshots/snapshot-node.ts';
import { type ClusterDeps, getChosenClock, getLimits } from '../cluster-deps.ts';
import { MemberLane } from '../merge/member-lane.ts';
import { mergeByTime } from '../merge/merge-by-time.ts';
import { laneReport, throwIfRejected } from '../refusals.ts';
import { openOrSnapshot } from './open-or-snapshot.ts';

/** How far to look back for a timestamp if the record has none. */
const MAX_LOOKBACK_RECORDS = 100;

/** Fraction of the member timeout for each of its two searches. */
const SCAN_SHARE = 0.4;

const ALL: Pick<SearchQuery, 'before' | 'after'> = { before: 0, after: 0 };

/**
 * Emits the records of every member around a record or time, oldest first: those closest to it, half of the limit before it
 * and the rest after it. An empty batch comes first, the `end` last; it has no cursor.
 */
export async function* searchAround(
  deps: ClusterDeps,
  request: AroundRequest,
  options: CallOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const startedMs = performance.now();
  const { firstBatchMs, memberTimeoutMs: timeoutMs, maxParallel } = getLimits(deps);
  const members = chooseMembers(deps, request);
  const atMs = 'timeMs' in request.at ? request.at.timeMs : await fetchRecordTime(deps, request.at, options);
  const budgetMs = timeoutMs * SCAN_SHARE;
  const lanes = members.map((chosen, index) => {
    const { id } = chosen.member;
    const clock = getChosenClock(deps, chosen);
    const around = { ...request, id, atMs: atMs + clock.offsetMs };
    const opened = openOrSnapshot(deps, chosen, {
      search: (signal) => recordsAround(chosen.state, around, { signal, budgetMs }),
      searchSnapshot: (snapshot) => recordsAround(new SnapshotNode(snapshot, deps.peers.matchRegex), around, {}),
    });
    return new MemberLane({ index: index, id, clock, newestFirst: false, firstBatchMs, timeoutMs, ...opened });
  });
  for await (const records of mergeByTime(lanes, { limit: Infinity, maxParallel, ...options })) {
    if (records.length === 0) throwIfRejected(lanes, { isFirst: true });
    // Nothing was requested as lines.
    yield records as ClusterRecord[];
  }
  yield [buildAroundEnd(deps, lanes, performance.now() - startedMs)];
}

interface AroundQuery extends Pick<AroundRequest, 'beforeMs' | 'afterMs' | 'limit' | 'floors'> {
  id: string;
  /** By the clock of the member. */
  atMs: number;
}

/** The records of one member, oldest first. Those before the time are found newest first, so they are buffered and reversed. */
async function* recordsAround(
  state: NodeState,
  { id, atMs, beforeMs, afterMs, limit, floors }: AroundQuery,
  options: SearchOptions,
): AsyncGenerator<SearchItem[], void, undefined> {
  const before: SearchQuery = {
    ...ALL,
    ...withFloor({ fromMs: atMs - beforeMs, toMs: atMs }, floors, id),
    order: 'newest',
    limit: Math.floor(limit / 2),
  };
  const earlier: FoundRecord[] = [];
  let first: SearchEnd | undefined;
  if (before.limit > 0) {
    for await (const items of state.searchLogs(before, options)) {
      yield [];
      for (const item of items) {
        if (item.type === 'end') first = item;
        else earlier.push(item);
      }
      if (earlier.length > before.limit)
        throw new PortholeError('BAD_ANSWER', 'the response has more records than requested');
    }
  }
  yield earlier.reverse();
  const after: SearchQuery = {
    ...ALL,
    // Exclusive, but the last millisecond is included.
    ...withFloor({ fromMs: atMs, toMs: atMs + afterMs + 1 }, floors, id),
    order: 'oldest',
    limit: limit - before.limit,
  };
  for await (const items of state.searchLogs(after, options)) {
    yield items.map((item) => (item.type === 'end' ? bothEnds(first, item) : item));
  }
}

function bothEnds(first: SearchEnd | undefined, second: SearchEnd): SearchEnd {
  if (first === undefined) return second;
  return {
    ...second,
    reason: first.reason === 'exhausted' ? second.reason : first.reason,
    scannedBytes: first.scannedBytes + second.scannedBytes,
    skippedBytes: first.skippedBytes + second.skippedBytes,
  };
}

/** By the clock of this node. */
async function fetchRecordTime(
  deps: ClusterDeps,
  { node, cursor }: { node: string; cursor: string },
  options: CallOptions,
): Promise<number> {
  const [chosen] = chooseMembers(deps, { nodes: [node] });
  if (!chosen) throw new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(node)}`);
  const { state } = chosen;
  const timeoutMs = getLimits(deps).memberTimeoutMs;
  // Only its family: other logs have no position in this cursor and would start at their beginning.
  const log = cursorLog(cursor);
  const find = (query: Pick<SearchQuery, 'order' | 'limit' | 'start'>) =>
    withDeadline((signal) => collectRecords(state, { ...ALL, ...log, ...query }, { signal }), {
      ...options,
      timeoutMs,
    });
  const [record] = await find({ order: 'oldest', limit: 1, start: { record: cursor } });
  if (record === undefined) throw new PortholeError('CURSOR_GONE', `the record no longer exists on "${node}"`);
  const earlier = isTimed(record)
    ? []
    : await find({ order: 'newest', limit: MAX_LOOKBACK_RECORDS, start: { cursor } });
  const timed = [record, ...earlier.filter(({ file }) => file === record.file)].find(isTimed);
  if (timed === undefined)
    throw new PortholeError('PARAMETER_INVALID', 'neither the record nor an earlier one has a timestamp');
  return timed.timeMs - getChosenClock(deps, chosen).offsetMs;
}

/** The log of the record a cursor names; the member rejects invalid cursors. */
function cursorLog(cursor: string): Pick<SearchQuery, 'family'> {
  try {
    const names = decodeCursor(cursor).map(({ file }) => file);
    const [family] = groupFamilies(names.slice(-1));
    return family ? { family: family.name } : {};
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_INVALID') throw error;
    return {};
  }
}

function isTimed(record: FoundRecord): record is FoundRecord & { timeMs: number } {
  return Number.isFinite(record.timeMs);
}

async function collectRecords(state: NodeState, query: SearchQuery, options: CallOptions): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const items of state.searchLogs(query, options)) {
    for (const item of items) if (item.type === 'record') found.push(item);
    if (found.length >= query.limit) break;
  }
  return found;
}

function buildAroundEnd(deps: ClusterDeps, lanes: readonly MemberLane[], elapsedMs: number): ClusterEnd {
  const sum = (count: (lane: MemberLane) => number) => lanes.reduce((total, lane) => total + count(lane), 0);
  const reasons = lanes.flatMap(({ end }) => (end ? [end.reason] : []));
  const reason = (['time budget', 'limit'] as const).find((known) => reasons.includes(known)) ?? 'exhausted';
  return {
    type: 'end',
    reason,
    records: sum(({ delivered }) => delivered),
    scannedBytes: sum(({ end }) => end?.scannedBytes ?? 0),
    skippedBytes: sum(({ end }) => end?.skippedBytes ?? 0),
    // Not computed for the two searches per member.
    coveredFromMs: null,
    coveredToMs: null,
    elapsedMs: Math.round(elapsedMs),
    members: lanes.map((lane) => laneReport(lane, deps)),
    membership: deps.membership.state,
    cursor: null,
  };
}
