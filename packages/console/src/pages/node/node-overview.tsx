import type { ClusterNode, ClusterRecord } from '@porthole/client';
import { useMemo } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import type { Resource } from '../../state/resource.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { CountChart } from '../../ui/chart/count-chart.tsx';
import { type CountColumn, sumColumns } from '../../ui/chart/count-columns.ts';
import { formatAge, formatBytes, formatCount, formatDate, formatSecond, formatTime } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { FailureNote, Loading } from '../../ui/notes.tsx';
import type { FileFamily } from './file-families.ts';
import { HealthCard, IdentityCard } from './node-cards.tsx';
import {
  descriptionResource,
  filesResource,
  type HourCounts,
  hourResource,
  type NewestErrors,
  type NodeFiles,
  newestErrorsResource,
} from './node-resources.ts';
import { ReportNote } from './report-note.tsx';

export function NodeOverview({ node }: { node: ClusterNode }) {
  const { id } = node;
  const resources = useMemo(
    () => ({
      description: descriptionResource(id),
      hour: hourResource(id),
      files: filesResource(id),
      errors: newestErrorsResource(id),
    }),
    [id],
  );
  return (
    <div class="node-overview">
      <HourCard id={id} counts={resources.hour} />
      <div class="card-pair">
        <IdentityCard node={node} description={resources.description} />
        <HealthCard node={node} description={resources.description} />
      </div>
      <NewestErrorsCard id={id} errors={resources.errors} />
      <FilesCard id={id} files={resources.files} />
    </div>
  );
}

function HourCard({ id, counts }: { id: string; counts: Resource<HourCounts> }) {
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

function NewestErrorsCard({ id, errors }: { id: string; errors: Resource<NewestErrors> }) {
  const { value, asOfMs, failure } = useResource(errors);
  const all: LogsView = { ...ALL_LOGS, sources: [{ node: id, log: null }], minLevel: 'ERROR' };
  return (
    <section class="card list-card" aria-labelledby="errors-title">
      <div class="card-head">
        <h2 id="errors-title">Newest errors</h2>
        <a href={viewUrl(all)}>all errors →</a>
      </div>
      {failure && <FailureNote what="The errors" failure={failure} asOfMs={asOfMs} onRetry={() => errors.reload()} />}
      {!value && !failure && <Loading what="the newest errors" />}
      {value && value.records.length === 0 && <p class="dim">No errors in the last 24 hours.</p>}
      {value && value.records.length > 0 && (
        <ul class="error-list">
          {value.records.map((record) => (
            <ErrorRow key={record.cursor} id={id} record={record} />
          ))}
        </ul>
      )}
      <ReportNote report={value?.report ?? null} />
    </section>
  );
}

function ErrorRow({ id, record }: { id: string; record: ClusterRecord }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const { atMs, file, cursor, source, message, level } = record;
  const view: LogsView = { ...ALL_LOGS, sources: [{ node: id, log: { kind: 'file', name: file } }], isLive: false };
  return (
    <li>
      <a class="error-link" href={viewUrl({ ...view, at: { node: id, cursor } })}>
        <span class="level-letter problem" title={level}>
          {level?.charAt(0)}
        </span>
        {atMs !== undefined && (
          <time class="mono" dateTime={new Date(atMs).toISOString()} title={formatDate(atMs, zone)}>
            {formatTime(atMs, zone)} <span class="dim">{formatAge(atMs, nowMs)}</span>
          </time>
        )}
        <code>{source ?? file}</code>
        <span class="site-message">{message.split('\n', 1)[0]}</span>
      </a>
    </li>
  );
}

const SHOWN = 6;

/** Summary of the log files of a node. */
function FilesCard({ id, files }: { id: string; files: Resource<NodeFiles> }) {
  const { value, asOfMs, failure } = useResource(files);
  const tabUrl = viewUrl({ page: 'node', id, tab: 'logs', text: '' });
  const sizeBytes = value?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
  return (
    <section class="card list-card" aria-labelledby="files-title">
      <div class="card-head">
        <h2 id="files-title">
          {value
            ? `${formatCount(value.files.length)} log ${value.files.length === 1 ? 'file' : 'files'}, ${formatBytes(sizeBytes)}`
            : 'Log files'}
        </h2>
        <a href={tabUrl}>all files →</a>
      </div>
      {failure && <FailureNote what="The files" failure={failure} asOfMs={asOfMs} onRetry={() => files.reload()} />}
      {!value && !failure && <Loading what="the files" />}
      <ul class="fact-list">
        {value?.families.slice(0, SHOWN).map((family) => (
          <FamilyLine key={family.name} id={id} family={family} />
        ))}
      </ul>
      {value && value.families.length > SHOWN && (
        <p>
          <a href={tabUrl}>{value.families.length - SHOWN} more logs →</a>
        </p>
      )}
      <ReportNote report={value?.report ?? null} />
    </section>
  );
}

function FamilyLine({ id, family: { name, files, sizeBytes, lastTimeMs } }: { id: string; family: FileFamily }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow();
  const log = { kind: 'family', name } as const;
  return (
    <li>
      <a class="mono" href={viewUrl({ ...ALL_LOGS, sources: [{ node: id, log }] })}>
        {name}
      </a>
      <span class="fact">
        {formatBytes(sizeBytes)}
        {files.length > 1 && <span class="dim"> in {files.length} files</span>}
        {lastTimeMs !== null && (
          <span class="dim" title={formatSecond(lastTimeMs, zone)}>
            {' '}
            · last line {formatAge(lastTimeMs, nowMs)}
          </span>
        )}
      </span>
    </li>
  );
}
