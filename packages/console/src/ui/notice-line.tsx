import { useEffect } from 'preact/hooks';
import { notice } from '../state/notice.ts';
import { useStore } from './use-store.ts';

/** Long enough to be read, short enough not to be in the way. */
const SHOWN_MS = 3000;

export function NoticeLine() {
  const told = useStore(notice);
  useEffect(() => {
    if (!told) return;
    const timer = setTimeout(() => {
      if (notice.value === told) notice.set(null);
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [told]);
  return (
    <div class="notice-line" role="status">
      {told && <span key={told.number}>{told.text}</span>}
    </div>
  );
}
