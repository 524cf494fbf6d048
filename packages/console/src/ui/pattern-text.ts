import type { DigestGroup } from '@porthole/client';

/** Addresses, times and the like: several of them before the first word say less than one hole does. */
const LEADING_VALUES = /^(?:[^\p{L}\s]*\*[^\p{L}\s]*\s+)(?:[^\p{L}\s]+\s+)+/u;

/** What the messages of a pattern have in common: its parts, with a hole between each two for what varies. */
export function patternParts({ shape, sample }: Pick<DigestGroup, 'shape' | 'sample'>): string[] {
  // Values beside each other are one hole.
  if (shape) return shape.replace(LEADING_VALUES, '* ').split(/\*(?: \*)*/);
  const line = sample.message.split('\n', 1)[0] ?? '';
  return line.slice(0, 200).split(/\b\d[\d.,:]*\b/);
}
