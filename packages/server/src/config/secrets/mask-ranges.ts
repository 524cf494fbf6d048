import type { TextRange } from '../formats/config-document.ts';

/** Replaces a secret. Of fixed length, so that it does not reveal the length of the secret. */
export const MASK = '******';

/** Replaces each range by one mask. Ranges may be unordered; overlapping and adjacent ones share one mask. */
export function maskRanges(text: string, ranges: readonly TextRange[]): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of joinRanges(ranges)) {
    masked += text.slice(from, start) + MASK;
    from = end;
  }
  return masked + text.slice(from);
}

/** The same ranges in order, the empty ones dropped, overlapping and touching ones joined. */
export function joinRanges(ranges: readonly TextRange[]): TextRange[] {
  const joined: TextRange[] = [];
  const ordered = ranges.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start);
  for (const range of ordered) {
    const last = joined.at(-1);
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else joined.push({ ...range });
  }
  return joined;
}

/** The range of a secret in a text, and whether it is certain: only then its copies are masked elsewhere too. */
export interface Credential extends TextRange {
  certain: boolean;
}
