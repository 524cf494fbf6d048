import type { HistogramBucket } from '@porthole/client';
import { useRef, useState } from 'preact/hooks';
import { preferences } from '../state/preferences.ts';
import type { View, ZoneName } from '../state/view.ts';
import { viewUrl } from '../state/view-url.ts';
import { formatCounted, formatMinute, formatSecond } from './format.ts';
import { useStore } from './hooks.ts';

interface CountChartProps {
  columns: readonly CountColumn[];
  range: ColumnRange;
  /** Link of a bar. */
  viewFor: (column: CountColumn) => View;
}

/** Height of the highest bar. */
const HEIGHT_PX = 64;

/** Minimum height, so that small counts stay visible. */
const MIN_PX = 2;

const TICKS = 5;

/** Errors and warnings as bars. One tab stop; arrow keys move between bars, Enter follows the link. */
export function CountChart({ columns, range, viewFor }: CountChartProps) {
  const zone = useStore(preferences.zone);
  const list = useRef<HTMLUListElement>(null);
  const [stop, setStop] = useState(columns.length - 1);
  const highest = Math.max(1, ...columns.map(({ errors, warnings }) => errors + warnings));
  const isEmpty = columns.every(({ errors, warnings }) => errors + warnings === 0);
  const press = (event: KeyboardEvent) => {
    const next = nextStop(event.key, stop, columns.length);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next);
    list.current?.querySelectorAll('a')[next]?.focus();
  };
  return (
    <figure class="count-chart">
      <figcaption class="sr-only">{chartSummary(columns, zone)}</figcaption>
      <div class="count-plot">
        <ul class="line count-bars" ref={list} onKeyDown={press}>
          {columns.map((column, index) => (
            <li key={column.startMs}>
              <a
                href={viewUrl(viewFor(column))}
                tabIndex={index === Math.min(stop, columns.length - 1) ? 0 : -1}
                onFocus={() => setStop(index)}
                aria-label={columnText(column, zone)}
                title={columnText(column, zone)}
              >
                <span class="bar-warnings" style={{ height: `${barHeight(column.warnings, highest)}px` }} />
                <span class="bar-errors" style={{ height: `${barHeight(column.errors, highest)}px` }} />
              </a>
            </li>
          ))}
        </ul>
        {isEmpty && (
          <p class="dim count-empty" aria-hidden="true">
            none
          </p>
        )}
      </div>
      <ChartAxis range={range} zone={zone} />
    </figure>
  );
}

function ChartAxis({ range, zone }: { range: ColumnRange; zone: ZoneName }) {
  return (
    <div class="faint count-axis" aria-hidden="true">
      {axisTicks(range, TICKS).map(({ timeMs, share }) => (
        <span key={timeMs} style={{ left: `${share * 100}%` }}>
          {formatMinute(timeMs, zone)}
        </span>
      ))}
      <span class="count-now">now</span>
    </div>
  );
}

function barHeight(count: number, highest: number): number {
  return count === 0 ? 0 : Math.max(MIN_PX, Math.round((count / highest) * HEIGHT_PX));
}

/** The tab stop after an arrow key. */
export function nextStop(key: string, stop: number, count: number): number | undefined {
  if (key === 'ArrowRight') return Math.min(count - 1, stop + 1);
  if (key === 'ArrowLeft') return Math.max(0, stop - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}

function columnText({ startMs, errors, warnings }: CountColumn, zone: ZoneName): string {
  return `${formatSecond(startMs, zone)}: ${formatCounted(errors, 'error')}, ${formatCounted(warnings, 'warning')}`;
}

/** The chart in words, for screen readers. */
function chartSummary(columns: readonly CountColumn[], zone: ZoneName): string {
  const { errors, warnings } = sumColumns(columns);
  const worst = worstColumn(columns);
  const most = worst ? `; most errors at ${formatSecond(worst.startMs, zone)}` : '';
  return `${formatCounted(errors, 'error')} and ${formatCounted(warnings, 'warning')}${most}`;
}

/** One bar: errors and warnings of a time bucket. */
export interface CountColumn {
  startMs: number;
  endMs: number;
  /** ERROR and FATAL. */
  errors: number;
  warnings: number;
}

export interface ColumnRange {
  fromMs: number;
  toMs: number;
  bucketMs: number;
}

/** A range aligned to buckets; the last one contains now. */
export function columnRange(nowMs: number, { spanMs, bucketMs }: { spanMs: number; bucketMs: number }): ColumnRange {
  const toMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  return { fromMs: toMs - spanMs, toMs, bucketMs };
}

/** Every bar of the range, including empty ones, which a response omits. */
export function countColumns(
  buckets: readonly HistogramBucket[],
  { fromMs, toMs, bucketMs }: ColumnRange,
): CountColumn[] {
  const columns = Array.from({ length: Math.ceil((toMs - fromMs) / bucketMs) }, (_, index) => {
    const startMs = fromMs + index * bucketMs;
    return { startMs, endMs: startMs + bucketMs, errors: 0, warnings: 0 };
  });
  for (const { startMs, counts } of buckets) {
    const column = columns[Math.floor((startMs - fromMs) / bucketMs)];
    if (!column) continue;
    column.errors += (counts.ERROR ?? 0) + (counts.FATAL ?? 0);
    column.warnings += counts.WARN ?? 0;
  }
  return columns;
}

interface CountTotals {
  errors: number;
  warnings: number;
}

export function sumColumns(columns: readonly CountColumn[]): CountTotals {
  return columns.reduce(
    (sum, { errors, warnings }) => ({ errors: sum.errors + errors, warnings: sum.warnings + warnings }),
    { errors: 0, warnings: 0 },
  );
}

/** The column with the most errors, the latest of equals; `null` if there are none. */
export function worstColumn(columns: readonly CountColumn[]): CountColumn | null {
  let worst: CountColumn | null = null;
  for (const column of columns) if (column.errors > 0 && column.errors >= (worst?.errors ?? 0)) worst = column;
  return worst;
}

/** Positions of the time labels below the bars, as fractions of the width, with space at the right end. */
export function axisTicks({ fromMs, toMs }: ColumnRange, count: number): { timeMs: number; share: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const share = index / count;
    return { timeMs: fromMs + share * (toMs - fromMs), share };
  });
}
