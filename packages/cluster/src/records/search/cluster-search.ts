import {
  type CallOptions,
  type ClusterEnd,
  type MemberReport,
  type SearchOptions,
  withCoverage,
} from '@porthole/contract';
import type { RecordBatch } from '@porthole/records';
import { inParallel, withDeadline } from '../../requests/bounded-calls.ts';
import { chooseMembers } from '../../state/query-members.ts';
import { ClusterBatchWriter } from '../merge/cluster-batch.ts';
import { mergeMembers, type PreviousRecord } from '../merge/merge-members.ts';
import { clusterCoverage, memberCoverage } from './cluster-coverage.ts';
import { isReplaced, type MemberPosition } from './cluster-cursor.ts';
import { type ClusterDeps, getClock, getLimits } from './cluster-deps.ts';
import { duplicateFiles, fileProblems } from './listed-files.ts';
import { marginAfter, nextReach, toKey, toReach } from './reach.ts';
import { isLogMissing, laneReport, throwIfRejected } from './refusals.ts';
import { knownPosition, type QueriedMember, replacedPosition, resumePosition } from './resume-position.ts';
import { type ClusterSearch, membersToQuery, parseStartPosition, type StartPosition } from './search-members.ts';

/**
 * Searches all selected members and emits their records merged by time, in batches as they become known: an empty one first,
 * as soon as a member has accepted the query, and the `end`. A failed member is in the reports of the end. Throws the reason
 * of the signal, and the error of the members if all of them reject the query.
 */
export async function* searchCluster(
  deps: ClusterDeps,
  request: ClusterSearch,
  options: SearchOptions = {},
): AsyncGenerator<RecordBatch | ClusterEnd, void, undefined> {
  const startedMs = performance.now();
  const { signal } = options;
  const limits = getLimits(deps);
  const chosen = chooseMembers(deps, request);
  const began = parseStartPosition(deps, request, chosen);
  const { budgetMs, client, onlyRaw = false } = options;
  const query = { began, chosen, budgetMs, client, onlyRaw };
  const { queried, reports, lanes } = membersToQuery(deps, request, query);
  const rejectIfAllDo = () =>
    throwIfRejected(
      queried.map(({ lane }) => lane),
      { isFirst: reports.length === 0 },
    );
  let { reachedMs, lastNode } = began;
  const { maxParallel } = limits;
  const merging = { limit: request.limit, maxParallel, after: previousRecord(deps, began), ...(signal && { signal }) };
  const writer = new ClusterBatchWriter(options);
  for await (const runs of mergeMembers(lanes, merging)) {
    if (runs.length === 0) rejectIfAllDo();
    // An out-of-order time would make new members repeat what others have emitted.
    for (const { atMs } of runs) reachedMs = atMs ?? reachedMs;
    lastNode = runs.at(-1)?.node ?? lastNode;
    yield writer.write(runs);
  }
  rejectIfAllDo();
  yield await buildSearchEnd(deps, {
    request,
    queried,
    reports,
    reachedMs,
    lastNode,
    began,
    startedMs,
    ids: chosen.map(({ member }) => member.id),
    client,
    ...(signal && { signal }),
  });
}

/** The last record of the previous page, if its cursor has it. */
function previousRecord(deps: ClusterDeps, { lastNode, reachedMs, order }: StartPosition): PreviousRecord | undefined {
  if (lastNode === undefined || reachedMs === null) return undefined;
  const { uncertaintyMs } = getClock(deps.clocks, lastNode);
  return { node: lastNode, lastKey: toKey(reachedMs, order), uncertaintyMs };
}

interface SearchFacts extends CallOptions {
  request: ClusterSearch;
  queried: readonly QueriedMember[];
  /** Reports of members that were not queried. */
  reports: readonly MemberReport[];
  reachedMs: number | null;
  /** Where the previous page stopped, or the start time. */
  began: StartPosition;
  lastNode: string | undefined;
  startedMs: number;
  /** The ids of all selected members. */
  ids: readonly string[];
}

/** Builds the end: why the search ended, a report per member, and where to resume. */
async function buildSearchEnd(deps: ClusterDeps, facts: SearchFacts): Promise<ClusterEnd> {
  const { queried, startedMs } = facts;
  const positions = await resumePositions(deps, facts);
  const { order } = facts.request;
  const reports = [
    ...facts.reports,
    ...queried.map((member) => ({
      ...laneReport(member.lane, deps),
      ...(hasLeftInBetween(member) && { isPartial: true as const }),
      ...memberCoverage(member, order),
    })),
  ];
  const ends = queried.map(({ lane }) => ({ id: lane.id, end: lane.lastEnd }));
  const sum = (count: (member: QueriedMember) => number) => queried.reduce((total, member) => total + count(member), 0);
  const end: ClusterEnd = {
    type: 'end',
    reason: endReason(facts, positions),
    records: sum(({ lane }) => lane.delivered),
    scannedBytes: sum(({ lane }) => lane.lastEnd?.scannedBytes ?? 0),
    skippedBytes: sum(({ lane }) => lane.lastEnd?.skippedBytes ?? 0),
    ...clusterCoverage({ ...facts, beganMs: facts.began.reachedMs, order }),
    elapsedMs: Math.round(performance.now() - startedMs),
    members: reports.sort((a, b) => (a.id < b.id ? -1 : 1)),
    membership: deps.membership.state,
    problems: fileProblems(ends),
    ...duplicateFiles(ends),
    cursor: nextCursor(deps, facts, positions),
  };
  return withCoverage(end, facts.request);
}

