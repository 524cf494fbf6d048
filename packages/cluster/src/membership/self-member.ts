import type { Member } from '@porthole/contract';
import { checkMemberId } from './member-id.ts';
import { readAddress } from './member-url.ts';

/** This node as other members see it. */
export type SelfMember = Omit<Member, 'isSelf'>;

/** Throws PARAMETER_INVALID if other members would reject it. */
export function selfMember({ id, role, node, url }: SelfMember): Member {
  return { id: checkMemberId(id), role, node, url: readAddress(url).url, isSelf: true };
}

export function byId(left: Member, right: Member): number {
  return left.id < right.id ? -1 : 1;
}
