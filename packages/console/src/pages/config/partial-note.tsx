import type { MemberReport } from '@porthole/client';
import { outcomeLabel } from '../../config/drift-text.ts';

interface PartialNoteProps {
  members: readonly MemberReport[];
  isLoading: boolean;
  onRetry: () => void;
}

/** Named before the rest is counted. */
const MAX_NAMED = 6;

/** `2 of 3 nodes answered`, and who did not; nothing when all did. */
export function PartialNote({ members, isLoading, onRetry }: PartialNoteProps) {
  const missing = members.filter(({ outcome }) => outcome !== 'ok');
  if (missing.length === 0) return null;
  return (
    <p class="config-note is-warning" role="status">
      <strong>
        {members.length - missing.length} of {members.length} nodes answered
      </strong>
      {missing.slice(0, MAX_NAMED).map(({ id, outcome, detail, asOfMs }) => (
        <span key={id}>
          {' '}
          · {id} {outcomeLabel(outcome)}
          {detail !== null && outcome !== 'refused' && outcome !== 'timeout' && ` (${detail})`}
          {asOfMs !== null && ', shown as last known'}
        </span>
      ))}
      {missing.length > MAX_NAMED && <span> · {missing.length - MAX_NAMED} more</span>} ·{' '}
      <button type="button" class="link-button" disabled={isLoading} onClick={onRetry}>
        {isLoading ? 'asking …' : 'retry'}
      </button>
    </p>
  );
}
