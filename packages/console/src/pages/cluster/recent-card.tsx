import type { ClusterNode } from '@porthole/client';
import { preferences } from '../../state/preferences.ts';
import type { ResourceState } from '../../state/resource.ts';
import { ALL_LOGS, type View } from '../../state/view.ts';
import { CountChart } from '../../ui/chart/count-chart.tsx';
import type { CountColumn } from '../../ui/chart/count-columns.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { formatMinute } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import { Loading } from '../../ui/loading.tsx';
import { PartialNote } from '../../ui/partial-note.tsx';
import { recent } from './cluster-resources.ts';
import type { RecentCounts } from './recent-counts.ts';

interface RecentCardProps {
  counts: ResourceState<RecentCounts>;
  nodes: readonly ClusterNode[];
}

export function RecentCard({ counts: { value, asOfMs, failure }, nodes }: RecentCardProps) {
  const zone = useStore(preferences.zone);
  const lost = value ? lostNodes(nodes, value) : [];
  const marks = lost.map(({ id, atMs }) => ({ timeMs: atMs, text: `${id} lost ${formatMinute(atMs, zone)}` }));
  return (
    <section class="card chart-card" aria-labelledby="recent-title">
      <div class="card-head">
        <h2 id="recent-title">Errors and warnings, last 15 minutes</h2>
        <p class="legend" aria-hidden="true">
          <span class="legend-error">error</span>
          <span class="legend-warning">warning</span>
        </p>
      </div>
      {failure && <FailureNote what="The counts" failure={failure} asOfMs={asOfMs} onRetry={() => recent.reload()} />}
      {value ? (
        <CountChart columns={value.columns} range={value.range} marks={marks} viewFor={columnView} />
      ) : (
        !failure && (
          <div class="chart-space">
            <Loading what="the counts of all nodes" />
          </div>
        )
      )}
      {value && <PartialNote members={value.members} onRetry={() => recent.reload()} />}
    </section>
  );
}

/** Nodes that went silent within what the chart shows. */
function lostNodes(nodes: readonly ClusterNode[], { range }: RecentCounts): { id: string; atMs: number }[] {
  return nodes.flatMap(({ id, state, lastSeenMs }) =>
    state !== 'up' && lastSeenMs !== null && lastSeenMs >= range.fromMs && lastSeenMs < range.toMs
      ? [{ id, atMs: lastSeenMs }]
      : [],
  );
}

function columnView({ startMs, endMs }: CountColumn): View {
  const range = { kind: 'fixed', fromMs: startMs, toMs: endMs } as const;
  return { ...ALL_LOGS, range, minLevel: 'WARN', isLive: false };
}
