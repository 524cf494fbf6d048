import type { MemberSelection } from '@porthole/contract';
import type { Invocation } from '../invocation.ts';

/** The members that `--role` and `--label` select; the node checks the values. */
export function memberSelection(invocation: Invocation): Pick<MemberSelection, 'role' | 'labels'> {
  const role = invocation.text('role');
  const labels = invocation.texts('label');
  return { ...(role !== undefined && { role }), ...(labels.length > 0 && { labels }) };
}
