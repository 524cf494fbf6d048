import type { ClockTable } from '../fan-out/clock.ts';
import type { Gossip } from '../gossip/gossip.ts';
import type { MemberDirectory } from '../membership/member-directory.ts';

/** Members with metrics, at most: each is a few series. */
const MAX_MEMBERS = 64;

/** A clock that was not measured for this many refresh intervals is that of a member that does not respond. */
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
  /** Members that requests do not wait for. */
  silentMembers: number;
  /** Positions of searches kept for cursors that do not contain them. */
  keptCursors: { count: number; bytes: number };
}

export interface GaugeDeps {
  directory: Pick<MemberDirectory, 'members' | 'departed'>;
  clocks: Pick<ClockTable, 'of' | 'measuredMs'>;
  gossip: Pick<Gossip, 'isActive' | 'keeps' | 'nowMs' | 'table'>;
  refreshMs: number;
}

/**
 * Up to 16 members, all of them; beyond, those this node is a neighbour of, so that each is in the metrics of three nodes
 * and not of all. Members that failed are down until they are forgotten; of contract-only ones in a small cluster nothing
 * is known. The number of members is bounded.
 */
export function clusterGauges({
  directory,
  clocks,
  gossip,
  refreshMs,
}: GaugeDeps): Pick<ClusterGauges, 'members' | 'isDuplicate'> {
  const { nowMs, table, isActive } = gossip;
  const members = directory.members
    .filter(({ id, isSelf }) => !isSelf && gossip.keeps(id))
    .flatMap(({ id }): MemberGauges[] => {
      const measuredMs = clocks.measuredMs(id);
      if (!isActive && measuredMs === undefined) return [];
      const isHeard = nowMs - (measuredMs ?? -Infinity) < SILENT_REFRESHES * refreshMs;
      const sample = isActive ? table.get(id)?.sample : undefined;
      const recordAgeMs = sample?.value.lastRecordAgeMs ?? null;
      return [
        {
          id,
          isUp: isActive ? table.stateOf(id, nowMs) === 'fresh' : isHeard,
          clockOffsetMs: clocks.of(id)?.offsetMs ?? null,
          lastRecordAgeMs: sample && recordAgeMs !== null ? recordAgeMs + (nowMs - sample.atMs) : null,
        },
      ];
    });
  const failed = directory
    .departed()
    .filter(({ departed }) => departed?.state === 'failed')
    .map(({ member: { id } }) => ({ id, isUp: false, clockOffsetMs: null, lastRecordAgeMs: null }));
  const isDuplicate = nowMs - table.duplicateMs < SILENT_REFRESHES * refreshMs;
  return { members: [...members, ...failed].slice(0, MAX_MEMBERS), isDuplicate };
}
