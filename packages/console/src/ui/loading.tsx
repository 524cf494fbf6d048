import { useEffect, useState } from 'preact/hooks';

/** What takes no longer is not worth a word: it would only flicker. */
const QUIET_MS = 400;

/** Says after a moment that something is loading. */
export function Loading({ what }: { what: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading" role="status">
      {isShown && `Loading ${what} …`}
    </p>
  );
}
