import type { MemberSelection } from '@porthole/contract';
import { isSelected, type Peer } from '../fan-out/peers.ts';
import type { MemberWords } from './member-words.ts';
import type { StateParts } from './state-parts.ts';

export interface ChosenMembers {
  peers: readonly Peer[];
  gone: readonly MemberWords[];
}

/** The members a question is for, with those that are gone but left words. Throws MEMBER_NOT_FOUND for what is neither. */
export function chooseMembers(
  { peers, lastWords }: Pick<StateParts, 'peers' | 'lastWords'>,
  selection: MemberSelection,
): ChosenMembers {
  const left = lastWords.gone();
  const goneIds = new Set(left.map(({ member }) => member.id));
  const nodes = selection.nodes?.filter((name) => !goneIds.has(name));
  return {
    peers: peers.select({ ...selection, ...(nodes && { nodes }) }),
    gone: left.filter(({ member }) => isSelected(member, selection)),
  };
}
