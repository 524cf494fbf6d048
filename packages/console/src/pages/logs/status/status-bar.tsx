import { failedFiles } from '../../../log-view/model/file-problems.ts';
import type { WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import type { SeenRows } from '../../../log-view/rows/row-list.tsx';
import type { LogSource } from '../../../log-view/source/log-source.ts';
import type { Store } from '../../../state/store.ts';
import type { ZoneName } from '../../../state/view.ts';
import { zoneLabel } from '../../../ui/format.ts';
import { useStore } from '../../../ui/hooks.ts';
import { statusTexts } from './status-texts.ts';

export interface StatusBarProps {
  state: WorkspaceState;
  source: LogSource;
  seen: Store<SeenRows>;
  zone: ZoneName;
  onRetry: () => void;
}

/** Position of the view, growth rate of the log, and what is not shown. */
export function StatusBar({ state, source, seen, zone, onRetry }: StatusBarProps) {
  const { last } = useStore(seen);
  const nowMs = Date.now();
  const focused = state.rows.find(({ key }) => key === state.focusedKey);
  const record = focused?.kind === 'record' ? focused.record : last;
  const fraction = record && state.extent ? source.fractionAt(record, state.extent) : undefined;
  const failed = failedFiles(state.problems);
  const silent = state.members.filter(({ outcome }) => outcome !== 'ok');
  return (
    <footer class="status-bar">
      {statusTexts({ state, record, fraction, zone, nowMs }).map((text) => (
        <span key={text}>{text}</span>
      ))}
      {failed.length > 0 ? (
        <span
          class="is-problem"
          title={failed.map(({ node, file, detail }) => `${node} ${file}: ${detail}`).join('\n')}
        >
          {failed.length} {failed.length === 1 ? 'file was' : 'files were'} only partly read
        </span>
      ) : null}
      {state.duplicates.length > 0 ? (
        <span
          title={state.duplicates.map(({ node, file, sameAs }) => `${node} ${file}: same text as ${sameAs}`).join('\n')}
        >
          {state.duplicates.length} {state.duplicates.length === 1 ? 'copy' : 'copies'} skipped
        </span>
      ) : null}
      {silent.length > 0 ? (
        <span
          class="is-problem"
          title={silent.map(({ id, outcome, detail }) => `${id}: ${outcome} ${detail ?? ''}`).join('\n')}
        >
          {state.members.length - silent.length} of {state.members.length} nodes responded ·{' '}
          <button type="button" class="link-button" onClick={onRetry}>
            retry
          </button>
        </span>
      ) : null}
      <span class="bar-space" />
      <span>times in {zoneLabel(zone, nowMs)} · clock-corrected</span>
    </footer>
  );
}
