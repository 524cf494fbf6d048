import { session } from '../../../state/session.ts';
import type { Problem } from '../../../state/to-problem.ts';
import type { FieldAction } from '../values/field-actions.ts';

/** Actions as small buttons with their names as labels. */
export function ActionButtons({ actions }: { actions: readonly FieldAction[] }) {
  return (
    <span class="value-actions">
      {actions.map(({ kind, sign, label, isPressed, run }) => (
        <button
          key={kind}
          type="button"
          class="icon-button"
          title={label}
          aria-label={label}
          aria-pressed={isPressed}
          onClick={run}
        >
          {sign}
        </button>
      ))}
    </span>
  );
}

/** Why something was not counted, and a way out. */
export function CountFailure({ what, failure, onRetry }: { what: string; failure: Problem; onRetry: () => void }) {
  const { code, detail, status } = failure;
  return (
    <p class="failure-note" role="status">
      <strong>{what} not counted.</strong> <code>{code}</code> {detail} ·{' '}
      <button
        type="button"
        class="link-button"
        onClick={() => {
          if (status === 401) session.openTokenDialog();
          onRetry();
        }}
      >
        {status === 401 ? 'enter a token' : 'retry'}
      </button>
    </p>
  );
}
