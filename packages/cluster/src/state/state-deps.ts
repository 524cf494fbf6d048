import type { CallOptions, MemberClock, MemberReport, NodeState } from '@porthole/contract';
import type { Clocks } from '../fan-out/clock.ts';
import { fanOut, type MemberResponse } from '../fan-out/fan-out.ts';
import type { Peers } from '../fan-out/peers.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { MatchRegex } from '../records/search/search-snapshot.ts';
import type { ChosenMember } from './choose-members.ts';
import type { Masked } from './settings/remember-masked.ts';
import type { MemberSnapshot } from './snapshots/member-snapshot.ts';
import { SnapshotNode } from './snapshots/snapshot-node.ts';

/** What is known of members beside how to ask them. */
export type KnownMembers = Pick<MemberDirectory, 'of' | 'has' | 'departed' | 'standingOf'>;

/** What the answers of a cluster are made of. */
export interface StateDeps {
  peers: Peers;
  clocks: Clocks;
  directory: KnownMembers;
  /** The text with its secrets masked; `undefined` where that cannot be done. For nodes that do not mask their own. */
  mask(configText: string): Masked;
  /** Of each member, for a whole answer. */
  timeoutMs: number;
  maxParallel: number;
  nowMs(): number;
}

/** A member with its clock against ours; one that was never measured is taken for right. */
export interface QueriedMember {
  id: string;
  state: NodeState;
  clock: MemberClock;
}

export interface QueryMembersOptions<T> extends CallOptions {
  countOf(value: T): number;
}

type MemberQuery<T> = (member: QueriedMember, options: CallOptions) => Promise<T>;

const EXACT_CLOCK: MemberClock = { offsetMs: 0, uncertaintyMs: 0 };

/**
 * Asks each with its clock at hand: what is asked, and what it answers, is in its own time. For a member that has left or
 * failed, and for one that does not respond, its snapshot answers, and the report says from when it is.
 */
export async function queryMembers<T>(
  deps: StateDeps,
  chosen: readonly ChosenMember[],
  call: MemberQuery<T>,
  { countOf, signal }: QueryMembersOptions<T>,
): Promise<MemberResponse<T>[]> {
  const { timeoutMs, maxParallel, directory, clocks } = deps;
  const responses = await fanOut<T, ChosenMember>(
    chosen,
    ({ member: { id }, state, departed }, options) =>
      call({ id, state, clock: roundClock(departed ? departed.clock : clocks.of(id)) }, options),
    { timeoutMs, maxParallel, countOf, responses: deps.peers.responses, ...(signal !== undefined && { signal }) },
  );
  return Promise.all(
    responses.map(async ({ peer, value, report }) => {
      const { departed } = peer;
      if (departed) return { peer, value, report: departedReport(departed, report.count) };
      const standing = directory.standingOf(report.id, report.outcome);
      const snapshot = needsSnapshot(report) ? directory.of(report.id) : undefined;
      const fallback = snapshot && (await querySnapshot(snapshot, { ask: call, matchRegex: deps.peers.matchRegex }));
      if (fallback === undefined) return { peer, value, report: { ...report, ...standing } };
      const { asOfMs } = snapshot as MemberSnapshot;
      return { peer, value: fallback, report: { ...report, ...standing, count: countOf(fallback), asOfMs } };
    }),
  );
}

/** A member that cannot do something answers for itself; of one that failed, what was seen last is better than nothing. */
function needsSnapshot({ outcome }: MemberReport): boolean {
  return outcome !== 'ok' && outcome !== 'not supported';
}

/** `undefined` where the snapshot does not hold what is asked for. */
async function querySnapshot<T>(
  snapshot: MemberSnapshot,
  { ask: call, matchRegex }: { ask: MemberQuery<T>; matchRegex: MatchRegex | undefined },
): Promise<T | undefined> {
  const { member, clock } = snapshot;
  try {
    return await call({ id: member.id, state: new SnapshotNode(snapshot, matchRegex), clock: roundClock(clock) }, {});
  } catch {
    return undefined; // the report has the failure of the member itself
  }
}

/** Times are asked for in whole milliseconds. */
export function roundClock(clock: MemberClock | null | undefined): MemberClock {
  const { offsetMs, uncertaintyMs } = clock ?? EXACT_CLOCK;
  return { offsetMs: Math.round(offsetMs), uncertaintyMs };
}

/** The report of a member of which only the snapshot is left. */
export function departedReport({ member, asOfMs, departed }: MemberSnapshot, count: number): MemberReport {
  const { state, sinceMs } = departed ?? { state: 'failed', sinceMs: asOfMs };
  const since = new Date(sinceMs).toISOString();
  const facts = { id: member.id, elapsedMs: 0, count, asOfMs, state, sinceMs };
  if (state === 'left') return { ...facts, outcome: 'left', detail: `it left the cluster at ${since}` };
  return { ...facts, outcome: 'gone', detail: `it is no longer registered since ${since}` };
}
