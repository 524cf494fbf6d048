import type { Level } from '@porthole/client';
import { absenceText, LEVELS } from '@porthole/contract';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ZoneName } from '../../state/view.ts';
import { formatCount, formatSecond, formatShortTime, formatSpan } from '../../ui/format.ts';
import { type HistogramResult, isPartialCount } from '../source/log-source.ts';

/** A shorter drag counts as a click. */
const CLICK_PX = 4;

/** Arrow key steps across the whole chart. */
const KEY_STEPS = 60;

interface HistogramChartProps {
  histogram: HistogramResult;
  requested: ChartBounds['requested'];
  /** The lowest level shown. */
  minLevel: Level | null;
  log: ChartBounds['log'];
  zone: ZoneName;
  isCounting: boolean;
  /** Zooms to a range. */
  onZoom: (span: ChartSpan) => void;
  onGo: (timeMs: number) => void;
}

/** Size of the view box; it is stretched to the available space. */
const WIDTH = 1000;

const HEIGHT = 100;

interface ChartDrawingProps {
  histogram: HistogramResult;
  bars: readonly ChartBar[];
  span: ChartSpan;
  chosen: { from: number; to: number } | null;
  cursor: number | null;
}

/**
 * Records over time by level. Dragging, or Shift and arrow keys, selects a range; a click, or Space, goes to a time.
 */
export function HistogramChart({
  histogram,
  requested,
  minLevel,
  log,
  zone,
  isCounting,
  onZoom,
  onGo,
}: HistogramChartProps) {
  const nowMs = Date.now();
  const span = useMemo(() => chartSpan(histogram, { requested, log, nowMs: Date.now() }), [histogram, requested, log]);
  const bars = useMemo(() => chartBars(histogram, minLevel), [histogram, minLevel]);
  const { chosen, begin, move, end, cursor, key } = useChoosing(span, { onZoom, onGo });
  const isPartial = isPartialCount(histogram);
  if (!span)
    return (
      <p class="chart-empty">
        {isCounting ? 'Counting…' : absenceText('No timestamped records', { isComplete: !isPartial })}
      </p>
    );
  const bar = cursor === null ? undefined : barAt(bars, timeAtFraction(span, cursor));
  const at = cursor === null ? null : formatSecond(timeAtFraction(span, cursor), zone);
  const counts = bar
    ? `${formatCount(bar.errors)} errors, ${formatCount(bar.warnings)} warnings, ${formatCount(bar.others)} others`
    : 'no records';
  const all = bars.reduce((sum, each) => sum + barTotal(each), 0);
  const errors = bars.reduce((sum, each) => sum + each.errors, 0);
  const total = `${formatCount(all)}${isPartial ? '+' : ''} records`;
  const summary = `${total}, ${formatCount(errors)} of them errors, from ${formatShortTime(span.fromMs, zone, nowMs)} to ${formatShortTime(span.toMs, zone, nowMs)}`;
  return (
    <div class={`chart ${isCounting ? 'is-counting' : ''}`}>
      <div
        class="chart-area"
        role="slider"
        tabIndex={0}
        aria-label="Records over time"
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((cursor ?? 0) * 100)}
        aria-valuetext={at === null ? summary : `${at}: ${counts}`}
        aria-description="Arrow keys move, Shift and arrow keys select a range, Enter zooms to it, Space goes to the time"
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerLeave={move}
        onKeyDown={key}
      >
        <ChartDrawing histogram={histogram} bars={bars} span={span} chosen={chosen} cursor={cursor} />
      </div>
      <p class="chart-scale">
        <span>{formatShortTime(span.fromMs, zone, nowMs)}</span>
        <span title={isPartial ? 'Partial count: there may be more' : undefined}>
          {at === null ? `${total} · ${formatSpan(histogram.bucketMs)} per bar` : `${at} · ${counts}`}
        </span>
        <span>{formatShortTime(span.toMs, zone, nowMs)}</span>
      </p>
    </div>
  );
}

interface Chosen {
  from: number;
  to: number;
}

