import type { FieldSummary } from '@porthole/client';
import { absenceText, isDistinctMinimum } from '@porthole/contract';
import { isPartialCount } from '../../../log-view/chart/level-counts.ts';
import type { FieldsResult, TopResult } from '../../../log-view/source/log-source.ts';
import type { ZoneName } from '../../../state/view.ts';
import { formatCount, formatShortTime } from '../../../ui/format.ts';

/* The field list as texts. */

/** One line below a field. */
export interface FacetLine {
  kind: 'value' | 'others' | 'missing';
  /** Of lines of kind `value`. */
  value: string;
  text: string;
  /** `1,204`; `≥ 1,204` for a lower bound, `1,204+` if not everything was counted. */
  count: string;
  /** What the count means, if it is not exact. */
  title?: string;
  /** Of all records with the selection, 0 to 1. */
  share: number;
}

/** Values, those that are not listed together, and the records without the field. */
export function facetLines(top: TopResult): FacetLine[] {
  const { by, values, others, missing, distinct, isExact } = top;
  const more = isPartialCount(top) ? '+' : '';
  const all = values.reduce((sum, { count }) => sum + count, 0) + others + missing;
  const share = (count: number) => (all === 0 ? 0 : count / all);
  const lines: FacetLine[] = values.map(({ value, count, error }) => ({
    ...{ kind: 'value', value, text: value, share: share(count) },
    count: error === undefined ? `${formatCount(count)}${more}` : `≥ ${formatCount(count)}`,
    ...(error !== undefined && { title: `between ${formatCount(count)} and ${formatCount(count + error)}` }),
  }));
  if (others > 0) {
    const left = Math.max(1, distinct - values.length);
    const number = `${isExact ? '' : '~ '}${formatCount(left)}`;
    const text = `${number} other ${left === 1 ? 'value' : 'values'}`;
    lines.push({
      ...{ kind: 'others', value: '', text, share: share(others) },
      count: `${isExact || more ? '' : '≤ '}${formatCount(others)}${more}`,
      ...(!isExact && { title: 'estimated' }),
    });
  }
  if (missing > 0) {
    const text = `without ${by}`;
    lines.push({ kind: 'missing', value: '', text, count: `${formatCount(missing)}${more}`, share: share(missing) });
  }
  return lines;
}

/** `number · 16 values`; `≥ 16` if there may be many more, `~ 16` if they are estimated. */
export function fieldText(field: FieldSummary): string {
  const { types, distinct, isDistinctExact } = field;
  const mark = isDistinctMinimum(field) ? '≥ ' : isDistinctExact ? '' : '~ ';
  const count = `${mark}${formatCount(distinct)}`;
  return [...types.slice(0, 1), `${count} ${distinct === 1 ? 'value' : 'values'}`].join(' · ');
}

/** How many records the list is about: all of them, or a sample. */
export function examinedText(result: FieldsResult): string {
  const { records, isSample } = result;
  const more = isPartialCount(result) ? '+' : '';
  const count = `${formatCount(records)}${more} ${records === 1 && !more ? 'record' : 'records'}`;
  return isSample ? `Sample of ${count}` : count;
}

/** Why a list is empty. */
export function emptyText(result: Pick<TopResult, 'counted' | 'members'>): string {
  return absenceText('No record matches', { isComplete: !isPartialCount(result) });
}

/** What part was counted before the time was over; `null`: everything. */
export function partText(counted: TopResult['counted'], zone: ZoneName, nowMs: number): string | null {
  if (counted === null) return null;
  if (counted.toMs <= counted.fromMs) return 'Scan stopped (time budget)';
  const [from, to] = [counted.fromMs, counted.toMs].map((timeMs) => formatShortTime(timeMs, zone, nowMs));
  return `Scan stopped (time budget): only ${from} to ${to}`;
}

/** Fields whose name contains the typed text. */
export function filterFields(fields: readonly FieldSummary[], typed: string): FieldSummary[] {
  const wanted = typed.trim().toLowerCase();
  return fields.filter(({ name }) => name.toLowerCase().includes(wanted));
}
