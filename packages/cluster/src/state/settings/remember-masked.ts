import { createHash } from 'node:crypto';

/** Maximum characters of cached texts. */
const MAX_CACHED_CHARACTERS = 8 * 1024 ** 2;

/** Masks the secrets of a text; `undefined` if that is not possible. */
export type Masked = string | undefined | Promise<string | undefined>;

/**
 * Caches masked texts: configurations rarely change, and masking is far more expensive than fetching them. Concurrent calls for
 * the same text share the work. Failures are not cached.
 */
export function rememberMasked(mask: (text: string) => Masked): (text: string) => Promise<string | undefined> {
  const known = new Map<string, Promise<string | undefined>>();
  let kept = 0;
  return (text) => {
    const key = createHash('sha256').update(text).digest('base64');
    const found = known.get(key);
    if (found !== undefined) return found;
    // The masked text is about as long.
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
