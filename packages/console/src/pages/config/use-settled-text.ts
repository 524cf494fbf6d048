import { useEffect, useState } from 'preact/hooks';

/** A pause this long ends a word that is being typed. */
const PAUSE_MS = 150;

/** Texts up to this length are searched with every key. */
const SMALL_CHARACTERS = 100_000;

/** What is looked for in a text: at once in a small one, after a pause in a large one, so that typing is never held up. */
export function useSettledText(wanted: string, searched: string): string {
  const [settled, setSettled] = useState(wanted);
  const isSmall = searched.length <= SMALL_CHARACTERS || wanted === '';
  useEffect(() => {
    if (isSmall) return undefined;
    const timer = setTimeout(() => setSettled(wanted), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [wanted, isSmall]);
  return isSmall ? wanted : settled;
}
