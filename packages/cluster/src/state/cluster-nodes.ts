import {
  type CallOptions,
  type ClusterNode,
  type ClusterNodes,
  type ForgetOptions,
  type ForgottenMember,
  type MemberReport,
  PortholeError,
} from '@porthole/contract';
import { fanOut, type MemberResponse } from '../fan-out/fan-out.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import type { MemberProfile } from '../membership/profiles/member-profile.ts';
import type { RecordedMember } from '../recorder/recordings.ts';
import { inspectMember, type NodeFacts, UNKNOWN_FACTS } from './inspect-member.ts';
import { type PublishedState, type PublishedStates, recentFacts } from './published-states.ts';
import { type ChosenMember, chooseMembers, departedReport, roundClock, type StateDeps } from './query-members.ts';

export interface NodesDeps extends StateDeps {
  /** Name of the cluster. */
  cluster: string;
  membership: Pick<Membership, 'state'>;
  /** What members publish of themselves; absent: all are contacted. */
  states?: Pick<PublishedStates, 'read'> | undefined;
}

/**
 * Who is there matters more than how many errors it has logged: a member that has just started, or is busy, is listed without
 * them. What it has counted by then it need not count again for the next list.
 */
const COUNT_MS = 600;

/** What those get that are contacted later than that: as long as counting takes a member that has nothing else to do. */
const LEAST_COUNT_MS = 50;

/**
 * All members with their state, including those that left or failed. In a large cluster those are not contacted that have
 * published their state lately, unless the last request to them failed.
 */
export async function clusterNodes(deps: NodesDeps, options: CallOptions = {}): Promise<ClusterNodes> {
  const { cluster, membership } = deps;
  const published = await deps.states?.read(options);
  // Chosen once: a member whose registration ends meanwhile must not be listed twice.
  const nodes: ClusterNode[] = [];
  const unknown: ChosenMember[] = [];
  for (const member of chooseMembers(deps)) {
    const node = member.departed
      ? departedNode(member.departed)
      : publishedNode(member, published?.get(member.member.id), deps);
    if (node) nodes.push(node);
    else unknown.push(member);
  }
  nodes.push(...(await inspectAll(unknown, deps, options)));
  return { cluster, membership: membership.state, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Contacts members. */
async function inspectAll(
  members: readonly ChosenMember[],
  deps: NodesDeps,
  options: CallOptions,
): Promise<ClusterNode[]> {
  const { clocks, timeoutMs, maxParallel, nowMs } = deps;
  const startedMs = performance.now();
  // Of the whole list: members are contacted some at a time, and where all are busy, each of these would wait as long.
  const countMs = () => Math.max(LEAST_COUNT_MS, COUNT_MS - (performance.now() - startedMs));
  const responses = await fanOut<NodeFacts, ChosenMember>(
    members,
    async ({ member: { id }, state }, callOptions) => {
      const queried = { state, clock: roundClock(clocks.of(id)) };
      return inspectMember(queried, { ...callOptions, timeoutMs, countMs: countMs(), nowMs });
    },
    { ...options, timeoutMs, maxParallel, countOf: () => 1, responses: deps.peers.responses },
  );
  return responses.map((response) => toNode(response, deps));
}

/** The member as it has published itself; `undefined` if it must be contacted. */
function publishedNode(
  { member, hasFailed }: ChosenMember,
  state: PublishedState | undefined,
  deps: NodesDeps,
): ClusterNode | undefined {
  // It says nothing about another run, or about a node that this one cannot reach.
  if (!state || member.isSelf || hasFailed || state.onlineTime !== member.node.onlineTime) return undefined;
  const { offsetMs } = roundClock(deps.clocks.of(member.id));
  const recent = recentFacts(state, { offsetMs, nowMs: deps.nowMs() });
  if (!recent) return undefined;
  const { asOfMs, facts } = recent;
  const report = { id: member.id, outcome: 'ok', detail: null, elapsedMs: 0, count: 1, asOfMs: null } as const;
  const node = toNode({ peer: { member }, value: { ...facts, node: member.node }, report }, deps);
  return { ...node, lastSeenMs: asOfMs, asOfMs };
}

type ListedMember = Pick<MemberResponse<NodeFacts>, 'value' | 'report'> & { peer: Pick<ChosenMember, 'member'> };

function toNode({ peer, value, report }: ListedMember, deps: NodesDeps): ClusterNode {
  const { member } = peer;
  const clock = deps.clocks.of(member.id) ?? null;
  // A member that cannot describe itself counts as not responding.
  const standing = deps.directory.standingOf(member.id, value === undefined ? 'refused' : 'ok');
  if (value !== undefined)
    return { ...member, ...value, ...standing, report: { ...report, ...standing }, clock, lastSeenMs: deps.nowMs() };
  // Read only here: it is stored compressed.
  const profile = deps.directory.of(member.id);
  return {
    ...member,
    ...UNKNOWN_FACTS,
    ...standing,
    report: { ...report, ...standing, asOfMs: profile?.asOfMs ?? null },
    clock,
    lastRecordMs: profile ? newestRecordTime(profile) : null,
    lastSeenMs: latest(profile?.asOfMs, deps.clocks.heardMs?.(member.id)),
  };
}

function latest(...times: (number | undefined)[]): number | null {
  const newest = times.reduce<number>((last, timeMs) => Math.max(last, timeMs ?? last), -Infinity);
  return Number.isFinite(newest) ? newest : null;
}

function departedNode(recorded: RecordedMember): ClusterNode {
  const { member, clock, asOfMs, lastRecordMs } = recorded;
  const report = departedReport(recorded, 0);
  const { state = 'failed', sinceMs = null } = report;
  return { ...member, ...UNKNOWN_FACTS, state, sinceMs, report, clock, lastRecordMs, lastSeenMs: asOfMs };
}

function newestRecordTime({ files, clock }: MemberProfile): number | null {
  const times = (files ?? []).flatMap(({ lastTimeMs }) => lastTimeMs ?? []);
  return times.length === 0 ? null : Math.max(...times) - Math.round(clock?.offsetMs ?? 0);
}

/**
 * Drops what is known and recorded of a member that left or failed, here and on every other member that responds. Throws
 * MEMBER_REGISTERED if it is still a member, MEMBER_NOT_FOUND if nobody knows it.
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

function stillRegistered(id: string, directory: MemberDirectory): PortholeError {
  const why = directory.isLapsed(id)
    ? 'it is not registered, but responds'
    : directory.state.state === 'stale'
      ? 'the registry is unavailable, so it may still be a member'
      : 'it is a member of the cluster';
  return new PortholeError('MEMBER_REGISTERED', `${JSON.stringify(id)} cannot be forgotten: ${why}`);
}
