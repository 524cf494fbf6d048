import type { Level } from '@porthole/client';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ZoneName } from '../../state/view.ts';
import { formatCount, formatSecond, formatShortTime, formatSpan } from '../../ui/format.ts';
import type { HistogramResult } from '../source/log-source.ts';
import { ChartDrawing } from './chart-drawing.tsx';
import {
  barAt,
  barTotal,
  type ChartBounds,
  type ChartSpan,
  chartBars,
  chartSpan,
  timeAtFraction,
} from './chart-scale.ts';
import { isPartialCount } from './level-counts.ts';

/** A drag over less is a click. */
const CLICK_PX = 4;

/** Steps of the arrow keys over the whole chart. */
const KEY_STEPS = 60;

export interface HistogramChartProps {
  histogram: HistogramResult;
  requested: ChartBounds['requested'];
  /** The lowest level that is shown. */
  minLevel: Level | null;
  log: ChartBounds['log'];
  zone: ZoneName;
  isCounting: boolean;
  /** Shows this part only. */
  onZoom: (span: ChartSpan) => void;
  onGo: (timeMs: number) => void;
}

/** How many records of which level there were when. Drag, or Shift and arrows, choose a part; a click, or Space, goes there. */
export function HistogramChart({
  histogram,
  requested: asked,
  minLevel,
  log,
  zone,
  isCounting,
  onZoom,
  onGo,
}: HistogramChartProps) {
  const nowMs = Date.now();
  const span = useMemo(
    () => chartSpan(histogram, { requested: asked, log, nowMs: Date.now() }),
    [histogram, asked, log],
  );
  const bars = useMemo(() => chartBars(histogram, minLevel), [histogram, minLevel]);
  const { chosen, begin, move, end, cursor, key } = useChoosing(span, { onZoom, onGo });
  const isPartial = isPartialCount(histogram);
  if (!span) return <p class="chart-empty">{isCounting ? 'Counting…' : emptyText(isPartial)}</p>;
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
        aria-description="Arrow keys move, Shift and arrow keys choose a part, Enter shows only that part, Space goes there"
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
        <span title={isPartial ? 'Not everything has been counted: there may be more' : undefined}>
          {at === null ? `${total} · ${formatSpan(histogram.bucketMs)} per bar` : `${at} · ${counts}`}
        </span>
        <span>{formatShortTime(span.toMs, zone, nowMs)}</span>
      </p>
    </div>
  );
}

function emptyText(isPartial: boolean): string {
  return isPartial ? 'No timestamped records in what was counted' : 'No timestamped records';
}

interface Chosen {
  from: number;
  to: number;
}

/** What is under the pointer or the keys, and what is chosen with them. */
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
