import type { MemberReport } from '@porthole/client';
import { missingMembers } from './missing-members.ts';

/** Says which nodes are not, or not wholly, in what is shown; nothing where all are. */
export function PartialNote({ members, onRetry }: { members: readonly MemberReport[]; onRetry: () => void }) {
  const missing = missingMembers(members);
  if (missing.length === 0) return null;
  const whole = members.length - missing.length;
  return (
    <p class="partial">
      {whole} of {members.length} nodes answered ·{' '}
      {missing.map(({ id, why, detail }, index) => (
        <span key={id} title={detail ?? undefined}>
          {index > 0 && ' · '}
          {id}: {why}
        </span>
      ))}{' '}
      ·{' '}
      <button type="button" class="link-button" onClick={onRetry}>
        retry
      </button>
    </p>
  );
}
