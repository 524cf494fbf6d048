/** A place in a text that was found. */
export interface TextMatch {
  line: number;
  start: number;
  end: number;
}

export interface TextMatches {
  matches: TextMatch[];
  /** There are more than were looked for. */
  isMore: boolean;
}

/** Nobody steps through more, and the marks of more would only slow the page. */
export const MAX_FOUND = 5000;

const NOTHING: TextMatches = { matches: [], isMore: false };

/** Every place of a text in any case, from the top. */
export function findInLines(lines: readonly string[], text: string, maxFound = MAX_FOUND): TextMatches {
  if (text === '') return NOTHING;
  // Not by lower case: that changes the length of some letters, and with it all places behind them.
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), 'giu');
  const matches: TextMatch[] = [];
  for (const [line, content] of lines.entries())
    for (const match of content.matchAll(pattern)) {
      if (matches.length === maxFound) return { matches: matches, isMore: true };
      matches.push({ line, start: match.index, end: match.index + match[0].length });
    }
  return { matches: matches, isMore: false };
}

/** The place after or before one, around the ends; -1 where there is none. */
export function stepMatch(count: number, current: number, step: 1 | -1): number {
  if (count === 0) return -1;
  return (current + step + count) % count;
}
