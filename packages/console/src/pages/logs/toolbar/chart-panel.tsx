import { useMemo } from 'preact/hooks';
import { HistogramChart } from '../../../log-view/chart/histogram-chart.tsx';
import type { WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import type { HistogramResult } from '../../../log-view/source/log-source.ts';
import { resolveRange } from '../../../log-view/source/resolve-range.ts';
import type { LogsView, TimeRange } from '../../../state/view.ts';

type ChartProps = Pick<Parameters<typeof HistogramChart>[0], 'zone' | 'onGo'> & {
  state: WorkspaceState;
  range: TimeRange | null;
  histogram: HistogramResult | null;
  change: (change: Partial<LogsView>) => void;
};

/** The chart, or why there is none. */
export function ChartPanel({ state, range, histogram, zone, onGo, change }: ChartProps) {
  // A relative range moves with every count.
  const requested = useMemo(() => (histogram ? resolveRange(range, Date.now()) : {}), [range, histogram]);
  const { isCounting, countFailure } = state;
  if (!histogram)
    return <p class="chart-empty">{isCounting ? 'Counting…' : countFailure ? `Not counted: ${countFailure}` : ''}</p>;
  return (
    <HistogramChart
      {...{ histogram, requested: requested, zone, onGo }}
      log={state.extent}
      minLevel={state.filter.minLevel ?? null}
      isCounting={state.isCounting}
      onZoom={(span) => change({ range: { kind: 'fixed', ...span }, at: null, timeMs: null, isLive: false })}
    />
  );
}
