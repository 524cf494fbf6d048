import type { ClockTable } from '../fan-out/clock.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import type { Recorders } from '../recorder/recorders.ts';
import type { DriftCount } from './config-drift.ts';
import { MIN_INTERVAL_MS, type ProfileCollector } from './profile-collector.ts';

/** Members with metrics, at most: each is a few series. */
const MAX_MEMBERS = 64;

/** A member that sent neither its time nor its configuration for this many refresh intervals does not respond. */
const SILENT_REFRESHES = 3;

/** What is known of a member without contacting it, for metrics. */
export interface MemberGauges {
  id: string;
  isUp: boolean;
  /** `null` if it is not known. */
  clockOffsetMs: number | null;
  lastRecordAgeMs: number | null;
}

export interface ClusterGauges {
  members: MemberGauges[];
  /** Where another node is that uses the id of this one; `null`: there is none. */
  namesakeUrl: string | null;
  /** Keys that differ between members this node has the configuration of; `null` if they were not compared. */
  drift: DriftCount | null;
  /** Members that requests do not wait for. */
  silentMembers: number;
  /** What this node records of others. */
  recorded: { id: string; bytes: number; ageMs: number }[];
  /** Positions of searches kept for cursors that do not contain them. */
  keptCursors: { count: number; bytes: number };
}

export interface GaugeDeps {
  directory: Pick<MemberDirectory, 'members' | 'departed'>;
  clocks: Pick<ClockTable, 'of' | 'measuredMs'>;
  recorders: Pick<Recorders, 'keeps'>;
  collector: Pick<ProfileCollector, 'lastSeen'>;
  membership: Pick<Membership, 'namesakeUrl'>;
  refreshMs: number;
  /** Monotonic. */
  runningMs?: () => number;
}

/**
 * Up to 16 members, all of them; beyond, those this node records, so that each is in the metrics of two nodes
 * and not of all. Members that were never seen are down, and those that failed until they are forgotten. The number of
 * members is bounded.
 */
export function clusterGauges(deps: GaugeDeps): Pick<ClusterGauges, 'members' | 'namesakeUrl'> {
  const { directory, clocks, recorders, membership } = deps;
  const members = directory.members
    .filter(({ id, isSelf }) => !isSelf && recorders.keeps(id))
    .map(({ id }): MemberGauges => ({ id, ...readContacts(id, deps), clockOffsetMs: clocks.of(id)?.offsetMs ?? null }));
  const failed = directory
    .departed()
    .filter(({ departed }) => departed?.state === 'failed')
    .map(({ member: { id } }) => ({ id, isUp: false, clockOffsetMs: null, lastRecordAgeMs: null }));
  return {
    members: [...members, ...failed].slice(0, MAX_MEMBERS),
    namesakeUrl: membership.namesakeUrl ?? null,
  };
}

/** What a member sent to this node. Contract-only members do not send their time. */
function readContacts(
  id: string,
  { clocks, collector, directory, refreshMs, runningMs = () => performance.now() }: GaugeDeps,
): Pick<MemberGauges, 'isUp' | 'lastRecordAgeMs'> {
  const nowMs = runningMs();
  // Configurations are fetched one after the other.
  const intervalMs = Math.max(refreshMs, directory.members.length * MIN_INTERVAL_MS);
  const seen = collector.lastSeen(id);
  const seenMs = Math.max(clocks.measuredMs(id) ?? -Infinity, seen?.atMs ?? -Infinity);
  const lastRecordMs = seen?.lastRecordMs ?? null;
  return {
    isUp: nowMs - seenMs < SILENT_REFRESHES * intervalMs,
    lastRecordAgeMs: lastRecordMs === null ? null : nowMs - lastRecordMs,
  };
}
