import type { HistogramResult } from '../source/log-source.ts';
import { barHeight, barTotal, type ChartBar, type ChartSpan, fractionOfTime, uncountedRanges } from './chart-scale.ts';

/** The drawing has these inner measures and is stretched to its place. */
const WIDTH = 1000;
const HEIGHT = 100;

export interface ChartDrawingProps {
  histogram: HistogramResult;
  bars: readonly ChartBar[];
  span: ChartSpan;
  chosen: { from: number; to: number } | null;
  cursor: number | null;
}

/** Bars of all buckets as three shapes: other records at the bottom, warnings on them, errors on top. */
export function ChartDrawing({ histogram, bars, span, chosen, cursor }: ChartDrawingProps) {
  const largest = Math.max(0, ...bars.map(barTotal));
  const kinds = ['others', 'warnings', 'errors'] as const;
  const paths = { others: '', warnings: '', errors: '' };
  for (const bar of bars) {
    const from = fractionOfTime(span, bar.startMs) * WIDTH;
    const width = fractionOfTime(span, bar.endMs) * WIDTH - from;
    if (width <= 0) continue;
    const height = barHeight(barTotal(bar), largest) * HEIGHT;
    let top = HEIGHT;
    // Errors stand at the foot, where a few of them are not lost above a high bar.
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
