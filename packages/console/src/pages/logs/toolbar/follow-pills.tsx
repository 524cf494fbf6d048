import type { FollowStatus, Workspace } from '../../../log-view/model/workspace-state.ts';
import { formatCount } from '../../../ui/format.ts';

export interface FollowPillsProps {
  follow: FollowStatus;
  workspace: Workspace;
  /** The time range has an end: nothing new falls into it. */
  isClosed: boolean;
  onFollow: () => void;
}

/** Whether new lines appear by themselves, and what waits while they do not. */
export function FollowPills({ follow, workspace, isClosed, onFollow }: FollowPillsProps) {
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
      title={
        isClosed
          ? 'Show the newest records, without an end of the time range, and follow (f)'
          : 'Back to the end, and follow (f)'
      }
      onClick={onFollow}
    >
      {state === 'paused' ? `Paused${waiting}` : 'Follow'}
    </button>
  );
}
