import {
  type CallOptions,
  type ClusterNode,
  type ClusterNodes,
  codeOf,
  type ForgetOptions,
  type ForgottenMember,
  type MemberReport,
  type NodeObject,
  type NodeProblem,
  PortholeError,
} from '@porthole/contract';
import { type Deadline, withDeadline } from '../fan-out/bounded-calls.ts';
import { fanOut, type MemberResponse } from '../fan-out/fan-out.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import { type ChosenMember, chooseMembers } from './choose-members.ts';
import { readFailures } from './counts/counting.ts';
import type { MemberSnapshot } from './snapshots/member-snapshot.ts';
import { departedReport, type QueriedMember, roundClock, type StateDeps } from './state-deps.ts';

/** Period for recent errors. */
const RECENT_MS = 15 * 60_000;

/** Fraction of the remaining time for counting errors: a member is listed even if counting takes too long. */
const COUNTING_SHARE = 0.8;

/** Maximum health problems per node. */
const MAX_PROBLEMS = 20;

export interface NodesDeps extends StateDeps {
  /** Name of the cluster. */
  cluster: string;
  membership: Pick<Membership, 'state'>;
}

/** What a member reports about itself; `null` for missing values. */
interface NodeFacts {
  node: NodeObject;
  timeZone: string | null;
  uptimeMs: number | null;
  lastRecordMs: number | null;
  recentErrors: number | null;
  problems: NodeProblem[];
}

const UNKNOWN = { timeZone: null, uptimeMs: null, lastRecordMs: null, recentErrors: null, problems: [] };

