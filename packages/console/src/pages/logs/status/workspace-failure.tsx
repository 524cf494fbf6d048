import type { WorkspaceState } from '../../../log-view/model/workspace-state.ts';

/** Why nothing can be shown, as the API says it. */
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
