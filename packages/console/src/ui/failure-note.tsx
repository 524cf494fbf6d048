import { cluster } from '../state/cluster.ts';
import { preferences } from '../state/preferences.ts';
import type { Failure } from '../state/resource.ts';
import { formatSecond } from './format.ts';
import { useStore } from './hooks/use-store.ts';

interface FailureNoteProps {
  /** What could not be had: `The nodes`. */
  what: string;
  failure: Failure;
  /** When what is still shown was had; `null` where nothing is shown. */
  asOfMs: number | null;
  onRetry: () => void;
}

/** A failed question as the API tells it, with a way to ask again. Where nothing answers, the banner says why. */
export function FailureNote({ what, failure, asOfMs, onRetry }: FailureNoteProps) {
  const zone = useStore(preferences.zone);
  const isOffline = useStore(cluster.state).failure?.status === null;
  if (isOffline && failure.status === null && asOfMs !== null)
    return <p class="dim">As of {formatSecond(asOfMs, zone)}</p>;
  return (
    <p class="failure-note" role="status">
      <strong>{what} could not be loaded.</strong> <code>{failure.code}</code> {failure.detail}
      {asOfMs !== null && ` · shown as of ${formatSecond(asOfMs, zone)}`} ·{' '}
      <button type="button" class="link-button" onClick={onRetry}>
        retry
      </button>
    </p>
  );
}
