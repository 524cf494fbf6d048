import { createHash } from 'node:crypto';
import { SharedByKey } from '@porthole/logs/shared';

/** Maximum characters of cached texts. */
const MAX_CACHED_CHARACTERS = 8 * 1024 ** 2;

/** Masks the secrets of a text; `undefined` if that is not possible. */
export type Masked = string | undefined | Promise<string | undefined>;

/**
 * Caches masked texts: configurations rarely change, and masking is far more expensive than fetching them. Concurrent calls for
 * the same text share the work. Failures are not cached.
 */
export function rememberMasked(mask: (text: string) => Masked): (text: string) => Promise<string | undefined> {
  const known = new SharedByKey<string, string | undefined>({ isKept: true });
  let kept = 0;
  return (text) => {
    const key = createHash('sha256').update(text).digest('base64');
    // The masked text is about as long.
    if (!known.has(key)) kept += text.length;
    if (kept > MAX_CACHED_CHARACTERS) {
      known.clear();
      kept = text.length;
    }
    return known.run(key, () => mask(text));
  };
}
