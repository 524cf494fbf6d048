import type { MemberSelection } from '@porthole/contract';
import { isSelected, type Peer } from '../fan-out/peers.ts';
import type { MemberSnapshot } from './snapshots/member-snapshot.ts';
import { SnapshotNode } from './snapshots/snapshot-node.ts';
import type { StateDeps } from './state-deps.ts';

/** A member of a response; one that left or failed has only its snapshot. */
export interface ChosenMember extends Peer {
  departed?: MemberSnapshot;
}

/**
 * The members a request selects, ordered by id: those to query, and those that left or failed. Every operation calls this once.
 * Throws MEMBER_NOT_FOUND for an unknown id.
 */
export function chooseMembers(
  { peers, directory }: Pick<StateDeps, 'peers' | 'directory'>,
  selection: MemberSelection = {},
): readonly ChosenMember[] {
  const departed = directory.departed();
  const departedIds = new Set(departed.map(({ member }) => member.id));
  const nodes = selection.nodes?.filter((name) => !departedIds.has(name));
  const selected = peers.select({ ...selection, ...(nodes && { nodes }) });
  const selectedIds = new Set(selected.map(({ member }) => member.id));
  const snapshots = departed
    .filter(({ member }) => isSelected(member, selection) && !selectedIds.has(member.id))
    .map((snapshot) => ({
      member: snapshot.member,
      state: new SnapshotNode(snapshot, peers.matchRegex),
      departed: snapshot,
    }));
  return [...selected, ...snapshots].sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
}
