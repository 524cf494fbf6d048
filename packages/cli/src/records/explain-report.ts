import type { MemberReport, MembershipState } from '@porthole/contract';

/** Whether something that should be there is not: a member that left in order is not expected to respond. */
export function isMissing({ outcome, isPartial }: Pick<MemberReport, 'outcome' | 'isPartial'>): boolean {
  return isPartial === true || (outcome !== 'ok' && outcome !== 'left');
}

/** Why a member's part is not in an answer. */
export function explainReport({ id, outcome, detail }: MemberReport): string {
  if (outcome === 'ok') return `${id}: ${detail}`;
  return `${id}: ${outcome}${detail === null ? '' : `: ${detail}`}`;
}

/** Why it is not sure who the members are. */
export function explainStale({ kind, detail, asOfMs }: MembershipState): string {
  const why = detail === null ? '' : ` (${detail})`;
  return `the registry (${kind}) does not answer${why}: these are the nodes it knew at ${new Date(asOfMs).toISOString()}`;
}
