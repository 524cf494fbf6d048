import { useMemo } from 'preact/hooks';
import { HistogramChart } from '../../log-view/histogram-chart.tsx';
import type { HistogramAnswer } from '../../log-view/log-source.ts';
import { rangeOf } from '../../log-view/range-of.ts';
import type { WorkspaceState } from '../../log-view/workspace-state.ts';
import type { LogsView, TimeRange } from '../../state/view.ts';

type ChartProps = Pick<Parameters<typeof HistogramChart>[0], 'zone' | 'onGo'> & {
  state: WorkspaceState;
  range: TimeRange | null;
  histogram: HistogramAnswer | null;
  change: (change: Partial<LogsView>) => void;
};

/** The chart, or why there is none. */
export function ChartPanel({ state, range, histogram, zone, onGo, change }: ChartProps) {
  // A range that moves with the clock moves with every count.
  const asked = useMemo(() => (histogram ? rangeOf(range, Date.now()) : {}), [range, histogram]);
  const { isCounting, countFailure } = state;
  if (!histogram)
    return <p class="chart-empty">{isCounting ? 'Counting…' : countFailure ? `Not counted: ${countFailure}` : ''}</p>;
  return (
    <HistogramChart
      {...{ histogram, asked, zone, onGo }}
      log={state.extent}
      minLevel={state.filter.minLevel ?? null}
      isCounting={state.isCounting}
      onZoom={(span) => change({ range: { kind: 'fixed', ...span }, at: null, timeMs: null, isLive: false })}
    />
  );
}
