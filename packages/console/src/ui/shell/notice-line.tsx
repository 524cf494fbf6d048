import { useEffect } from 'preact/hooks';
import { notice } from '../../state/notice.ts';
import { useStore } from '../hooks/use-store.ts';

/** Long enough to be read, short enough not to be in the way. */
const SHOWN_MS = 3000;

export function NoticeLine() {
  const current = useStore(notice);
  useEffect(() => {
    if (!current) return;
    const timer = setTimeout(() => {
      if (notice.value === current) notice.set(null);
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [current]);
  return (
    <div class="notice-line" role="status">
      {current && <span key={current.number}>{current.text}</span>}
    </div>
  );
}