/** Cursor and selection, by pointer or keyboard. */
function useChoosing(span: ChartSpan | null, { onZoom, onGo }: Pick<HistogramChartProps, 'onZoom' | 'onGo'>) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const down = useRef<{ x: number; fraction: number } | null>(null);
  useEffect(() => setChosen(null), [span]);

  const zoom = (part: Chosen) => {
    if (!span) return;
    const [from, to] = part.from < part.to ? [part.from, part.to] : [part.to, part.from];
    onZoom({
      fromMs: timeAtFraction(span, from),
      toMs: Math.max(timeAtFraction(span, to), timeAtFraction(span, from) + 1),
    });
  };
  const begin = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    down.current = { x: event.clientX, fraction: fractionAt(event) };
  };
  const move = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const fraction = fractionAt(event);
    if (down.current && Math.abs(event.clientX - down.current.x) > CLICK_PX)
      setChosen({ from: down.current.fraction, to: fraction });
    setCursor(event.type === 'pointerleave' && !down.current ? null : fraction);
  };
  const end = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const from = down.current;
    down.current = null;
    if (!from || !span) return;
    if (Math.abs(event.clientX - from.x) > CLICK_PX) zoom({ from: from.fraction, to: fractionAt(event) });
    else onGo(timeAtFraction(span, from.fraction));
    setChosen(null);
  };
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      PageUp: -10,
      PageDown: 10,
      Home: -KEY_STEPS,
      End: KEY_STEPS,
    };
    const step = steps[event.key];
    const at = cursor ?? 1;
    if (step !== undefined) {
      const to = Math.min(1, Math.max(0, at + step / KEY_STEPS));
      setChosen(event.shiftKey ? { from: chosen?.from ?? at, to } : null);
      setCursor(to);
    } else if (event.key === 'Enter') zoom(chosen ?? { from: at - 2 / KEY_STEPS, to: at + 2 / KEY_STEPS });
    else if (event.key === ' ' && span) onGo(timeAtFraction(span, at));
    else if (event.key === 'Escape' && chosen) setChosen(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { chosen, cursor, begin, move, end, key };
}

function fractionAt(event: PointerEvent & { currentTarget: HTMLElement }): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - left) / width));
}

/** All bars as three paths: other records, warnings and errors. */
function ChartDrawing({ histogram, bars, span, chosen, cursor }: ChartDrawingProps) {
  const largest = Math.max(0, ...bars.map(barTotal));
  const kinds = ['others', 'warnings', 'errors'] as const;
  const paths = { others: '', warnings: '', errors: '' };
  for (const bar of bars) {
    const from = fractionOfTime(span, bar.startMs) * WIDTH;
    const width = fractionOfTime(span, bar.endMs) * WIDTH - from;
    if (width <= 0) continue;
    const height = barHeight(barTotal(bar), largest) * HEIGHT;
    let top = HEIGHT;
    // Errors are at the bottom, where a few of them stay visible below a high bar.
    for (const kind of ['errors', 'warnings', 'others'] as const) {
      const share = bar[kind] === 0 ? 0 : Math.max(3, (bar[kind] / barTotal(bar)) * height);
      if (share === 0) continue;
      paths[kind] +=
        `M${round(from + width * 0.08)} ${round(top)}v${round(-share)}h${round(width * 0.84)}v${round(share)}z`;
      top -= share;
    }
  }
  return (
    <>
      <svg viewBox={`0 -8 ${WIDTH} ${HEIGHT + 8}`} preserveAspectRatio="none" aria-hidden="true">
        {kinds.map((kind) => (
          <path key={kind} class={`chart-${kind}`} d={paths[kind]} />
        ))}
      </svg>
      {uncountedRanges(histogram, span).map((part) => (
        <i key={part.from} class="chart-uncounted" title="not scanned" style={spanStyle(part)} />
      ))}
      {chosen ? <i class="chart-chosen" style={spanStyle(ordered(chosen))} /> : null}
      {cursor === null ? null : <i class="chart-cursor" style={{ left: `${cursor * 100}%` }} />}
    </>
  );
}

