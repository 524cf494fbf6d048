import { type AnsiColours, ansiSegments } from '../rows/ansi-segments.ts';
import { visibleText } from '../rows/record-text.ts';

/* Splits a text into pieces of one style. */

export interface TextRange {
  start: number;
  end: number;
}

/** Match positions in a text, ascending, not overlapping. */
export type TextMatcher = (text: string) => readonly TextRange[];

export interface TextPiece {
  /** Text with control and bidi characters made visible. */
  text: string;
  /** Classes for terminal colours. */
  classes: string;
  /** Custom properties for colours without a class. */
  colours?: AnsiColours;
  isMatch: boolean;
}

/** Limits the elements of a line that is full of matches or colours. */
const MAX_MARKS = 12;
const MAX_SEGMENTS = 24;

/** Terminal colours become classes and matches become pieces; matching runs on the visible text. */
export function textPieces(text: string, matcher: TextMatcher | null): TextPiece[] {
  const segments = bounded(ansiSegments(text));
  const whole = segments.map((segment) => segment.text).join('');
  const marks = matcher ? matcher(whole).slice(0, MAX_MARKS) : [];
  const pieces: TextPiece[] = [];
  let start = 0;
  for (const segment of segments) {
    const end = start + segment.text.length;
    for (const part of cut({ start, end }, marks)) {
      const shown = visibleText(whole.slice(part.start, part.end));
      pieces.push({
        text: shown,
        classes: segment.classes.join(' '),
        isMatch: part.isMatch,
        ...(segment.colours && { colours: segment.colours }),
      });
    }
    start = end;
  }
  return pieces;
}

/** Splits a run of text at its matches. */
function cut({ start, end }: TextRange, marks: readonly TextRange[]): (TextRange & { isMatch: boolean })[] {
  const parts: (TextRange & { isMatch: boolean })[] = [];
  let done = start;
  for (const mark of marks) {
    const [from, to] = [Math.max(done, mark.start), Math.min(end, mark.end)];
    if (to <= from) continue;
    if (from > done) parts.push({ start: done, end: from, isMatch: false });
    parts.push({ start: from, end: to, isMatch: true });
    done = to;
  }
  if (done < end) parts.push({ start: done, end, isMatch: false });
  return parts;
}

function bounded(segments: ReturnType<typeof ansiSegments>): ReturnType<typeof ansiSegments> {
  if (segments.length <= MAX_SEGMENTS) return segments;
  const rest = segments.slice(MAX_SEGMENTS).map(({ text }) => text);
  return [...segments.slice(0, MAX_SEGMENTS), { text: rest.join(''), classes: [] }];
}
