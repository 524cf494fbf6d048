import type { MemberSelection } from '@porthole/contract';

/** What of a question is a time. */
interface TimedQuery extends MemberSelection {
  fromMs?: number;
  toMs?: number;
  newSinceMs?: number;
}

/** The question as it is put to one member: in the times of its clock, without who else is asked. */
export function correctedQuery<Q extends TimedQuery>(request: Q, offsetMs: number): Omit<Q, keyof MemberSelection> {
  const { nodes: _nodes, role: _role, ...query } = request;
  const { fromMs, toMs, newSinceMs } = request;
  return {
    ...query,
    ...(fromMs !== undefined && { fromMs: fromMs + offsetMs }),
    ...(toMs !== undefined && { toMs: toMs + offsetMs }),
    ...(newSinceMs !== undefined && { newSinceMs: newSinceMs + offsetMs }),
  };
}
