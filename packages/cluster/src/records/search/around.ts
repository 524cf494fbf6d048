import {
  type AroundRequest,
  type CallOptions,
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  codeOf,
  familySource,
  type NodeState,
  PortholeError,
  type SearchOptions,
  searchItems,
  withCoverage,
} from '@porthole/contract';
import { decodeCursor, groupFamilies } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchQuery } from '@porthole/logs/types';
import { batchOf, EMPTY_BATCH, isBatch, type RecordBatch, recordsOf } from '@porthole/records';
import { describeUncertainty, toMemberEdge, toOwnTime } from '../../fan-out/clock-steps.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { withFloor } from '../../state/counts/counting.ts';
import { chooseMembers } from '../../state/query-members.ts';
import { ClusterBatchWriter } from '../merge/cluster-batch.ts';
import { MemberLane, type QueriedLane } from '../merge/member-lane.ts';
import { joinEnds, type LaneItem } from '../merge/member-pages.ts';
import { mergeMembers } from '../merge/merge-members.ts';
import { type ClusterDeps, getChosenClock, getLimits } from './cluster-deps.ts';
import { dropOutside } from './drop-records.ts';
import { fileProblems } from './listed-files.ts';
import { openOrRecorded } from './open-or-recorded.ts';
import { laneReport, throwIfRejected } from './refusals.ts';

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
  const { client } = options;
  const lanes = members.map((chosen, index) => {
    const { id } = chosen.member;
    const clock = getChosenClock(deps, chosen);
    const { beforeMs, afterMs, limit, floors } = request;
    const range = { fromMs: atMs - beforeMs, toMs: atMs + afterMs + 1 };
    const at = toMemberEdge(clock, atMs, 'from');
    const around = {
      id,
      atMs: at,
      beforeMs: at - toMemberEdge(clock, range.fromMs, 'from'),
      afterMs: toMemberEdge(clock, range.toMs, 'to') - 1 - at,
      limit,
      floors,
    };
    const opened = openOrRecorded(deps, chosen, {
      budgetMs,
      search: (signal) => dropOutside(recordsAround(chosen.state, around, { signal, budgetMs, client }), clock, range),
      searchRecorded: ({ state }, signal) =>
        dropOutside(recordsAround(state, around, { signal, budgetMs, client }), clock, range),
    });
    const doubt = describeUncertainty(clock, range);
    return new MemberLane({ index, id, clock, newestFirst: false, firstBatchMs, doubt, timeoutMs, ...opened });
  });
  const writer = new ClusterBatchWriter({ reusesMemory: true });
  for await (const runs of mergeMembers(lanes, { limit: Infinity, maxParallel, ...options })) {
    if (runs.length === 0) throwIfRejected(lanes, { isFirst: true });
    yield recordsOf<ClusterRecord>(writer.write(runs));
  }
  yield [buildAroundEnd(deps, lanes, performance.now() - startedMs)];
}

interface AroundQuery extends Pick<AroundRequest, 'beforeMs' | 'afterMs' | 'limit'> {
  /** The id of the member. */
  id: string;
  floors?: AroundRequest['floors'] | undefined;
  /** By the clock of the member. */
  atMs: number;
}

