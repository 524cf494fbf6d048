import type { TextMatch } from './find-lines.ts';
import type { TomlToken, TomlTokenKind } from './toml-tokens.ts';

/** A piece of a line that is drawn in one way. */
export interface LineSegment {
  /** `plain` for what needs no colour. */
  kind: Exclude<TomlTokenKind, 'space' | 'mark' | 'other'> | 'plain';
  text: string;
  /** Within a place that was found; its index among those of the line. */
  found: number | null;
}

/** The parts of a line cut where something was found in it; neighbours that look the same are one. */
export function lineSegments(tokens: readonly TomlToken[], places: readonly TextMatch[]): LineSegment[] {
  const segments: LineSegment[] = [];
  let at = 0;
  let next = 0;
  for (const { kind: tokenKind, text } of tokens) {
    const kind = tokenKind === 'space' || tokenKind === 'mark' || tokenKind === 'other' ? 'plain' : tokenKind;
    const end = at + text.length;
    for (let from = at; from < end; ) {
      while ((places[next]?.end ?? end + 1) <= from) next++;
      const match = places[next];
      const isInside = match !== undefined && match.start <= from;
      const until = Math.min(end, isInside ? match.end : (match?.start ?? end));
      addSegment(segments, { kind, text: text.slice(from - at, until - at), found: isInside ? next : null });
      from = until;
    }
    at = end;
  }
  return segments;
}

/** The beginning of a line that is too long to be drawn whole. */
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
