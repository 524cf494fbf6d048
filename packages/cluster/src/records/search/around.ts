import {
  type AroundRequest,
  type CallOptions,
  type ClusterEnd,
  type ClusterItem,
  type ClusterRecord,
  PortholeError,
  withCoverage,
} from '@porthole/contract';
import { recordsOf } from '@porthole/records';
import { describeUncertainty, toMemberEdge, toOwnTime } from '../../fan-out/clock-steps.ts';
import { SELF_MORE_MS } from '../../fan-out/fan-out.ts';
import { withDeadline } from '../../requests/bounded-calls.ts';
import { chooseMembers } from '../../state/query-members.ts';
import { ClusterBatchWriter } from '../merge/cluster-batch.ts';
import { MemberLane, type QueriedLane } from '../merge/member-lane.ts';
import { mergeMembers } from '../merge/merge-members.ts';
import { type ClusterDeps, getChosenClock, getLimits } from './cluster-deps.ts';
import { dropOutside } from './drop-records.ts';
import { fileProblems } from './listed-files.ts';
import { openOrRecorded } from './open-or-recorded.ts';
import { collectRecords, contentOf, recordsAround, recordTime } from './records-around.ts';
import { laneReport, throwIfRejected } from './refusals.ts';

/** Fraction of the member timeout for each of its two searches. */
const SCAN_SHARE = 0.4;

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
  const { beforeMs, afterMs, limit, floors } = request;
  const filter = contentOf(request);
  const lanes = members.map((chosen, index) => {
    const { id } = chosen.member;
    const clock = getChosenClock(deps, chosen);
    const range = { fromMs: atMs - beforeMs, toMs: atMs + afterMs + 1 };
    const at = toMemberEdge(clock, atMs, 'from');
    const query = {
      id,
      filter,
      atMs: at,
      beforeMs: at - toMemberEdge(clock, range.fromMs, 'from'),
      afterMs: toMemberEdge(clock, range.toMs, 'to') - 1 - at,
      limit,
      floors,
    };
    const opened = openOrRecorded(deps, chosen, {
      budgetMs,
      search: (signal) => dropOutside(recordsAround(chosen.state, query, { signal, budgetMs, client }), clock, range),
      searchRecorded: ({ state }, signal) =>
        dropOutside(recordsAround(state, query, { signal, budgetMs, client }), clock, range),
    });
    const doubt = describeUncertainty(clock, range);
    const { isSelf } = chosen.member;
    return new MemberLane({
      index,
      id,
      clock,
      newestFirst: false,
      firstBatchMs,
      doubt,
      timeoutMs: isSelf ? timeoutMs + SELF_MORE_MS : timeoutMs,
      isAlive: () => isSelf || deps.directory.isAlive(id),
      ...opened,
    });
  });
  const writer = new ClusterBatchWriter({ reusesMemory: true });
  for await (const runs of mergeMembers(lanes, { limit: Infinity, maxParallel, ...options })) {
    if (runs.length === 0) throwIfRejected(lanes, { isFirst: true });
    yield recordsOf<ClusterRecord>(writer.write(runs));
  }
  yield [buildAroundEnd(deps, lanes, performance.now() - startedMs)];
}

/** By the clock of this node. */
async function fetchRecordTime(
  deps: ClusterDeps,
  { node, cursor }: { node: string; cursor: string },
  options: CallOptions,
): Promise<number> {
  const [chosen] = chooseMembers(deps, { nodes: [node] });
  if (!chosen) throw new PortholeError('MEMBER_NOT_FOUND', `no member of the cluster is named ${JSON.stringify(node)}`);
  const { memberTimeoutMs: timeoutMs } = getLimits(deps);
  const timeMs = await recordTime({ node, cursor }, (query) => {
    const { open } = openOrRecorded(deps, chosen, {
      budgetMs: timeoutMs * SCAN_SHARE,
      search: (signal) => chosen.state.search(query, { signal }),
      searchRecorded: ({ state }, signal) => state.search(query, { signal }),
    });
    return withDeadline((signal) => collectRecords(open(signal), query.limit), { ...options, timeoutMs });
  });
  return toOwnTime(getChosenClock(deps, chosen), timeMs);
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
