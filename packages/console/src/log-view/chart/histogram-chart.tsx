import type { Level } from '@porthole/client';
import { absenceText, LEVELS } from '@porthole/contract';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { eventClass, type ShownEvent, spacedEvents } from '../../events/event-text.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatCount, formatMinute, formatSecond, formatShortTime, formatSpan } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
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
  /** What happened, marked above the bars. */
  events: readonly ShownEvent[];
  /** Zooms to a range. */
  onZoom: (span: ChartSpan) => void;
  /** Back to the range before. */
  onZoomOut: () => void;
  onGo: (timeMs: number) => void;
}

/** Size of the view box; it is stretched to the available space. */
const WIDTH = 1000;

/** Of the lane of all records, and of that of errors. */
const LANES = { all: 100, errors: 50 } as const;

const TICKS = 5;

/** Of the width, that a mark covers. */
const FLAG_SHARE = 0.02;

/** In a shorter range, seconds tell the ticks apart. */
const SECONDS_MS = 10 * 60_000;

interface ChartDrawingProps {
  histogram: HistogramResult;
  bars: readonly ChartBar[];
  span: ChartSpan;
  chosen: { from: number; to: number } | null;
  cursor: number | null;
}

/**
 * Records over time, with a lane of their own for errors, and what happened meanwhile. Dragging, or Shift and arrow
 * keys, selects a range; a click, or Space, goes to a time; a double click, or Backspace, goes back.
 */
export function HistogramChart(props: HistogramChartProps) {
  const { histogram, requested, minLevel, log, zone, isCounting, events, onZoom, onZoomOut, onGo } = props;
  const nowMs = Date.now();
  const span = useMemo(() => chartSpan(histogram, { requested, log, nowMs: Date.now() }), [histogram, requested, log]);
  const bars = useMemo(() => chartBars(histogram, minLevel), [histogram, minLevel]);
  const { chosen, begin, move, end, cursor, key } = useChoosing(span, { onZoom, onZoomOut, onGo });
  const isPartial = isPartialCount(histogram);
  if (!span)
    return (
      <p class="dim line chart-empty">
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
      <span class="faint chart-lane" aria-hidden="true">
        all
      </span>
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
        aria-description="Arrow keys move, Shift and arrow keys select a range, Enter zooms to it, Backspace goes back, Space goes to the time"
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerLeave={move}
        onDblClick={onZoomOut}
        onKeyDown={key}
      >
        <ChartDrawing histogram={histogram} bars={bars} span={span} chosen={chosen} cursor={cursor} />
      </div>
      <span class="faint chart-lane is-errors" aria-hidden="true">
        err
      </span>
      {spacedEvents(events, (span.toMs - span.fromMs) * FLAG_SHARE).map((event) => (
        <ChartFlag key={event.key} event={event} span={span} zone={zone} onGo={onGo} />
      ))}
      {at === null ? null : (
        <p class="small chart-note" aria-hidden="true">
          {at} · {counts} · {formatSpan(histogram.bucketMs)} per bar
        </p>
      )}
      <div class="faint chart-axis" aria-hidden="true">
        {Array.from({ length: TICKS }, (_, index) => (
          <span key={index}>{tickText(timeAtFraction(span, index / (TICKS - 1)), span, zone)}</span>
        ))}
      </div>
    </div>
  );
}

/** As short as tells the ticks apart: seconds, minutes, or days. */
function tickText(timeMs: number, { fromMs, toMs }: ChartSpan, zone: ZoneName): string {
  if (toMs - fromMs < SECONDS_MS) return formatSecond(timeMs, zone);
  return toMs - fromMs < 86_400_000 ? formatMinute(timeMs, zone) : formatShortTime(timeMs, zone, toMs);
}

function ChartFlag({
  event,
  span,
  zone,
  onGo,
}: {
  event: ShownEvent;
  span: ChartSpan;
  zone: ZoneName;
  onGo: (timeMs: number) => void;
}) {
  const { timeMs, node, title, detail, icon } = event;
  if (timeMs < span.fromMs || timeMs > span.toMs) return null;
  const text = `${formatSecond(timeMs, zone)} ${node} ${title}${detail ? `\n${detail}` : ''}`;
  return (
    <button
      type="button"
      class={`flag chart-flag ${eventClass(event)}`}
      style={{ '--at': fractionOfTime(span, timeMs) }}
      aria-label={text}
      data-tip={text}
      onClick={() => onGo(timeMs)}
    >
      <Icon name={icon} />
    </button>
  );
}

interface Chosen {
  from: number;
  to: number;
}

/** Cursor and selection, by pointer or keyboard. */
function useChoosing(
  span: ChartSpan | null,
  { onZoom, onZoomOut, onGo }: Pick<HistogramChartProps, 'onZoom' | 'onZoomOut' | 'onGo'>,
) {
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
    else if (event.key === 'Backspace') onZoomOut();
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

/** All bars as three paths: other records and warnings in one lane, errors in another. */
function ChartDrawing({ histogram, bars, span, chosen, cursor }: ChartDrawingProps) {
  const largest = Math.max(0, ...bars.map(barTotal));
  const mostErrors = Math.max(0, ...bars.map(({ errors }) => errors));
  const paths = { others: '', warnings: '', errors: '' };
  for (const bar of bars) {
    const from = fractionOfTime(span, bar.startMs) * WIDTH;
    const width = fractionOfTime(span, bar.endMs) * WIDTH - from;
    if (width <= 0) continue;
    const add = (kind: keyof typeof paths, bottom: number, height: number) => {
      if (height > 0)
        paths[kind] +=
          `M${round(from + width * 0.09)} ${round(bottom)}v${round(-height)}h${round(width * 0.82)}v${round(height)}z`;
    };
    const whole = barHeight(barTotal(bar), largest) * LANES.all;
    // A few warnings stay visible below a high bar.
    const warned = bar.warnings === 0 ? 0 : Math.max(4, (bar.warnings / barTotal(bar)) * whole);
    add('others', LANES.all - warned - (warned > 0 ? 2 : 0), Math.max(0, whole - warned));
    add('warnings', LANES.all, warned);
    add('errors', LANES.errors, Math.max(bar.errors === 0 ? 0 : 4, barHeight(bar.errors, mostErrors) * LANES.errors));
  }
  return (
    <>
      <svg class="chart-all" viewBox={`0 0 ${WIDTH} ${LANES.all}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="chart-others" d={paths.others} />
        <path class="chart-warnings" d={paths.warnings} />
      </svg>
      <svg class="chart-err" viewBox={`0 0 ${WIDTH} ${LANES.errors}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="chart-errors" d={paths.errors} />
      </svg>
      {uncountedRanges(histogram, span).map((part) => (
        <i key={part.from} class="chart-uncounted hatched" title="not scanned" style={spanStyle(part)} />
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
