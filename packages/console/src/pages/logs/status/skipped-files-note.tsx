import { type ShownProblem, skippedFiles } from '../../../log-view/model/file-problems.ts';
import { ALL_LOGS } from '../../../state/view.ts';
import { viewUrl } from '../../../state/view-url.ts';

/** Files named at once; the rest is in the title. */
const MAX_NAMED = 3;

/** Which files are not among all logs, and a way to read each that is text. */
export function SkippedFilesNote({ problems }: { problems: readonly ShownProblem[] }) {
  const files = skippedFiles(problems);
  if (files.length === 0) return null;
  const all = files.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n');
  const more = files.length - MAX_NAMED;
  return (
    <p class="left-out" role="status" title={all}>
      {files.length === 1 ? '1 file is' : `${files.length} files are`} not shown, being binary or without timestamps:{' '}
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
