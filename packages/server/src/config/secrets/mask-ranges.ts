/** Replaces a secret. Of fixed length, so that it does not reveal the length of the secret. */
export const MASK = '******';

/** A part of a text to be masked, `end` exclusive, in UTF-16 code units. */
export interface MaskRange {
  start: number;
  end: number;
}

/** Replaces each range by one mask. Ranges may be unordered; overlapping and adjacent ones share one mask. */
export function maskRanges(text: string, ranges: readonly MaskRange[]): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of joinRanges(ranges)) {
    masked += text.slice(from, start) + MASK;
    from = end;
  }
  return masked + text.slice(from);
}

/** The same ranges in order, the empty ones dropped, overlapping and touching ones joined. */
export function joinRanges(ranges: readonly MaskRange[]): MaskRange[] {
  const joined: MaskRange[] = [];
  const ordered = ranges.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start);
  for (const range of ordered) {
    const last = joined.at(-1);
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else joined.push({ ...range });
  }
  return joined;
}

/** The range of a secret in a text, and whether it is certain: only then its copies are masked elsewhere too. */
export interface Credential extends MaskRange {
  certain: boolean;
}
