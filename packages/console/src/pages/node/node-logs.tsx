import { useMemo } from 'preact/hooks';
import { navigation } from '../../state/navigation.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { useResource } from '../../ui/hooks.ts';
import { FailureNote, Loading } from '../../ui/notes.tsx';
import { matchingFamilies } from './file-families.ts';
import { FileTable } from './file-table.tsx';
import { filesResource } from './node-resources.ts';
import { ReportNote } from './report-note.tsx';

/** All log files of a node, by log. */
export function NodeLogs({ id, text }: { id: string; text: string }) {
  const files = useMemo(() => filesResource(id), [id]);
  const { value, asOfMs, failure } = useResource(files);
  const families = value ? matchingFamilies(value.families, text) : [];
  const sizeBytes = value?.files.reduce((sum, { size }) => sum + size, 0) ?? 0;
  return (
    <div class="node-logs">
      <div class="files-head">
        <input
          type="search"
          aria-label="Files whose name contains"
          placeholder="File name contains"
          value={text}
          onInput={({ currentTarget }) =>
            navigation.go({ page: 'node', id, tab: 'logs', text: currentTarget.value }, { replace: true })
          }
        />
        {value && (
          <span class="dim">
            {formatCount(value.families.length)} {value.families.length === 1 ? 'log' : 'logs'} ·{' '}
            {formatCount(value.files.length)} {value.files.length === 1 ? 'file' : 'files'} · {formatBytes(sizeBytes)}
          </span>
        )}
      </div>
      {failure && <FailureNote what="The files" failure={failure} asOfMs={asOfMs} onRetry={() => files.reload()} />}
      {!value && !failure && <Loading what="the files" />}
      {families.length > 0 && <FileTable id={id} families={families} />}
      {value && families.length === 0 && (
        <p class="dim">{value.files.length === 0 ? 'No log files' : `No file name contains "${text}"`}</p>
      )}
      <ReportNote report={value?.report ?? null} />
    </div>
  );
}