/** Whether an earlier page has records of the member itself, and this one only what was recorded. */
function hasLeftInBetween({ lane, began }: QueriedMember): boolean {
  if (lane.recorded === undefined || typeof began !== 'object' || 'timeMs' in began) return false;
  return !isReplaced(began);
}

async function resumePositions(deps: ClusterDeps, facts: SearchFacts): Promise<MemberPosition[]> {
  return inParallel(facts.queried, getLimits(deps).maxParallel, async (member) => {
    const { lane, began, filling } = member;
    if (isLogMissing(lane.problem)) return 'done';
    if (lane.recorded) {
      const position = await ownPosition(deps, member, facts);
      const hasMoved = position !== began && typeof position === 'object' && 'cursor' in position;
      return hasMoved ? replacedPosition(member, position.cursor) : position;
    }
    if (!isReplaced(began)) return ownPosition(deps, member, facts);
    const { behind, isEmpty } = filling;
    if (behind !== undefined && isEmpty) return ownPosition(deps, { ...member, began: behind }, facts);
    if (behind !== undefined && !lane.hasNext) return behind;
    return { ...began, from: await ownPosition(deps, { ...member, began: began.from }, facts) };
  });
}

async function ownPosition(
  deps: ClusterDeps,
  member: QueriedMember,
  { request, signal, began: { reach } }: SearchFacts,
): Promise<MemberPosition> {
  const { lane, began } = member;
  const known = knownPosition(member);
  if (known !== undefined) return known;
  const { memberTimeoutMs: timeoutMs } = getLimits(deps);
  try {
    return await withDeadline((leaving) => resumePosition(member, { signal: leaving }), {
      timeoutMs,
      ...(signal && { signal }),
    });
  } catch {
    // The member fails or sends nonsense, so its families are unknown: resume by the time that was reached.
    signal?.throwIfAborted();
    if (lane.reached === undefined) return began;
    const { startMs } = reach;
    const margins = { marginMs: marginAfter(reach, [lane]), ...(startMs !== undefined && { startMs }) };
    return { reach: toReach(lane.reached, request.order), ...margins };
  }
}

function endReason({ queried, request }: SearchFacts, positions: readonly MemberPosition[]): ClusterEnd['reason'] {
  const delivered = queried.reduce((total, { lane }) => total + lane.delivered, 0);
  const isUnfinished = positions.some((position) => position !== 'done');
  const ends = queried.flatMap(({ lane }) => (lane.end ? [lane.end.reason] : []));
  if (isUnfinished && delivered >= request.limit) return 'limit';
  if (ends.includes('time budget')) return 'time budget';
  return ends.includes('limit') ? 'limit' : 'exhausted';
}

/**
 * Only if something remains on a member that sent something: paging until there is no cursor must terminate, even if a member
 * never responds. Such a member is retried as long as there are others, or something is left of what was recorded.
 */
function nextCursor(
  { clocks, cursors }: ClusterDeps,
  { queried, request, reachedMs, lastNode, reports, began, ids, client }: SearchFacts,
  positions: readonly MemberPosition[],
): string | null {
  const goesOn = queried.some(({ lane }, index) => hasMore(lane) && positions[index] !== 'done');
  if (!goesOn) return null;
  const members = new Map(queried.map(({ lane }, index) => [lane.id, positions[index] ?? 'done']));
  // One that is gone, and of which nothing is known, may come back.
  for (const { id } of reports) members.set(id, began.members.get(id) ?? 'done');
  const { order } = request;
  const position = { order, reachedMs, members, ...(lastNode !== undefined && { lastNode }) };
  const lanes = queried.map(({ lane }) => lane);
  const absent = reports.flatMap(({ id, outcome }) => (outcome === 'gone' ? id : []));
  const reach = nextReach(began.reach, { lanes, absent, order });
  const isFurther = toKey(reach.timeMs, order) > toKey(began.progress.furthestMs, order);
  const progress = isFurther ? { furthestMs: reach.timeMs, stalls: 0 } : began.progress;
  return cursors.encode({ position, reach, progress }, { ids, clocks, client });
}

/** Whether it sent something, and may send more: of a recording, unless its end has come and is one. */
function hasMore({ hasAnswered, problem, delivered, recorded, hasNext, end }: QueriedMember['lane']): boolean {
  if (!hasAnswered || (problem !== undefined && delivered === 0)) return false;
  return recorded === undefined || hasNext || end?.cursor !== null;
}
