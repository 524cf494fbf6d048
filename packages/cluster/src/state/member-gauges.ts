import type { ClockTable } from '../fan-out/clock.ts';
import type { Gossip } from '../gossip/gossip.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import type { DriftCount } from './settings/config-drift.ts';
import { MIN_INTERVAL_MS, type SnapshotCollector } from './snapshots/snapshot-collector.ts';

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
  /** Another node uses the id of this one. */
  isDuplicate: boolean;
  /** Keys that differ between members this node has the configuration of; `null` if they were not compared. */
  drift: DriftCount | null;
  /** Members that requests do not wait for. */
  silentMembers: number;
  /** Positions of searches kept for cursors that do not contain them. */
  keptCursors: { count: number; bytes: number };
}

export interface GaugeDeps {
  directory: Pick<MemberDirectory, 'members' | 'departed'>;
  clocks: Pick<ClockTable, 'of' | 'measuredMs'>;
  gossip: Pick<Gossip, 'isActive' | 'keeps' | 'nowMs' | 'table'>;
  collector: Pick<SnapshotCollector, 'heardOf'>;
  membership: Pick<Membership, 'isDuplicate'>;
  refreshMs: number;
}

/**
 * Up to 16 members, all of them; beyond, those this node is a neighbour of, so that each is in the metrics of three nodes
 * and not of all. Members that were never heard of are down, and those that failed until they are forgotten. The number of
 * members is bounded.
 */
export function clusterGauges(deps: GaugeDeps): Pick<ClusterGauges, 'members' | 'isDuplicate'> {
  const { directory, clocks, gossip, membership, refreshMs } = deps;
  const isKept = ({ id, isSelf }: { id: string; isSelf: boolean }) => !isSelf && gossip.keeps(id);
  const members = directory.members.filter(isKept).map(({ id }): MemberGauges => {
    const known = gossip.isActive ? readTable(id, deps) : readContacts(id, deps);
    return { id, ...known, clockOffsetMs: clocks.of(id)?.offsetMs ?? null };
  });
  const failed = directory
    .departed()
    .filter(({ departed }) => departed?.state === 'failed')
    .map(({ member: { id } }) => ({ id, isUp: false, clockOffsetMs: null, lastRecordAgeMs: null }));
  const isSeen = gossip.nowMs - gossip.table.duplicateMs < SILENT_REFRESHES * refreshMs;
  return {
    members: [...members, ...failed].slice(0, MAX_MEMBERS),
    isDuplicate: isSeen || membership.isDuplicate === true,
  };
}

type Known = Pick<MemberGauges, 'isUp' | 'lastRecordAgeMs'>;

/** In a large cluster: what members say of each other. */
function readTable(id: string, { gossip: { table, nowMs } }: GaugeDeps): Known {
  const { sample } = table.get(id) ?? {};
  const recordAgeMs = sample?.value.lastRecordAgeMs ?? null;
  return {
    isUp: table.stateOf(id, nowMs) === 'fresh',
    lastRecordAgeMs: sample && recordAgeMs !== null ? recordAgeMs + (nowMs - sample.atMs) : null,
  };
}

/** In a small cluster: what it sent to this node. Contract-only members do not send their time. */
function readContacts(id: string, { clocks, collector, directory, gossip: { nowMs }, refreshMs }: GaugeDeps): Known {
  // Configurations are fetched one after the other.
  const intervalMs = Math.max(refreshMs, directory.members.length * MIN_INTERVAL_MS);
  const heard = collector.heardOf(id);
  const heardMs = Math.max(clocks.measuredMs(id) ?? -Infinity, heard?.atMs ?? -Infinity);
  const lastRecordMs = heard?.lastRecordMs ?? null;
  return {
    isUp: nowMs - heardMs < SILENT_REFRESHES * intervalMs,
    lastRecordAgeMs: lastRecordMs === null ? null : nowMs - lastRecordMs,
  };
}
