import { type ShownProblem, skippedFiles } from '../../../log-view/model/file-problems.ts';
import type { WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import { cluster } from '../../../state/cluster.ts';
import { ALL_LOGS, type LogsView } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';
import { useResource } from '../../../ui/hooks.ts';
import { isDegraded, problemText } from '../../cluster/node-health.ts';

/** Files listed; the title has all of them. */
const MAX_NAMED = 3;

/** Names degraded nodes and their problems: their logs may be incomplete. */
export function DegradedNote({ sources }: Pick<LogsView, 'sources'>) {
  const { value } = useResource(cluster);
  const isShown = (id: string) => sources.length === 0 || sources.some(({ node }) => node === id || /[*?]/.test(node));
  const degraded = (value?.nodes ?? []).filter((node) => isDegraded(node) && isShown(node.id));
  if (degraded.length === 0) return null;
  return (
    <p class="degraded-note" role="status">
      {degraded.map(({ id, problems }) => (
        <span key={id}>
          <strong>{id}</strong> is degraded: {problemText(problems)}
        </span>
      ))}
    </p>
  );
}

/** Names the files that are not included, with links to those that are text. */
export function SkippedFilesNote({ problems }: { problems: readonly ShownProblem[] }) {
  const files = skippedFiles(problems);
  if (files.length === 0) return null;
  const all = files.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n');
  const more = files.length - MAX_NAMED;
  return (
    <p class="left-out" role="status" title={all}>
      {files.length === 1 ? '1 file is' : `${files.length} files are`} not shown (binary or without timestamps):{' '}
      {files.slice(0, MAX_NAMED).map(({ node, file, detail }, index) => (
        <span key={`${node} ${file}`}>
          {index > 0 ? ', ' : ''}
          {detail.startsWith('binary') ? (
            <span class="mono">{file}</span>
          ) : (
            <a class="mono" href={viewUrl({ ...ALL_LOGS, sources: [{ node, log: { kind: 'file', name: file } }] })}>
              {file}
            </a>
          )}{' '}
          on {node}
        </span>
      ))}
      {more > 0 ? ` and ${more} more` : ''}
    </p>
  );
}

/** Why nothing can be shown. */
export function WorkspaceFailure({ failure, onRetry }: { failure: WorkspaceState['failure']; onRetry: () => void }) {
  if (!failure) return null;
  return (
    <div class="workspace-failure" role="alert">
      <p>
        <code>{failure.code}</code> {failure.detail}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
