import type { FindStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import { formatCount } from '../../../ui/format.ts';

/** `12 of 1,306`, with the way to the next one. */
export function FindCount({ find, workspace }: { find: FindStatus; workspace: Workspace }) {
  if (find.query === null) return null;
  const { index, total, isSearching, message } = find;
  const position = index === null ? '' : `${formatCount(index)} of `;
  const count =
    total === null
      ? isSearching
        ? 'searching…'
        : ''
      : `${position}${formatCount(total)}${index === null ? ' matches' : ''}`;
  return (
    <span class="find-count">
      <span role="status">
        {count}
        {message ? (
          <span id="find-message" class={total === null ? 'field-problem' : 'dim'}>
            {count ? ' · ' : ''}
            {message}
          </span>
        ) : null}
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label="Older match"
        title="Older match (N)"
        onClick={() => workspace.findNext('older')}
      >
        ↑
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Newer match"
        title="Newer match (n)"
        onClick={() => workspace.findNext('newer')}
      >
        ↓
      </button>
    </span>
  );
}
