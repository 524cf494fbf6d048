import {
  type CallOptions,
  type ClusterEnd,
  type ClusterItem,
  type MomentRequest,
  type NodeState,
  PortholeError,
  type SearchOptions,
} from '@porthole/contract';
import { decodeCursor, groupFamilies } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchItem, SearchQuery } from '@porthole/logs/types';
import { withDeadline } from '../fan-out/with-deadline.ts';
import { chooseMembers } from '../state/choose-members.ts';
import { SnapshotNode } from '../state/snapshot-node.ts';
import { type ClusterParts, clockOfChosen, limitsOf } from './cluster-parts.ts';
import { MemberLane } from './member-lane.ts';
import { mergeByTime } from './merge-by-time.ts';
import { openOrKept } from './open-or-kept.ts';
import { reportOf, throwIfRefused } from './refusals.ts';

/** A record without a time has that of the first one before it that has one; no more are looked at. */
const LOOKED_BACK = 100;

/** Of the time a member is waited for, what each of its two searches may take. */
const LOOKING_SHARE = 0.4;

const ALL: Pick<SearchQuery, 'before' | 'after'> = { before: 0, after: 0 };

/**
 * What every member said around one record or time, oldest first: of each the records nearest to the moment, half of
 * the limit before it and the rest behind. An empty batch first, the `end` last; it has no cursor.
 */
export async function* momentOf(
  parts: ClusterParts,
  request: MomentRequest,
  options: CallOptions = {},
): AsyncGenerator<ClusterItem[], void, undefined> {
  const startedMs = performance.now();
  const { firstBatchMs, memberTimeoutMs: timeoutMs, maxParallel } = limitsOf(parts);
  const members = chooseMembers(parts, request);
  const atMs = 'timeMs' in request.at ? request.at.timeMs : await timeOfRecord(parts, request.at, options);
  const budgetMs = timeoutMs * LOOKING_SHARE;
  const lanes = members.map((chosen, place) => {
    const { id } = chosen.member;
    const clock = clockOfChosen(parts, chosen);
    const moment = { ...request, atMs: atMs + clock.offsetMs };
    const opened = openOrKept(parts, chosen, {
      ask: (signal) => recordsAround(chosen.state, moment, { signal, budgetMs }),
      askKept: (snapshot) => recordsAround(new SnapshotNode(snapshot, parts.peers.matchRegex), moment, {}),
    });
    return new MemberLane({ place, id, clock, newestFirst: false, firstBatchMs, timeoutMs, ...opened });
  });
  for await (const records of mergeByTime(lanes, { limit: Infinity, maxParallel, ...options })) {
    if (records.length === 0) throwIfRefused(lanes, { isFirst: true });
    yield records;
  }
  yield [endOf(parts, lanes, performance.now() - startedMs)];
}

interface Moment extends Pick<MomentRequest, 'beforeMs' | 'afterMs' | 'limit'> {
  /** By the member's clock. */
  atMs: number;
}

/** One member's part, oldest first. What is before the moment is found newest first, so it is held to be turned round. */
async function* recordsAround(
  state: NodeState,
  { atMs, beforeMs, afterMs, limit }: Moment,
  options: SearchOptions,
): AsyncGenerator<SearchItem[], void, undefined> {
  const before: SearchQuery = {
    ...ALL,
    order: 'newest',
    fromMs: atMs - beforeMs,
    toMs: atMs,
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
      if (earlier.length > before.limit) throw new PortholeError('BAD_ANSWER', 'it tells more than it was asked for');
    }
  }
  yield earlier.reverse();
  const after: SearchQuery = {
    ...ALL,
    order: 'oldest',
    fromMs: atMs,
    // Exclusive, and the last millisecond is meant.
    toMs: atMs + afterMs + 1,
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

/** By this node's clock. */
async function timeOfRecord(
  parts: ClusterParts,
  { node, cursor }: { node: string; cursor: string },
  options: CallOptions,
): Promise<number> {
  const [chosen] = chooseMembers(parts, { nodes: [node] });
  if (!chosen) throw new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(node)}`);
  const { state } = chosen;
  const timeoutMs = limitsOf(parts).memberTimeoutMs;
  // Its log alone, rotated files included: the others have no place in such a cursor and would begin at their start.
  const log = logOf(cursor);
  const find = (query: Pick<SearchQuery, 'order' | 'limit' | 'start'>) =>
    withDeadline((signal) => recordsOf(state, { ...ALL, ...log, ...query }, { signal }), { ...options, timeoutMs });
  const [record] = await find({ order: 'oldest', limit: 1, start: { record: cursor } });
  if (record === undefined) throw new PortholeError('CURSOR_GONE', `"${node}" has no such record any more`);
  const earlier = isTimed(record) ? [] : await find({ order: 'newest', limit: LOOKED_BACK, start: { cursor } });
  const timed = [record, ...earlier.filter(({ file }) => file === record.file)].find(isTimed);
  if (timed === undefined)
    throw new PortholeError('PARAMETER_INVALID', 'neither the record nor one before it has a time');
  return timed.timeMs - clockOfChosen(parts, chosen).offsetMs;
}

/** The log of the record a cursor names; what is no cursor of ours is for the member to judge. */
function logOf(cursor: string): Pick<SearchQuery, 'family'> {
  try {
    const names = decodeCursor(cursor).map(({ file }) => file);
    const [family] = groupFamilies(names.slice(-1));
    return family ? { family: family.name } : {};
  } catch {
    return {};
  }
}

function isTimed(record: FoundRecord): record is FoundRecord & { timeMs: number } {
  return Number.isFinite(record.timeMs);
}

async function recordsOf(state: NodeState, query: SearchQuery, options: CallOptions): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for await (const items of state.searchLogs(query, options)) {
    for (const item of items) if (item.type === 'record') found.push(item);
    if (found.length >= query.limit) break;
  }
  return found;
}

function endOf(parts: ClusterParts, lanes: readonly MemberLane[], elapsedMs: number): ClusterEnd {
  const sum = (count: (lane: MemberLane) => number) => lanes.reduce((total, lane) => total + count(lane), 0);
  const reasons = lanes.flatMap(({ end }) => (end ? [end.reason] : []));
  const reason = (['time budget', 'limit'] as const).find((known) => reasons.includes(known)) ?? 'exhausted';
  return {
    type: 'end',
    reason,
    records: sum(({ told }) => told),
    scannedBytes: sum(({ end }) => end?.scannedBytes ?? 0),
    skippedBytes: sum(({ end }) => end?.skippedBytes ?? 0),
    // Of two searches of each member, around a time: not worked out.
    coveredFromMs: null,
    coveredToMs: null,
    elapsedMs: Math.round(elapsedMs),
    members: lanes.map((lane) => reportOf(lane, parts)),
    membership: parts.membership.state,
    cursor: null,
  };
}
