import type { FindStatus } from '../../log-view/model/workspace-state.ts';
import type { LogWorkspace } from '../../log-view/workspace/log-workspace.ts';
import type { LogsView } from '../../state/view.ts';
import { IconButton, Segments } from '../../ui/controls.tsx';
import { formatCount } from '../../ui/format.ts';
import type { ChangeView } from './typed-query.ts';

interface FindToolsProps {
  view: LogsView;
  find: FindStatus;
  workspace: LogWorkspace;
  change: ChangeView;
}

/** Whether other records are shown beside matches, and steps between them. */
export function FindTools({ view, find, workspace, change }: FindToolsProps) {
  const { index, total, isSearching, message } = find;
  const matches = (all: number) =>
    index === null
      ? `${formatCount(all)} match${all === 1 ? '' : 'es'}`
      : `${formatCount(index)} of ${formatCount(all)}`;
  const count = total !== null ? matches(total) : isSearching ? 'searching…' : '';
  return (
    <span class="flex wrap">
      <span class="dim find-count" role="status">
        {count}
        {message ? (
          <span id="find-message" class={total === null ? 'field-problem' : 'dim'}>
            {count ? ' · ' : ''}
            {message}
          </span>
        ) : null}
      </span>
      <IconButton label="Older match" icon="up" onClick={() => workspace.findNext('older')} />
      <IconButton label="Newer match" icon="down" onClick={() => workspace.findNext('newer')} />
      <Segments
        label="Show"
        value={view.isOnlyMatches ? 'only' : 'all'}
        choices={[
          { value: 'all', text: 'all, matches marked' },
          { value: 'only', text: 'only matches', tip: 'Alt+Enter' },
        ]}
        onChange={(value) => change({ isOnlyMatches: value === 'only' })}
      />
    </span>
  );
}