function ordered({ from, to }: { from: number; to: number }) {
  return from < to ? { from, to } : { from: to, to: from };
}

function spanStyle({ from, to }: { from: number; to: number }) {
  return { left: `${from * 100}%`, width: `${(to - from) * 100}%` };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/* Converts counts per bucket to bars, and positions on the chart to times. Widths and heights are fractions. */

interface ChartSpan {
  fromMs: number;
  toMs: number;
}

interface ChartBar {
  startMs: number;
  endMs: number;
  errors: number;
  warnings: number;
  others: number;
}

/** Part of the chart that was not counted, as fractions of its width. */
interface Uncounted {
  from: number;
  to: number;
}

/** Limits of the chart besides its counts. */
interface ChartBounds {
  requested: { fromMs?: number | undefined; toMs?: number | undefined };
  /** Time span of the whole log, if known; it may exceed the counted part. */
  log: { firstMs: number | null; lastMs: number | null } | null;
  nowMs: number;
}

/** The time span of the chart: the requested range if it is bounded, otherwise the log as far as known. */
export function chartSpan(
  { buckets, bucketMs }: HistogramResult,
  { requested, log, nowMs }: ChartBounds,
): ChartSpan | null {
  const first = buckets[0];
  const last = buckets.at(-1);
  const starts = [first?.startMs, log?.firstMs ?? undefined].filter((timeMs) => timeMs !== undefined);
  const ends = [last && last.startMs + bucketMs, log?.lastMs ?? undefined].filter((timeMs) => timeMs !== undefined);
  if (starts.length === 0 || ends.length === 0) return null;
  const fromMs = requested.fromMs ?? Math.min(...starts);
  const toMs = requested.toMs ?? (requested.fromMs === undefined ? Math.max(...ends) : nowMs);
  return toMs <= fromMs ? null : { fromMs, toMs };
}

/** Only levels that are shown; all levels are counted. */
export function chartBars({ buckets, bucketMs }: HistogramResult, minLevel: Level | null = null): ChartBar[] {
  const shown = minLevel === null ? null : LEVELS.slice(LEVELS.indexOf(minLevel));
  return buckets.map(({ startMs, counts }) => {
    const of = (level: Level | 'NONE') =>
      shown === null || shown.some((other) => other === level) ? (counts[level] ?? 0) : 0;
    const others = of('INFO') + of('DEBUG') + of('TRACE') + of('NONE');
    return { startMs, endMs: startMs + bucketMs, errors: of('FATAL') + of('ERROR'), warnings: of('WARN'), others };
  });
}

export function fractionOfTime({ fromMs, toMs }: ChartSpan, timeMs: number): number {
  return Math.min(1, Math.max(0, (timeMs - fromMs) / (toMs - fromMs)));
}

export function timeAtFraction({ fromMs, toMs }: ChartSpan, fraction: number): number {
  return Math.round(fromMs + Math.min(1, Math.max(0, fraction)) * (toMs - fromMs));
}

/** Square root scale: a few records next to thousands stay visible. */
export function barHeight(count: number, largest: number): number {
  return largest === 0 || count === 0 ? 0 : Math.sqrt(count / largest);
}

function barTotal({ errors, warnings, others }: ChartBar): number {
  return errors + warnings + others;
}

/** The parts outside of the counted range. */
export function uncountedRanges({ counted }: Pick<HistogramResult, 'counted'>, span: ChartSpan): Uncounted[] {
  if (!counted) return [];
  const from = fractionOfTime(span, counted.fromMs);
  const to = fractionOfTime(span, counted.toMs);
  return [
    { from: 0, to: from },
    { from: to, to: 1 },
  ].filter((part) => part.to > part.from);
}

/** The bar at a time; `undefined` if that time was not counted. */
export function barAt(bars: readonly ChartBar[], timeMs: number): ChartBar | undefined {
  return bars.find(({ startMs, endMs }) => timeMs >= startMs && timeMs < endMs);
}
