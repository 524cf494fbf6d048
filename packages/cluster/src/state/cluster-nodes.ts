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
import type { RegisteredPeer } from '../fan-out/peers.ts';
import type { Gossip } from '../gossip/gossip.ts';
import type { MemberRow } from '../gossip/member-table.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import { type ChosenMember, chooseMembers } from './choose-members.ts';
import { type Inspection, inspectMember, type NodeFacts, UNKNOWN_FACTS } from './inspect-member.ts';
import type { MemberSnapshot } from './snapshots/member-snapshot.ts';
import { departedReport, roundClock, type StateDeps } from './state-deps.ts';

export interface NodesDeps extends StateDeps {
  /** Name of the cluster. */
  cluster: string;
  membership: Pick<Membership, 'state'>;
  /** What is known of members without contacting them. Absent: all are contacted. */
  gossip?: Pick<Gossip, 'isActive' | 'nowMs' | 'table' | 'watch' | 'lastSeenMs'>;
}

/**
 * All members with their state, including those that left or failed. In a large cluster those that were heard of lately are
 * listed from memory; all others are contacted, unless that failed a moment ago.
 */
export async function clusterNodes(deps: NodesDeps, options: CallOptions = {}): Promise<ClusterNodes> {
  const { cluster, membership } = deps;
  // Chosen once: a member whose registration ends meanwhile must not be listed twice.
  const chosen = chooseMembers(deps);
  const nodes: ClusterNode[] = [];
  const unknown: ChosenMember[] = [];
  deps.gossip?.watch.noteInterest();
  for (const member of chosen) {
    const node = member.departed ? departedNode(member.departed) : rememberedNode(member, deps);
    if (node) nodes.push(node);
    else unknown.push(member);
  }
  nodes.push(...(await inspectAll(unknown, deps, options)));
  return { cluster, membership: membership.state, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Contacts members, and remembers what they respond. */
async function inspectAll(
  members: readonly ChosenMember[],
  deps: NodesDeps,
  options: CallOptions,
): Promise<ClusterNode[]> {
  const { clocks, timeoutMs, maxParallel, nowMs, gossip } = deps;
  const responses = await fanOut<Inspection, ChosenMember>(
    members,
    async (peer, callOptions) => {
      const { id } = peer.member;
      const atMs = gossip?.nowMs ?? 0;
      const queried = { id, state: peer.state, clock: roundClock(clocks.of(id)) };
      const inspection = await inspectMember(queried, { ...callOptions, timeoutMs, nowMs });
      if (gossip?.isActive && !peer.member.isSelf)
        gossip.watch.note(peer as ChosenMember & RegisteredPeer, inspection, { atMs });
      return inspection;
    },
    { ...options, timeoutMs, maxParallel, countOf: () => 1, responses: deps.peers.responses },
  );
  for (const { peer, value, report } of responses)
    if (value === undefined) gossip?.table.failed(peer.member.id, { atMs: gossip.nowMs, ...pickFailure(report) });
  return responses.map(({ peer, value, report }) => toNode({ peer, value: value?.facts, report }, deps));
}

function pickFailure({ outcome, detail }: MemberReport): Pick<MemberReport, 'outcome' | 'detail'> {
  return { outcome, detail };
}

/** The member from memory; `undefined` if it must be contacted. */
function rememberedNode({ member }: ChosenMember, deps: NodesDeps): ClusterNode | undefined {
  const { gossip, nowMs } = deps;
  const row = gossip?.isActive ? gossip.table.get(member.id) : undefined;
  if (!gossip || !row || member.isSelf) return undefined;
  const state = gossip.table.stateOf(member.id, gossip.nowMs);
  const toTime = (thenMs: number) => Math.round(nowMs() - (gossip.nowMs - thenMs));
  const report = { id: member.id, elapsedMs: 0, asOfMs: null };
  const { failure, sample } = row;
  if (state === 'failed' && failure) {
    const { outcome, detail } = failure;
    return toNode({ peer: { member }, value: undefined, report: { ...report, outcome, detail, count: 0 } }, deps);
  }
  if (state !== 'fresh' || !sample) return undefined;
  const facts = factsOf(sample, { sampledMs: toTime(sample.atMs), nowMs: nowMs() });
  const ok = { ...report, outcome: 'ok', detail: null, count: 1 } as const;
  const node = toNode({ peer: { member }, value: facts, report: ok }, deps);
  return { ...node, lastSeenMs: toTime(row.aliveMs), asOfMs: toTime(sample.atMs) };
}

function factsOf(
  { value }: NonNullable<MemberRow['sample']>,
  { sampledMs, nowMs }: { sampledMs: number; nowMs: number },
): NodeFacts {
  const { role: _role, labels: _labels, lastRecordAgeMs, uptimeMs, ...rest } = value;
  return {
    ...rest,
    uptimeMs: uptimeMs === null ? null : uptimeMs + (nowMs - sampledMs),
    lastRecordMs: lastRecordAgeMs === null ? null : sampledMs - lastRecordAgeMs,
  };
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
  const snapshot = deps.directory.of(member.id);
  const heardMs = deps.gossip?.isActive ? deps.gossip.lastSeenMs(member.id) : undefined;
  return {
    ...member,
    ...UNKNOWN_FACTS,
    ...standing,
    report: { ...report, ...standing, asOfMs: snapshot?.asOfMs ?? null },
    clock,
    lastRecordMs: snapshot ? newestRecordTime(snapshot) : null,
    lastSeenMs: heardMs ?? snapshot?.asOfMs ?? null,
  };
}

function departedNode(snapshot: MemberSnapshot): ClusterNode {
  const { member, clock, asOfMs } = snapshot;
  const report = departedReport(snapshot, snapshot.records.length);
  const { state = 'failed', sinceMs = null } = report;
  const lastRecordMs = newestRecordTime(snapshot);
  return { ...member, ...UNKNOWN_FACTS, state, sinceMs, report, clock, lastRecordMs, lastSeenMs: asOfMs };
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

function stillRegistered(id: string, directory: MemberDirectory): PortholeError {
  const why = directory.isLapsed(id)
    ? 'it is not registered, but responds'
    : directory.state.state === 'stale'
      ? 'the registry is unavailable, so it may still be a member'
      : 'it is a member of the cluster';
  return new PortholeError('MEMBER_REGISTERED', `${JSON.stringify(id)} cannot be forgotten: ${why}`);
}
