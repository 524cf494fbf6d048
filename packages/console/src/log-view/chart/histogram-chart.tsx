import type { Level } from '@porthole/client';
import { absenceText, LEVELS } from '@porthole/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { eventClass, type ShownEvent, spacedEvents } from '../../events/event-text.ts';
import type { ZoneName } from '../../state/view.ts';
import {
  formatCount,
  formatCounted,
  formatDate,
  formatMinute,
  formatSecond,
  formatShortTime,
  formatSpan,
} from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { type HistogramResult, isPartialCount } from '../source/log-source.ts';

/** A shorter drag counts as a click. */
const CLICK_PX = 4;

/** Arrow key steps across the whole chart. */
const KEY_STEPS = 60;

interface HistogramChartProps {
  histogram: HistogramResult;
  requested: ChartBounds['requested'];
  minLevel: Level | null;
  log: ChartBounds['log'];
  zone: ZoneName;
  isCounting: boolean;
  /** What the bars are split by; `null`: warnings and others. */
  parts: readonly ChartPart[] | null;
  /** What happened, marked above the bars. */
  events: readonly ShownEvent[];
  eventUrl: (timeMs: number) => string;
  onZoom: (span: ChartSpan) => void;
  /** Back to the range before. */
  onZoomOut: () => void;
  onGo: (timeMs: number) => void;
  /** Says what happened in a range. */
  onExplain: (span: ChartSpan) => void;
  children?: ComponentChildren;
}

/** Size of the view box; it is stretched to the available space. */
const WIDTH = 1000;

/** Heights in the view box: the lane of all records, that of errors, and both with a gap between them. */
const LANES = { all: 100, errors: 60, both: 175 } as const;

const TICKS = 5;

/** The distance of marks that do not cover each other; the chart is about as wide as the window. */
const FLAG_PX = 24;

/** In a shorter range, seconds tell the ticks apart. */
const SECONDS_MS = 10 * 60_000;

const DAY_MS = 86_400_000;

/** What a few bars consist of: warnings below others, unless they are split by something else. */
const LEVEL_COLOURS = ['var(--warn-fill)'];

const OTHERS_COLOUR = 'var(--chart)';

interface ChartDrawingProps {
  histogram: HistogramResult;
  /** From the lowest part of a bar up, without the others. */
  colours: readonly string[];
  bars: readonly ChartBar[];
  span: ChartSpan;
  chosen: Section | null;
  cursor: number | null;
}

/**
 * Records over time, with a lane of their own for errors, and what happened meanwhile. Dragging, or Shift and arrow
 * keys and Enter, zooms to a range; a click, or Space, goes to a time; a double click, or Backspace, goes back.
 */
export function HistogramChart(props: HistogramChartProps) {
  const { histogram, requested, minLevel, log, zone, isCounting, parts, events, onZoomOut } = props;
  const nowMs = Date.now();
  const span = useMemo(() => chartSpan(histogram, { requested, log, nowMs: Date.now() }), [histogram, requested, log]);
  const bars = useMemo(() => chartBars(histogram, { minLevel, parts }), [histogram, minLevel, parts]);
  const { chosen, begin, move, end, cursor, key } = useChoosing(span, props);
  const isPartial = isPartialCount(histogram);
  if (!span)
    return (
      <p class="flex dim line chart-empty">
        {isCounting ? 'Counting…' : absenceText('No timestamped records', { isComplete: !isPartial })}
      </p>
    );
  const bar = cursor === null ? undefined : barAt(bars, timeAtFraction(span, cursor));
  const at = cursor === null ? null : formatSecond(timeAtFraction(span, cursor), zone);
  const counts = bar ? barText(bar, parts) : 'no records';
  const all = bars.reduce((sum, each) => sum + barTotal(each), 0);
  const errors = bars.reduce((sum, each) => sum + each.errors, 0);
  const total = `${formatCount(all)}${isPartial ? '+' : ''} records`;
  const summary = `${total}, ${formatCount(errors)} of them errors, from ${formatShortTime(span.fromMs, zone, nowMs)} to ${formatShortTime(span.toMs, zone, nowMs)}`;
  return (
    <div class={`line chart ${isCounting ? 'is-counting' : ''}`}>
      {props.children}
      <div class="chart-plot">
        <span class="mono faint chart-lane" aria-hidden="true">
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
          aria-description="Arrow keys move, Shift and arrow keys select a range, Enter zooms to it, i says what happened in it, Backspace goes back, Space goes to the time"
          onPointerDown={begin}
          onPointerMove={move}
          onPointerUp={end}
          onPointerLeave={move}
          onDblClick={onZoomOut}
          onKeyDown={key}
        >
          <ChartDrawing
            {...{ histogram, bars, span, chosen, cursor }}
            colours={parts ? parts.map(({ colour }) => colour) : LEVEL_COLOURS}
          />
        </div>
        <span class="mono faint chart-lane is-errors" aria-hidden="true">
          err
        </span>
        {spacedEvents(events, ((span.toMs - span.fromMs) * FLAG_PX) / innerWidth).map((event) => (
          <ChartFlag key={event.key} event={event} span={span} zone={zone} href={props.eventUrl(event.timeMs)} />
        ))}
      </div>
      {at === null ? null : (
        <p class="small cut chart-note" aria-hidden="true">
          {at} · {counts} · {formatSpan(histogram.bucketMs)} per bar
        </p>
      )}
      <div class="flex mono faint chart-axis" aria-hidden="true">
        {Array.from({ length: TICKS }, (_, index) => (
          <span key={index}>{tickText(timeAtFraction(span, index / (TICKS - 1)), span, zone)}</span>
        ))}
      </div>
    </div>
  );
}

