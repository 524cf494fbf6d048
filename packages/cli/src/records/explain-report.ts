import type { MemberReport, MembershipState } from '@porthole/contract';

/** Whether data is missing: a member that left cleanly is not expected to respond. */
export function isMissing({ outcome, isPartial }: Pick<MemberReport, 'outcome' | 'isPartial'>): boolean {
  return isPartial === true || (outcome !== 'ok' && outcome !== 'left');
}

/** Why the records of a member are missing. */
export function explainReport({ id, outcome, detail }: MemberReport): string {
  if (outcome === 'ok') return `${id}: ${detail}`;
  return `${id}: ${outcome}${detail === null ? '' : `: ${detail}`}`;
}

/** Why the list of members may be outdated. */
export function explainStale({ kind, detail, asOfMs }: MembershipState): string {
  const why = detail === null ? '' : ` (${detail})`;
  return `the registry (${kind}) is unavailable${why}; using its members as of ${new Date(asOfMs).toISOString()}`;
}
