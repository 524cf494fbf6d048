import type { MemberClock } from '@porthole/contract';
import type { Clocks } from '../fan-out/clock.ts';
import type { Peers } from '../fan-out/peers.ts';
import type { Membership } from '../membership/membership.ts';
import type { ChosenMember } from '../state/choose-members.ts';
import type { KnownMembers } from '../state/state-deps.ts';

/** What a question about records of all members needs. */
export interface ClusterDeps {
  peers: Peers;
  clocks: Clocks;
  membership: Pick<Membership, 'state' | 'onChange'>;
  /** Snapshots stand for members that do not respond, and for those that have left or failed. */
  directory: KnownMembers;
  limits?: Partial<ClusterLimits>;
}

export interface ClusterLimits {
  /** Nobody waits longer for the first records of a member; then it is left behind, and told late. */
  firstBatchMs: number;
  /** A member is waited for at most so long, all its batches together, beside the time it was given to look. */
  memberTimeoutMs: number;
  /** Members that are opened at the same time. */
  maxParallel: number;
}

const LIMITS: ClusterLimits = { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64 };

/** Of a member that does not tell its time: it is taken to be right, and little is built on it. */
const UNMEASURED: MemberClock = { offsetMs: 0, uncertaintyMs: 60_000 };

export function getLimits({ limits }: ClusterDeps): ClusterLimits {
  return { ...LIMITS, ...limits };
}

/** Its offset in whole milliseconds, as times have them: what is taken off and put on again is then the same. */
export function getClock(clocks: Clocks, id: string): MemberClock {
  return roundClock(clocks.of(id) ?? null);
}

/** Of a member that takes part: one that cannot be measured had this clock when its snapshot was taken. */
export function getChosenClock(
  { clocks, directory }: ClusterDeps,
  { member: { id }, departed }: ChosenMember,
): MemberClock {
  if (departed) return roundClock(departed.clock);
  return roundClock(clocks.of(id) ?? directory.of(id)?.clock ?? null);
}

/** `null` is one that was never measured. */
function roundClock(clock: MemberClock | null): MemberClock {
  const { offsetMs, uncertaintyMs } = clock ?? UNMEASURED;
  return { offsetMs: Math.round(offsetMs), uncertaintyMs };
}
