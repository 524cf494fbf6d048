import type { MemberReport } from '@porthole/client';

/** Whether a member gave everything that was asked of it. */
export function isComplete({ outcome, isPartial }: MemberReport): boolean {
  // One that stopped in order is not missing.
  return (outcome === 'ok' || outcome === 'left') && !isPartial;
}

/** What a member was asked for. */
export type RequestKind = 'page' | 'follow' | 'count';

/**
 * The last report of each member on each thing it was asked for. One that failed is told until the same thing succeeds:
 * that a member is followed again does not bring back the records it did not give.
 */
export class MemberReports {
  readonly #reports: Readonly<Record<RequestKind, Map<string, MemberReport>>> = {
    page: new Map(),
    follow: new Map(),
    count: new Map(),
  };

  /** All members with the worst that is known of each, in the order of ids. */
  note(request: RequestKind, reports: readonly MemberReport[]): MemberReport[] {
    for (const report of reports) this.#reports[request].set(report.id, report);
    const all = new Map<string, MemberReport>();
    for (const known of Object.values(this.#reports))
      for (const [id, report] of known) if ((all.get(id)?.outcome ?? 'ok') === 'ok') all.set(id, report);
    return [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
