import { useMemo, useRef, useState } from 'preact/hooks';
import type { Store } from '../../state/store.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatDate, formatTime } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';
import type { WorkspaceState } from '../model/workspace-state.ts';
import { recordTime } from '../rows/record-text.ts';
import { LIST_ID, type SeenRows } from '../rows/row-list.tsx';
import { type Extent, fractionAt, type HistogramResult, type ShownRecord } from '../source/log-source.ts';

/** How often the position is updated while the thumb is dragged. */
const DRAG_EVERY_MS = 200;

interface OverviewGutterProps {
  state: WorkspaceState;
  seen: Store<SeenRows>;
  matches: readonly number[];
  zone: ZoneName;
  onGo: (fraction: number) => void;
}

/** The scroll bar of the whole log, not only of the loaded rows, with ticks for errors, warnings and matches. */
export function OverviewGutter({ state, seen, matches, zone, onGo }: OverviewGutterProps) {
  const { first, last } = useStore(seen);
  const { extent, histogram } = state;
  const [dragged, setDragged] = useState<number | null>(null);
  const lastGo = useRef(0);
  const ticks = useMemo(() => (histogram && extent ? levelTicks(histogram, extent) : []), [histogram, extent]);
  const start = dragged ?? (first && extent ? (fractionAt(first, extent) ?? 0) : 0);
  const end = dragged ?? (last && extent ? (fractionAt(last, extent) ?? 1) : 1);
  const isLive = state.follow.state === 'live';
  const thumb = isLive ? thumbPosition(Math.min(start, 1 - 0.03), 1) : thumbPosition(start, Math.max(start, end));

  const drag = (event: PointerEvent & { currentTarget: HTMLElement }, isEnd: boolean) => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    const fraction = Math.min(1, Math.max(0, (event.clientY - top) / height));
    const isDue = isEnd || event.timeStamp - lastGo.current > DRAG_EVERY_MS;
    setDragged(isEnd ? null : fraction);
    if (!isDue) return;
    lastGo.current = event.timeStamp;
    onGo(fraction);
  };
  const day = first && dayText(first, zone);
  const timeMs = last ? recordTime(last) : undefined;
  const time = timeMs === undefined ? '' : `, ${day ? `${day}, ` : ''}${formatTime(timeMs, zone)}`;
  const position = `${(end * 100).toFixed(1)} %${time}`;
  return (
    <div
      class="fixed gutter"
      role="scrollbar"
      aria-label="Position in the log"
      aria-controls={LIST_ID}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(start * 100)}
      aria-valuetext={position}
      data-tip={position}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event, false);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && drag(event, false)}
      onPointerUp={(event) => drag(event, true)}
      onPointerCancel={() => setDragged(null)}
      onKeyDown={(event) => goByKey(event, { start, span: Math.max(0.005, end - start), onGo })}
    >
      <Ticks ticks={ticks} />
      <Ticks ticks={matches.map((fraction) => ({ fraction, kind: 'match' }))} />
      {first ? (
        <i class="gutter-thumb" style={{ top: `${thumb.top * 100}%`, height: `${thumb.height * 100}%` }} />
      ) : null}
      {day ? (
        <b class="row-day gutter-day" aria-hidden="true">
          {day}
        </b>
      ) : null}
    </div>
  );
}

/** The day of the first row, unless it is today: the times of rows do not say. */
function dayText(first: ShownRecord, zone: ZoneName): string | null {
  const timeMs = recordTime(first);
  const day = formatDate(timeMs ?? Date.now(), zone);
  return day === formatDate(Date.now(), zone) ? null : day;
}

/** One path per kind, however many ticks there are. */
function Ticks({ ticks }: { ticks: readonly GutterTick[] }) {
  const tickPath = (kind: GutterTick['kind']) =>
    ticks
      .filter((tick) => tick.kind === kind)
      .map(({ fraction }) => `M0 ${(fraction * 1000).toFixed(1)}h10`)
      .join('');
  return (
    <svg class="gutter-ticks" viewBox="0 0 10 1000" preserveAspectRatio="none" aria-hidden="true">
      {(['warning', 'match', 'error'] as const).map((kind) => (
        <path key={kind} class={`tick-${kind}`} d={tickPath(kind)} vector-effect="non-scaling-stroke" />
      ))}
    </svg>
  );
}

function goByKey(
  event: KeyboardEvent,
  { start, span, onGo }: { start: number; span: number; onGo: (fraction: number) => void },
): void {
  const positions: Record<string, number> = {
    PageUp: start - span,
    PageDown: start + span,
    ArrowUp: start - span / 4,
    ArrowDown: start + span / 4,
    Home: 0,
    End: 1,
  };
  const position = positions[event.key];
  if (position === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  onGo(Math.min(1, Math.max(0, position)));
}

/* Maps counts to positions on the scroll bar of the whole log. */

interface GutterTick {
  /** 0 is the start of the log, 1 its end. */
  fraction: number;
  kind: 'error' | 'warning' | 'match';
}

/** Closer ticks would fall on the same pixel. */
const MAX_TICKS = 300;

/** Smallest thumb that can be grabbed with a finger, as a fraction of the bar. */
const MIN_THUMB = 0.03;

/** Ticks of errors and warnings by time; errors last, so that they are drawn on top. */
export function levelTicks(
  { buckets, bucketMs }: Pick<HistogramResult, 'buckets' | 'bucketMs'>,
  { firstMs, lastMs }: Extent,
): GutterTick[] {
  const ticks = new Map<number, 'error' | 'warning'>();
  for (const { startMs, counts } of buckets) {
    const kind = levelKind(counts);
    const fraction = (startMs + bucketMs / 2 - firstMs) / (lastMs - firstMs);
    const place = Math.round(fraction * MAX_TICKS) / MAX_TICKS;
    if (kind && fraction >= 0 && fraction <= 1 && ticks.get(place) !== 'error') ticks.set(place, kind);
  }
  const placed = [...ticks].map(([fraction, kind]) => ({ fraction, kind }));
  return placed.toSorted((a, b) => Number(a.kind === 'error') - Number(b.kind === 'error'));
}

function levelKind(counts: HistogramResult['buckets'][number]['counts']): 'error' | 'warning' | null {
  if (counts.ERROR || counts.FATAL) return 'error';
  return counts.WARN ? 'warning' : null;
}

/** The part of the bar that the view covers, with a minimum size. */
export function thumbPosition(first: number, last: number): { top: number; height: number } {
  const span = last - first;
  const height = Math.min(1, Math.max(MIN_THUMB, span));
  // The thumb touches both ends of the bar, even when it was enlarged.
  const scrolled = span >= 1 ? 0 : Math.min(1, first / (1 - span));
  return { top: scrolled * (1 - height), height };
}
