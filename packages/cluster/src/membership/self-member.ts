import type { Member } from '@porthole/contract';
import { checkMemberId } from './member-id.ts';
import { readAddress } from './member-url.ts';

/** This node, as the others are to know it. */
export type SelfMember = Omit<Member, 'isSelf'>;

/** Throws PARAMETER_INVALID where others would have to refuse it. */
export function selfMember({ id, role, node, url }: SelfMember): Member {
  return { id: checkMemberId(id), role, node, url: readAddress(url).url, isSelf: true };
}

export function byId(left: Member, right: Member): number {
  return left.id < right.id ? -1 : 1;
}
