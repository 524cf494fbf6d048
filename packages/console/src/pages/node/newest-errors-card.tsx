import type { ClusterRecord } from '@porthole/client';
import { preferences } from '../../state/preferences.ts';
import type { Resource } from '../../state/resource.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { FailureNote } from '../../ui/failure-note.tsx';
import { formatAge, formatDate, formatTime } from '../../ui/format.ts';
import { useNow } from '../../ui/hooks/use-now.ts';
import { useResource } from '../../ui/hooks/use-resource.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import { Loading } from '../../ui/loading.tsx';
import type { NewestErrors } from './node-resources.ts';
import { ReportNote } from './report-note.tsx';

export function NewestErrorsCard({ id, errors }: { id: string; errors: Resource<NewestErrors> }) {
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
