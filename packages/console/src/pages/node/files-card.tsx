import { preferences } from '../../state/preferences.ts';
import type { Resource } from '../../state/resource.ts';
import { ALL_LOGS } from '../../state/view.ts';
import { viewUrl } from '../../state/view-url.ts';
import { formatAge, formatBytes, formatCount, formatSecond } from '../../ui/format.ts';
import { useNow, useResource, useStore } from '../../ui/hooks.ts';
import { FailureNote, Loading } from '../../ui/notes.tsx';
import type { FileFamily } from './file-families.ts';
import type { NodeFiles } from './node-resources.ts';
import { ReportNote } from './report-note.tsx';

const SHOWN = 6;

/** Summary of the log files of a node. */
export function FilesCard({ id, files }: { id: string; files: Resource<NodeFiles> }) {
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
