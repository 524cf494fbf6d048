import type { TomlToken, TomlTokenKind } from './toml-tokens.ts';

/** A match in a text. */
export interface TextMatch {
  line: number;
  start: number;
  end: number;
}

export interface TextMatches {
  matches: TextMatch[];
  /** The search stopped at the limit. */
  isMore: boolean;
}

/** Nobody steps through more matches, and highlighting more would slow the page. */
const MAX_FOUND = 5000;

const NOTHING: TextMatches = { matches: [], isMore: false };

/** A part of a line with one style. */
export interface LineSegment {
  /** `plain` needs no colour. */
  kind: Exclude<TomlTokenKind, 'space' | 'mark' | 'other'> | 'plain';
  text: string;
  /** Index of the match this segment belongs to, among the matches of the line. */
  found: number | null;
}

/** All matches of a text, ignoring case, from the top. */
export function findInLines(lines: readonly string[], text: string, maxFound = MAX_FOUND): TextMatches {
  if (text === '') return NOTHING;
  // Not by toLowerCase(): it changes the length of some characters, which would shift later offsets.
  const pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), 'giu');
  const matches: TextMatch[] = [];
  for (const [line, content] of lines.entries())
    for (const match of content.matchAll(pattern)) {
      if (matches.length === maxFound) return { matches, isMore: true };
      matches.push({ line, start: match.index, end: match.index + match[0].length });
    }
  return { matches, isMore: false };
}

/** The next or previous match, wrapping around; -1 if there is none. */
export function stepMatch(count: number, current: number, step: 1 | -1): number {
  if (count === 0) return -1;
  return (current + step + count) % count;
}

/** Splits the tokens of a line at its matches; adjacent segments with the same style are merged. */
export function lineSegments(tokens: readonly TomlToken[], matches: readonly TextMatch[]): LineSegment[] {
  const segments: LineSegment[] = [];
  let at = 0;
  let next = 0;
  for (const { kind: tokenKind, text } of tokens) {
    const kind = tokenKind === 'space' || tokenKind === 'mark' || tokenKind === 'other' ? 'plain' : tokenKind;
    const end = at + text.length;
    for (let from = at; from < end; ) {
      while ((matches[next]?.end ?? end + 1) <= from) next++;
      const match = matches[next];
      const isInside = match !== undefined && match.start <= from;
      const until = Math.min(end, isInside ? match.end : (match?.start ?? end));
      addSegment(segments, { kind, text: text.slice(from - at, until - at), found: isInside ? next : null });
      from = until;
    }
    at = end;
  }
  return segments;
}

/** The beginning of a line that is too long to be rendered whole. */
export function cutTokens(tokens: readonly TomlToken[], maxLength: number): TomlToken[] {
  const cut: TomlToken[] = [];
  let left = maxLength;
  for (const { kind, text } of tokens) {
    if (left <= 0) break;
    cut.push({ kind, text: text.slice(0, left) });
    left -= text.length;
  }
  return cut;
}

function addSegment(segments: LineSegment[], segment: LineSegment): void {
  const last = segments.at(-1);
  if (last?.kind === 'plain' && segment.kind === 'plain' && last.found === segment.found) last.text += segment.text;
  else segments.push(segment);
}
