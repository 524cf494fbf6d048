import type { MemberSelection } from '@porthole/contract';
import { isSelected, type Peer } from '../fan-out/peers.ts';
import type { MemberWords } from './member-words.ts';
import { SnapshotNode } from './snapshot-node.ts';
import type { StateParts } from './state-parts.ts';

/** A member that takes part in an answer; one that has left or failed by its snapshot. */
export interface ChosenMember extends Peer {
  departed?: MemberWords;
}

/**
 * The members a request is for, ordered by id: those to ask, and those that have left or failed. Every operation takes
 * its members from here, once. Throws MEMBER_NOT_FOUND for an id that is neither.
 */
export function chooseMembers(
  { peers, directory }: Pick<StateParts, 'peers' | 'directory'>,
  selection: MemberSelection = {},
): readonly ChosenMember[] {
  const departed = directory.departed();
  const departedIds = new Set(departed.map(({ member }) => member.id));
  const nodes = selection.nodes?.filter((name) => !departedIds.has(name));
  const asked = peers.select({ ...selection, ...(nodes && { nodes }) });
  const askedIds = new Set(asked.map(({ member }) => member.id));
  const kept = departed
    .filter(({ member }) => isSelected(member, selection) && !askedIds.has(member.id))
    .map((words) => ({ member: words.member, state: new SnapshotNode(words, peers.matchRegex), departed: words }));
  return [...asked, ...kept].sort((a, b) => (a.member.id < b.member.id ? -1 : 1));
}
