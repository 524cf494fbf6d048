/** What stands for a secret. Of fixed length, so that it tells nothing about the length of what it hides. */
export const MASK = '******';

/** A part of a text to be masked, `end` exclusive, in UTF-16 code units. */
export interface MaskRange {
  start: number;
  end: number;
}

/** Replaces each range by one mask. Ranges may come in any order, overlap or touch: those share one mask. */
export function maskRanges(text: string, ranges: readonly MaskRange[]): string {
  let masked = '';
  let from = 0;
  for (const { start, end } of joinRanges(ranges)) {
    masked += text.slice(from, start) + MASK;
    from = end;
  }
  return masked + text.slice(from);
}

/**
 * Whether two different ranges overlap or touch. One mask then covers both, and with them signs that told where one of
 * the secrets was: what is left may read differently.
 */
export function rangesMeet(ranges: readonly MaskRange[]): boolean {
  const ordered = ranges.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start);
  return ordered.some((range, index) => {
    const before = ordered[index - 1];
    if (before === undefined || (before.start === range.start && before.end === range.end)) return false;
    return range.start <= before.end;
  });
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
