import type { MemberClock } from '@porthole/contract';
import type { Clocks } from '../../fan-out/clock.ts';
import type { SteppedClock } from '../../fan-out/clock-steps.ts';
import type { Peers } from '../../fan-out/peers.ts';
import type { Membership } from '../../membership/membership.ts';
import type { ChosenMember, KnownMembers } from '../../state/query-members.ts';
import type { CursorKeeper } from './cursor-keeper.ts';

/** What queries over all members need. */
export interface ClusterDeps {
  peers: Peers;
  clocks: Clocks;
  membership: Pick<Membership, 'state' | 'onChange'>;
  /** What was recorded replaces members that do not respond, left or failed. */
  directory: KnownMembers;
  limits?: Partial<ClusterLimits>;
  cursors: CursorKeeper;
}

export interface ClusterLimits {
  /** Timeout for the first records of a member; after it the merge continues without waiting for it. */
  firstBatchMs: number;
  /** Total time to wait for batches of a member, in addition to its scan budget. */
  memberTimeoutMs: number;
  /** Concurrently opened members. */
  maxParallel: number;
  /** Records in the first page of each member; default: its share of what is requested. */
  pageRecords?: number;
}

const LIMITS: ClusterLimits = { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64 };

/** Clock of a member that was not measured: assumed right, with a large uncertainty. */
const UNMEASURED: MemberClock = { offsetMs: 0, uncertaintyMs: 60_000 };

export function getLimits({ limits }: ClusterDeps): ClusterLimits {
  return { ...LIMITS, ...limits };
}

/** Whole milliseconds, so that subtracting and adding the offset gives the same time. */
export function getClock(clocks: Clocks, id: string): SteppedClock {
  return { ...roundClock(clocks.of(id) ?? null), steps: clocks.steps?.(id) };
}

/** The clock of a chosen member; if unmeasured, the last known one. */
export function getChosenClock(
  { clocks, directory }: ClusterDeps,
  { member: { id }, departed }: ChosenMember,
): SteppedClock {
  const clock = departed ? departed.clock : (clocks.of(id) ?? directory.of(id)?.clock ?? null);
  return { ...roundClock(clock), steps: clocks.steps?.(id) };
}

/** `null` if never measured. */
function roundClock(clock: MemberClock | null): MemberClock {
  const { offsetMs, uncertaintyMs } = clock ?? UNMEASURED;
  return { offsetMs: Math.round(offsetMs), uncertaintyMs };
}
