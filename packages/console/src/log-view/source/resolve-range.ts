import type { TimeRange } from '../../state/view.ts';
import type { RowFilter } from './log-source.ts';

/** The range as a filter; an open end is omitted. */
export function resolveRange(range: TimeRange | null, nowMs: number): Pick<RowFilter, 'fromMs' | 'toMs'> {
  if (range === null) return {};
  if (range.kind === 'last') return { fromMs: nowMs - range.spanMs };
  const { fromMs, toMs } = range;
  return { ...(fromMs !== null && { fromMs }), ...(toMs !== null && { toMs }) };
}