/** All members with their state, including those that left or failed. */
export async function clusterNodes(deps: NodesDeps, options: CallOptions = {}): Promise<ClusterNodes> {
  const { cluster, membership, clocks, timeoutMs, maxParallel } = deps;
  // Chosen once: a member whose registration ends meanwhile must not be listed twice.
  const chosen = chooseMembers(deps);
  const departed = chosen.flatMap(({ departed: snapshot }) => (snapshot ? [departedNode(snapshot)] : []));
  const responses = await fanOut<NodeFacts, ChosenMember>(
    chosen.filter((member) => !member.departed),
    ({ member: { id }, state }, callOptions) =>
      inspectMember({ id, state, clock: roundClock(clocks.of(id)) }, deps, callOptions),
    { ...options, timeoutMs, maxParallel, countOf: () => 1, responses: deps.peers.responses },
  );
  const nodes = [...responses.map((response) => toNode(response, deps)), ...departed];
  return { cluster, membership: membership.state, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

async function inspectMember(member: QueriedMember, deps: NodesDeps, options: CallOptions): Promise<NodeFacts> {
  const startedMs = performance.now();
  const seen = await describeMember(member, options);
  const timeoutMs = (deps.timeoutMs - (performance.now() - startedMs)) * COUNTING_SHARE;
  const [lastRecordMs, recentErrors] = await Promise.all([
    orNull((signal) => newestTime(member, { signal }), { ...options, timeoutMs }),
    orNull((signal) => countErrors(member, { signal, nowMs: deps.nowMs() }), { ...options, timeoutMs }),
  ]);
  return { ...seen, lastRecordMs, recentErrors };
}

async function describeMember({ state }: QueriedMember, options: CallOptions): Promise<NodeFacts> {
  try {
    const { node, timeZone = null, uptimeMs = null, problems } = await state.describe(options);
    return { ...UNKNOWN, node, timeZone, uptimeMs, problems: readProblems(problems) };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
  }
  return { ...UNKNOWN, node: (await state.config(options)).node };
}

/** Responses of members are untrusted. */
function readProblems(problems: unknown): NodeProblem[] {
  if (!Array.isArray(problems)) return [];
  return problems
    .filter((each) => typeof each?.check === 'string' && typeof each.detail === 'string')
    .slice(0, MAX_PROBLEMS)
    .map(({ check, detail }) => ({ check, detail }));
}

/** Uses the file details, which are cached: cheaper than a search for one record. */
async function newestTime({ state, clock }: QueriedMember, options: CallOptions): Promise<number | null> {
  const files = await state.logFiles(options);
  const newest = files.reduce((latest, { lastTimeMs }) => Math.max(latest, lastTimeMs ?? -Infinity), -Infinity);
  return Number.isFinite(newest) ? newest - clock.offsetMs : null;
}

async function countErrors(
  { state, clock }: QueriedMember,
  { signal, nowMs }: { signal: AbortSignal; nowMs: number },
): Promise<number | null> {
  const toMs = nowMs + clock.offsetMs;
  const query = { minLevel: 'ERROR', fromMs: toMs - RECENT_MS, toMs, bucketMs: RECENT_MS, buckets: 1 } as const;
  const { buckets, end } = await state.logHistogram(query, { signal });
  // An incomplete count is not reported.
  if (end.reason !== 'exhausted' || end.limits !== undefined || readFailures(end).length > 0) return null;
  const counts = buckets.flatMap((bucket) => Object.values(bucket.counts));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** `null` if the call fails or takes too long: the rest of the response is still valid. */
async function orNull<T>(call: (signal: AbortSignal) => Promise<T>, deadline: Deadline): Promise<T | null> {
  try {
    return await withDeadline(call, deadline);
  } catch {
    return null; // any error: a response of the wrong shape is a TypeError here
  }
}

function toNode({ peer, value, report }: MemberResponse<NodeFacts>, deps: NodesDeps): ClusterNode {
  const { member } = peer;
  const snapshot = deps.directory.of(member.id);
  const clock = deps.clocks.of(member.id) ?? null;
  // A member that cannot describe itself counts as not responding.
  const standing = deps.directory.standingOf(member.id, value === undefined ? 'refused' : 'ok');
  if (value !== undefined)
    return { ...member, ...value, ...standing, report: { ...report, ...standing }, clock, lastSeenMs: deps.nowMs() };
  return {
    ...member,
    ...UNKNOWN,
    ...standing,
    report: { ...report, ...standing, asOfMs: snapshot?.asOfMs ?? null },
    clock,
    lastRecordMs: snapshot ? newestRecordTime(snapshot) : null,
    lastSeenMs: snapshot?.asOfMs ?? null,
  };
}

function departedNode(snapshot: MemberSnapshot): ClusterNode {
  const { member, clock, asOfMs } = snapshot;
  const report = departedReport(snapshot, snapshot.records.length);
  const { state = 'failed', sinceMs = null } = report;
  const lastRecordMs = newestRecordTime(snapshot);
  return { ...member, ...UNKNOWN, state, sinceMs, report, clock, lastRecordMs, lastSeenMs: asOfMs };
}

function newestRecordTime({ records, clock }: MemberSnapshot): number | null {
  const newest = records.find(({ timeMs }) => timeMs !== undefined);
  return newest?.timeMs === undefined ? null : newest.timeMs - (clock?.offsetMs ?? 0);
}

/**
 * Drops the snapshot of a member that left or failed, here and on every other member that responds. Throws MEMBER_REGISTERED if
 * it is still a member, MEMBER_NOT_FOUND if there is no snapshot of it anywhere.
 */
export async function forgetMember(
  { peers, timeoutMs, maxParallel }: Pick<StateDeps, 'peers' | 'timeoutMs' | 'maxParallel'>,
  directory: MemberDirectory,
  { id, onlyHere = false, signal }: ForgetOptions & { id: string },
): Promise<ForgottenMember> {
  const all = peers.all();
  if (all.some(({ member }) => member.id === id)) throw stillRegistered(id, directory);
  const self = all.filter(({ member }) => member.isSelf);
  const others = all.filter(({ member }) => !member.isSelf);
  const responses = await fanOut(
    onlyHere ? self : [...self, ...others],
    async (peer, options) => {
      if (peer.member.isSelf) return directory.forget(id) ? 1 : 0;
      return peer.forget(id, options);
    },
    { timeoutMs, maxParallel, countOf: (count) => count, ...(signal && { signal }) },
  );
  const members = responses.map(
    ({ report }): MemberReport => ({
      ...report,
      ...directory.standingOf(report.id, report.outcome),
    }),
  );
  if (members.every(({ outcome, count }) => outcome === 'ok' && count === 0))
    throw new PortholeError('MEMBER_NOT_FOUND', `no former member is named ${JSON.stringify(id)}`);
  return { id, members: members.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function stillRegistered(id: string, { state }: MemberDirectory): PortholeError {
  const why =
    state.state === 'stale'
      ? 'the registry is unavailable, so it may still be a member'
      : 'it is a member of the cluster';
  return new PortholeError('MEMBER_REGISTERED', `${JSON.stringify(id)} cannot be forgotten: ${why}`);
}
