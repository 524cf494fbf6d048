import { createHash } from 'node:crypto';

/** Characters of masked texts that are kept. */
const MAX_CACHED_CHARACTERS = 8 * 1024 ** 2;

/** The text with its secrets masked; `undefined` where that cannot be done. */
export type Masked = string | undefined | Promise<string | undefined>;

/**
 * Masks each text once, as far as they are remembered: configurations hardly change, and masking costs far more than asking.
 * Who asks for the same text at the same time shares it. What fails is tried again.
 */
export function rememberMasked(mask: (text: string) => Masked): (text: string) => Promise<string | undefined> {
  const known = new Map<string, Promise<string | undefined>>();
  let kept = 0;
  return (text) => {
    const key = createHash('sha256').update(text).digest('base64');
    const found = known.get(key);
    if (found !== undefined) return found;
    // What is masked is about as long.
    kept += text.length;
    if (kept > MAX_CACHED_CHARACTERS) {
      known.clear();
      kept = text.length;
    }
    const masked = (async () => mask(text))();
    known.set(key, masked);
    masked.catch(() => known.delete(key));
    return masked;
  };
}
