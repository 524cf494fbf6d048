import type { MemberReport } from '@porthole/client';

/** Whether a member returned everything that was requested. */
export function isComplete({ outcome, isPartial }: MemberReport): boolean {
  // A member that left in order is not missing.
  return (outcome === 'ok' || outcome === 'left') && !isPartial;
}

/** The kind of request a member reported on. */
export type RequestKind = 'page' | 'follow' | 'count';

/**
 * The last report of each member for each kind of request. A failure stays until the same kind succeeds: a member that
 * is followed again has not returned the records it missed.
 */
export type MemberReports = Readonly<Record<RequestKind, ReadonlyMap<string, MemberReport>>>;

export const NO_REPORTS: MemberReports = { page: new Map(), follow: new Map(), count: new Map() };

export function addReports(known: MemberReports, kind: RequestKind, more: readonly MemberReport[]): MemberReports {
  return { ...known, [kind]: new Map([...known[kind], ...more.map((report) => [report.id, report] as const)]) };
}

/** All members by id, each with its worst report. */
export function worstReports(reports: MemberReports): MemberReport[] {
  const worst = new Map<string, MemberReport>();
  for (const known of Object.values(reports))
    for (const [id, report] of known) if ((worst.get(id)?.outcome ?? 'ok') === 'ok') worst.set(id, report);
  return [...worst.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
