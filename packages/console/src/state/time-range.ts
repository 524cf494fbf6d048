/** A relative range, or an absolute one; both ends may be open. */
export type TimeRange =
  | { kind: 'last'; spanMs: number }
  | { kind: 'fixed'; fromMs: number | null; toMs: number | null };

/** The range of pages that always have one. */
export const LAST_HOUR = { kind: 'last', spanMs: 3_600_000 } as const satisfies TimeRange;

const DAY_MS = 24 * 3_600_000;

/** Whether new records can fall into it. */
export function canFollow(range: TimeRange | null): boolean {
  return range?.kind !== 'fixed' || range.toMs === null;
}

/** The range as a filter; an open end is omitted. */
export function resolveRange(range: TimeRange | null, nowMs: number): { fromMs?: number; toMs?: number } {
  if (range === null) return {};
  if (range.kind === 'last') return { fromMs: nowMs - range.spanMs };
  const { fromMs, toMs } = range;
  return { ...(fromMs !== null && { fromMs }), ...(toMs !== null && { toMs }) };
}

/** Both ends of a range that is closed by now; without a start, what the default span covers. */
export function closedRange(range: TimeRange | null, nowMs: number): { fromMs: number; toMs: number } {
  const { fromMs, toMs = nowMs } = resolveRange(range ?? LAST_HOUR, nowMs);
  return { fromMs: fromMs ?? toMs - DAY_MS, toMs };
}
