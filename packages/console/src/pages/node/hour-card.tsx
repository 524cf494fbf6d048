import type { Resource } from '../../state/resource.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { CountChart } from '../../ui/chart/count-chart.tsx';
import { type CountColumn, sumColumns } from '../../ui/chart/count-columns.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { formatCount } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { Loading } from '../../ui/loading.tsx';
import type { HourCounts } from './node-resources.ts';
import { ReportNote } from './report-note.tsx';

export function HourCard({ id, counts }: { id: string; counts: Resource<HourCounts> }) {
  const { value, asOfMs, failure } = useResource(counts);
  const hasCounted = value?.report?.outcome === 'ok';
  const totals = value && hasCounted ? sumColumns(value.columns) : null;
  const logs: LogsView = { ...ALL_LOGS, sources: [{ node: id, log: null }] };
  const columnView = ({ startMs, endMs }: CountColumn): LogsView => ({
    ...logs,
    range: { kind: 'fixed', fromMs: startMs, toMs: endMs },
    minLevel: 'WARN',
    isLive: false,
  });
  return (
    <section class="card chart-card" aria-labelledby="hour-title">
      <div class="card-head">
        <h2 id="hour-title">Errors and warnings, last hour</h2>
        {totals && (
          <p class="legend">
            <a
              class="legend-error"
              href={viewUrl({ ...logs, range: { kind: 'last', spanMs: 3_600_000 }, minLevel: 'ERROR' })}
            >
              {formatCount(totals.errors)} {totals.errors === 1 ? 'error' : 'errors'}
            </a>
            <a
              class="legend-warning"
              href={viewUrl({ ...logs, range: { kind: 'last', spanMs: 3_600_000 }, minLevel: 'WARN' })}
            >
              {formatCount(totals.warnings)} {totals.warnings === 1 ? 'warning' : 'warnings'}
            </a>
          </p>
        )}
      </div>
      {failure && <FailureNote what="The counts" failure={failure} asOfMs={asOfMs} onRetry={() => counts.reload()} />}
      {value && hasCounted && <CountChart columns={value.columns} range={value.range} viewFor={columnView} />}
      {!value && !failure && (
        <div class="chart-space">
          <Loading what="the counts" />
        </div>
      )}
      <ReportNote report={value?.report ?? null} />
    </section>
  );
}