/** As short as distinguishes the ticks: seconds, minutes, or days. */
function tickText(timeMs: number, { fromMs, toMs }: ChartSpan, zone: ZoneName): string {
  const spanMs = toMs - fromMs;
  if (spanMs < SECONDS_MS) return formatSecond(timeMs, zone);
  if (spanMs < DAY_MS) return formatMinute(timeMs, zone);
  return spanMs < TICKS * DAY_MS ? formatShortTime(timeMs, zone, Date.now()) : formatDate(timeMs, zone);
}

function ChartFlag({ event, span, zone, href }: { event: ShownEvent; span: ChartSpan; zone: ZoneName; href: string }) {
  const { timeMs, node, title, detail, icon } = event;
  if (timeMs < span.fromMs || timeMs > span.toMs) return null;
  const text = `${formatSecond(timeMs, zone)} ${node} ${title}${detail ? `\n${detail}` : ''}`;
  return (
    <a
      class={`flag chart-flag ${eventClass(event)}`}
      style={{ '--at': fractionOfTime(span, timeMs) }}
      aria-label={text}
      data-tip={text}
      href={href}
    >
      <Icon name={icon} />
    </a>
  );
}

/** Cursor and selection, by pointer or keyboard. */
function useChoosing(
  span: ChartSpan | null,
  { onZoom, onZoomOut, onGo, onExplain }: Pick<HistogramChartProps, 'onZoom' | 'onZoomOut' | 'onGo' | 'onExplain'>,
) {
  const [chosen, setChosen] = useState<Section | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const down = useRef<{ x: number; fraction: number } | null>(null);
  useEffect(() => setChosen(null), [span]);

  const choose = (part: Section, act: (span: ChartSpan) => void) => {
    if (!span) return;
    const [fromMs, toMs] = Object.values(ordered(part)).map((fraction) => timeAtFraction(span, fraction));
    if (fromMs !== undefined && toMs !== undefined) act({ fromMs, toMs: Math.max(toMs, fromMs + 1) });
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
    if (Math.abs(event.clientX - from.x) > CLICK_PX) choose({ from: from.fraction, to: fractionAt(event) }, onZoom);
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
    } else if (event.key === 'Enter' || event.key === 'i')
      choose(chosen ?? { from: at - 2 / KEY_STEPS, to: at + 2 / KEY_STEPS }, event.key === 'i' ? onExplain : onZoom);
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

/** All bars as one path for each of their parts; errors have a lane of their own. */
function ChartDrawing({ histogram, colours, bars, span, chosen, cursor }: ChartDrawingProps) {
  const largest = Math.max(0, ...bars.map(barTotal));
  const mostErrors = Math.max(0, ...bars.map(({ errors }) => errors));
  const paths = [...colours, OTHERS_COLOUR].map(() => '');
  let errors = '';
  for (const bar of bars) {
    const from = fractionOfTime(span, bar.startMs) * WIDTH;
    const width = fractionOfTime(span, bar.endMs) * WIDTH - from;
    if (width <= 0) continue;
    const box = (bottom: number, height: number) =>
      `M${round(from + width * 0.09)} ${round(bottom)}v${round(-height)}h${round(width * 0.82)}v${round(height)}z`;
    const whole = barHeight(barTotal(bar), largest) * LANES.all;
    let bottom = LANES.all;
    for (const [index, height] of stackHeights(bar.counts, whole).entries()) {
      if (height > 0) paths[index] += box(bottom, height);
      bottom -= height > 0 ? height + PART_GAP : 0;
    }
    if (bar.errors > 0)
      errors += box(LANES.both, Math.max(LEAST_HEIGHT, barHeight(bar.errors, mostErrors) * LANES.errors));
  }
  return (
    <>
      <svg viewBox={`0 0 ${WIDTH} ${LANES.both}`} preserveAspectRatio="none" aria-hidden="true">
        {paths.map((path, index) => (
          <path key={index} style={{ fill: colours[index] ?? OTHERS_COLOUR }} d={path} />
        ))}
        <path style={{ fill: 'var(--err-fill)' }} d={errors} />
      </svg>
      {uncountedRanges(histogram, span).map((part) => (
        <i key={part.from} class="chart-mark hatched" title="not scanned" style={spanStyle(part)} />
      ))}
      {chosen ? <i class="chart-mark chart-chosen" style={spanStyle(ordered(chosen))} /> : null}
      {cursor === null ? null : <i class="chart-mark chart-cursor" style={{ left: `${cursor * 100}%` }} />}
    </>
  );
}

function ordered({ from, to }: Section) {
  return from < to ? { from, to } : { from: to, to: from };
}

function spanStyle({ from, to }: Section) {
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

/** One of the values that bars are split by. */
export interface ChartPart {
  name: string;
  /** A colour of the theme. */
  colour: string;
  counts: readonly { startMs: number; count: number }[];
}

interface ChartBar {
  startMs: number;
  endMs: number;
  errors: number;
  /** Records of each part, the last of them the others; without parts, warnings and others. */
  counts: readonly number[];
}

/** A part of the chart, as fractions of its width. */
interface Section {
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
export function chartBars(
  { buckets, bucketMs }: HistogramResult,
  { minLevel = null, parts = null }: { minLevel?: Level | null; parts?: readonly ChartPart[] | null } = {},
): ChartBar[] {
  const shown = minLevel === null ? null : LEVELS.slice(LEVELS.indexOf(minLevel));
  const firstMs = buckets[0]?.startMs ?? 0;
  // Clocks are corrected anew with every count: a bucket belongs to the bar that is nearest.
  const place = (startMs: number) => Math.round((startMs - firstMs) / bucketMs);
  const placed = parts?.map(({ counts }) => new Map(counts.map(({ startMs, count }) => [place(startMs), count])));
  return buckets.map(({ startMs, counts }) => {
    const count = (levels: readonly (Level | 'NONE')[]) =>
      levels
        .filter((level) => shown === null || shown.some((other) => other === level))
        .reduce((sum, level) => sum + (counts[level] ?? 0), 0);
    const own = placed?.map((part) => part.get(place(startMs)) ?? 0) ?? [count(['WARN'])];
    const all = count([...LEVELS, 'NONE']);
    const others = Math.max(0, all - own.reduce((sum, part) => sum + part, 0));
    return { startMs, endMs: startMs + bucketMs, errors: count(['FATAL', 'ERROR']), counts: [...own, others] };
  });
}

/** A few records of a part stay visible in a high bar. */
const LEAST_HEIGHT = 4;

const PART_GAP = 2;

/** The heights of the parts of a bar; what small ones have too much, the last one has less. */
export function stackHeights(counts: readonly number[], whole: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let left = whole;
  return counts.map((count, index) => {
    if (count === 0) return 0;
    const isLast = index === counts.length - 1;
    const height = Math.min(left, isLast ? left : Math.max(LEAST_HEIGHT, (count / total) * whole));
    left -= height;
    return height;
  });
}

/** `2 errors, 5 warnings, 30 others`, or the counts of the parts. */
function barText({ errors, counts }: ChartBar, parts: readonly ChartPart[] | null): string {
  const others = counts.at(-1) ?? 0;
  if (!parts)
    return `${formatCounted(errors, 'error')}, ${formatCounted(counts[0] ?? 0, 'warning')}, ${formatCounted(others - errors, 'other')}`;
  return [...parts.map(({ name }) => name), 'others']
    .map((name, index) => ({ name, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${name} ${formatCount(count)}`)
    .join(', ');
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

function barTotal({ counts }: ChartBar): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The parts outside of the counted range. */
export function uncountedRanges({ counted }: Pick<HistogramResult, 'counted'>, span: ChartSpan): Section[] {
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
