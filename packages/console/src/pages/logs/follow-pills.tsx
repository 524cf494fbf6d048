import type { FollowStatus, Workspace } from '../../log-view/workspace-state.ts';
import { formatCount } from '../../ui/format.ts';

/** Whether new lines appear by themselves, and what waits while they do not. */
export function FollowPills({ follow, workspace }: { follow: FollowStatus; workspace: Workspace }) {
  const { state, newRecords, newErrors } = follow;
  if (state === 'live' || state === 'reconnecting') {
    const isLost = state === 'reconnecting';
    return (
      <button
        type="button"
        class={`pill ${isLost ? 'pill-lost' : 'pill-live'}`}
        title={
          isLost
            ? `Connection lost: ${follow.reason ?? 'no reason told'}. It goes on by itself.`
            : 'Following; press to pause (f)'
        }
        onClick={() => workspace.pause()}
      >
        <i class="pill-dot" aria-hidden="true" />
        {isLost ? 'Reconnecting…' : 'Live'}
      </button>
    );
  }
  const errors = newErrors > 0 ? ` (${formatCount(newErrors)} ${newErrors === 1 ? 'error' : 'errors'})` : '';
  const waiting = newRecords > 0 ? ` · ${formatCount(newRecords)} new${errors}` : '';
  return (
    <button
      type="button"
      class={`pill ${state === 'paused' ? 'pill-paused' : ''}`}
      title="Back to the end, and follow (f)"
      onClick={() => workspace.resume()}
    >
      {state === 'paused' ? `Paused${waiting}` : 'Follow'}
    </button>
  );
}