/** The records of one member, oldest first. Those before the time are found newest first, so they are buffered and reversed. */
async function* recordsAround(
  state: NodeState,
  { id, atMs, beforeMs, afterMs, limit, floors }: AroundQuery,
  options: SearchOptions,
): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
  const before: SearchQuery = {
    ...ALL,
    order: 'newest',
    ...withFloor({ fromMs: atMs - beforeMs, toMs: atMs }, floors, id),
    limit: Math.floor(limit / 2),
  };
  const earlier: FoundRecord[] = [];
  let first: SearchEnd | undefined;
  // A range must not be empty.
  if (before.limit > 0 && beforeMs > 0) {
    for await (const items of searchItems(state, before, options)) {
      yield EMPTY_BATCH;
      for (const item of items) {
        if (item.type === 'end') first = item;
        else earlier.push(item);
      }
      if (earlier.length > before.limit)
        throw new PortholeError('BAD_ANSWER', 'the response has more records than requested');
    }
  }
  yield batchOf(earlier.reverse());
  const after: SearchQuery = {
    ...ALL,
    order: 'oldest',
    // Exclusive, but the last millisecond is included.
    ...withFloor({ fromMs: atMs, toMs: atMs + afterMs + 1 }, floors, id),
    limit: limit - before.limit,
  };
  for await (const item of state.search(after, options)) {
    if (isBatch(item) || first === undefined) yield item;
    else yield { ...joinEnds(first, item), reason: first.reason === 'exhausted' ? item.reason : first.reason };
  }
}

/** By the clock of this node. */
async function fetchRecordTime(
  deps: ClusterDeps,
  { node, cursor }: { node: string; cursor: string },
  options: CallOptions,
): Promise<number> {
  const [chosen] = chooseMembers(deps, { nodes: [node] });
  if (!chosen) throw new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(node)}`);
  const timeoutMs = getLimits(deps).memberTimeoutMs;
  // Only its family: other logs have no position in this cursor and would start at their beginning.
  const log = cursorLog(cursor);
  const find = (wanted: Pick<SearchQuery, 'order' | 'limit' | 'start'>) => {
    const query: SearchQuery = { ...ALL, ...log, ...wanted };
    const { open } = openOrRecorded(deps, chosen, {
      budgetMs: timeoutMs * SCAN_SHARE,
      search: (signal) => chosen.state.search(query, { signal }),
      searchRecorded: ({ state }, signal) => state.search(query, { signal }),
    });
    return withDeadline((signal) => collectRecords(open(signal), query.limit), { ...options, timeoutMs });
  };
  const [record] = await find({ order: 'oldest', limit: 1, start: { record: cursor } });
  if (record === undefined) throw new PortholeError('CURSOR_GONE', `the record no longer exists on "${node}"`);
  const earlier = isTimed(record)
    ? []
    : await find({ order: 'newest', limit: MAX_LOOKBACK_RECORDS, start: { cursor } });
  const timed = [record, ...earlier.filter(({ file }) => file === record.file)].find(isTimed);
  if (timed === undefined)
    throw new PortholeError('PARAMETER_INVALID', 'neither the record nor an earlier one has a timestamp');
  return toOwnTime(getChosenClock(deps, chosen), timed.timeMs);
}

/** The log of the record a cursor names; the member rejects invalid cursors. */
function cursorLog(cursor: string): Pick<SearchQuery, 'src'> {
  try {
    const names = decodeCursor(cursor).map(({ file }) => file);
    const [family] = groupFamilies(names.slice(-1));
    return family ? { src: [familySource(family.name)] } : {};
  } catch (error) {
    if (codeOf(error) !== 'CURSOR_INVALID') throw error;
    return {};
  }
}

function isTimed(record: FoundRecord): record is FoundRecord & { timeMs: number } {
  return Number.isFinite(record.timeMs);
}

async function collectRecords(items: AsyncIterable<LaneItem>, limit: number): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const item of items) {
    if (isBatch(item)) found.push(...recordsOf<FoundRecord>(item));
    if (found.length >= limit) break;
  }
  return found;
}

function buildAroundEnd(deps: ClusterDeps, lanes: readonly QueriedLane[], elapsedMs: number): ClusterEnd {
  const sum = (count: (lane: QueriedLane) => number) => lanes.reduce((total, lane) => total + count(lane), 0);
  const reasons = lanes.flatMap(({ end }) => (end ? [end.reason] : []));
  const reason = (['time budget', 'limit'] as const).find((known) => reasons.includes(known)) ?? 'exhausted';
  const end: ClusterEnd = {
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
    problems: fileProblems(lanes),
    cursor: null,
  };
  return withCoverage(end, {});
}
