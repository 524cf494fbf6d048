import { createHash } from 'node:crypto';

/** Characters of masked texts that are kept. */
const KEPT_CHARACTERS = 8 * 1024 ** 2;

type Mask = (text: string) => string | undefined;

/** Masks each text once, as far as they are remembered: configurations hardly change, and masking costs far more than asking. */
export function rememberMasked(mask: Mask): Mask {
  const known = new Map<string, string | undefined>();
  let kept = 0;
  return (text) => {
    const key = createHash('sha256').update(text).digest('base64');
    if (known.has(key)) return known.get(key);
    const masked = mask(text);
    kept += masked?.length ?? 0;
    if (kept > KEPT_CHARACTERS) {
      known.clear();
      kept = masked?.length ?? 0;
    }
    known.set(key, masked);
    return masked;
  };
}
