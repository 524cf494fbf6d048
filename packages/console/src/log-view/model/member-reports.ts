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
export class MemberReports {
  readonly #reports: Readonly<Record<RequestKind, Map<string, MemberReport>>> = {
    page: new Map(),
    follow: new Map(),
    count: new Map(),
  };

  /** All members by id, each with its worst report. */
  note(request: RequestKind, reports: readonly MemberReport[]): MemberReport[] {
    for (const report of reports) this.#reports[request].set(report.id, report);
    const all = new Map<string, MemberReport>();
    for (const known of Object.values(this.#reports))
      for (const [id, report] of known) if ((all.get(id)?.outcome ?? 'ok') === 'ok') all.set(id, report);
    return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
