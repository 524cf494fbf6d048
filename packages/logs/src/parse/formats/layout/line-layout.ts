import type { Level } from '../../../types.ts';
import { exactNumber } from '../../exact-context.ts';
import { levelRank, readLevelWord, statusRank, valueLetterRank } from '../../level.ts';
import { isDigit, SPACE, skipSpaces, TAB } from '../tokens/byte-scan.ts';
import type { ReadTime } from '../tokens/iso-time.ts';
import type { TimeReader } from './time-layout.ts';

export class LineLayoutError extends Error {
  override name = 'LineLayoutError';
}

/** What a part of a line is; everything else goes into the context under its name. */
type PartKind = 'literal' | 'space' | 'time' | 'level' | 'status' | 'field';

interface Part {
  kind: PartKind;
  /** Of a literal its text, of a field its name. */
  text: string;
  codes: number[];
  /** What a field must be: digits, one word, or one of these texts. */
  type: 'int' | 'word' | 'text' | readonly string[] | undefined;
  mayBeEmpty: boolean;
  /** What ends a field: the literal after it, spaces, or the end of the line. */
  until: number[] | 'space' | 'end';
  /** Of a text in `until`: for each length, how much of its start the bytes matched so far end with. */
  borders: number[];
}

/** A compiled line layout. */
export interface LineLayout {
  readonly parts: readonly Part[];
  /** Number of the first parts that contain the time, and those that contain time and level. */
  readonly timeParts: number;
  readonly headParts: number;
}

/** Longest level word, `Informational`, and what may surround it. */
const MAX_LEVEL_BYTES = 16;

const NO_CODES: number[] = [];

/**
 * Compiles a line layout: `{time} [{level}] {logger}: {message}`. A field extends to the first occurrence of the text after it,
 * and to the next space if a space follows; the last one is the rest of the line. A space stands for one or more spaces or
 * tabs. `{name:int}` has digits only, `{name:word}` no spaces, `{name:a|b}` is one of these texts, and `{name:text}` extends
 * over spaces to the text after the next one; `{name?}` may be empty, `{_}` is dropped. `time`, `level`, `logger`, `source` and
 * `message` are columns, others go into the context; `{name:http}` is a status that sets the level. `{{` is a brace. Matching
 * takes time linear in the line.
 */
export function compileLineLayout(layout: string): LineLayout {
  const parts: Part[] = [];
  const tokens = [...layout.matchAll(/\{\{|\{[^{}]*\}| +|(?:(?!\{)[^ ])+/g)].map(([token]) => token);
  if (tokens.join('') !== layout)
    throw new LineLayoutError(`the layout ${JSON.stringify(layout)} has an open brace; {{ stands for one`);
  for (const token of tokens) {
    if (token.trim() === '') parts.push(makePart('space', ' '));
    else if (token === '{{') addLiteral(parts, '{');
    else if (token.startsWith('{')) parts.push(fieldPart(token.slice(1, -1), layout));
    else addLiteral(parts, token);
  }
  parts.forEach((part, index) => {
    const next = parts[index + 1];
    if (part.type === 'text') part.until = [SPACE, ...(parts[index + 2]?.codes ?? [])];
    else if (next?.kind === 'literal') part.until = next.codes;
    else if (next?.kind === 'space') part.until = 'space';
    else if (next !== undefined && part.kind === 'field' && next.kind !== 'time' && next.kind !== 'level')
      throw new LineLayoutError(`the layout ${JSON.stringify(layout)} has two fields with nothing between them`);
  });
  for (const part of parts) if (typeof part.until !== 'string') part.borders = findBorders(part.until);
  const timeParts = parts.findIndex(({ kind }) => kind === 'time') + 1;
  const levelParts = parts.findIndex(({ kind }) => kind === 'level' || kind === 'status') + 1;
  return { parts, timeParts, headParts: Math.max(timeParts, levelParts) };
}

function makePart(kind: PartKind, text: string): Part {
  const codes = kind === 'literal' ? [...Buffer.from(text)] : NO_CODES;
  return { kind, text, codes, type: undefined, mayBeEmpty: false, until: 'end', borders: NO_CODES };
}

function addLiteral(parts: Part[], text: string): void {
  const last = parts.at(-1);
  if (last?.kind === 'literal') parts[parts.length - 1] = makePart('literal', last.text + text);
  else parts.push(makePart('literal', text));
}

function fieldPart(text: string, layout: string): Part {
  const [, name, type, optional] = /^(\w+)(?::([^?]+))?(\?)?$/.exec(text) ?? [];
  if (name === undefined)
    throw new LineLayoutError(`the layout ${JSON.stringify(layout)} has an invalid field {${text}}`);
  const kind = name === 'time' || name === 'level' ? name : type === 'http' ? 'status' : 'field';
  return { ...makePart(kind, name), type: parseType(type), mayBeEmpty: optional !== undefined };
}

function parseType(type: string | undefined): Part['type'] {
  if (type === undefined || type === 'word' || type === 'text' || type === 'int') return type;
  return type === 'http' ? 'int' : type.split('|');
}

/** Matches lines of one file. Where parts start and end is found in `starts` and `ends`. */
export class LineMatcher {
  readonly layout: LineLayout;
  readonly #readTime: TimeReader;
  readonly #rankOf: (bytes: Buffer, start: number, end: number) => number;
  readonly #time: ReadTime = { timeMs: Number.NaN, end: 0 };
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  rank = 0;

  constructor(layout: LineLayout, readTime: TimeReader, levels: Readonly<Record<string, Level>> | undefined) {
    this.layout = layout;
    this.#readTime = readTime;
    this.#rankOf = createLevelReader(levels);
    this.#starts = new Int32Array(layout.parts.length);
    this.#ends = new Int32Array(layout.parts.length);
  }

  get timeMs(): number {
    return this.layout.timeParts > 0 ? this.#time.timeMs : Number.NaN;
  }

  /** The position after the first `count` parts; negative if the line does not start with them. */
  match(bytes: Buffer, start: number, end: number, count = this.layout.parts.length): number {
    const { parts } = this.layout;
    let at = start;
    this.rank = 0;
    for (let index = 0; index < count; index++) {
      const part = parts[index];
      if (!part) return -1;
      this.#starts[index] = at;
      at = this.#matchPart(part, bytes, at, end);
      if (at < 0) return -1;
      this.#ends[index] = at;
    }
    return count < parts.length || at === end ? at : -1;
  }

  #matchPart(part: Part, bytes: Buffer, at: number, end: number): number {
    if (part.kind === 'literal') return matchLiteral(part.codes, bytes, at, end);
    if (part.kind === 'space') {
      const to = skipSpaces(bytes, at, end);
      return to > at || at === end ? to : -1;
    }
    if (part.kind === 'time') return this.#readTime(bytes, at, end, this.#time) ? this.#time.end : -1;
    const limit = part.kind === 'level' ? Math.min(end, at + MAX_LEVEL_BYTES) : end;
    const to = findEnd(part, bytes, at, limit, end);
    if (to < 0 || (to === at && !part.mayBeEmpty)) return -1;
    if (!isOfType(part.type, bytes, at, to)) return -1;
    if (part.kind === 'status') this.rank = to - at === 3 ? statusRank(Number(bytes.toString('latin1', at, to))) : 0;
    if (part.kind === 'level') {
      this.rank = this.#rankOf(bytes, at, to);
      if (this.rank === 0) return -1;
    }
    return to;
  }

  /** The fields of the last match of all parts. */
  fields(bytes: Buffer): { name: string; value: unknown }[] {
    const found: { name: string; value: unknown }[] = [];
    for (const [index, { kind, text, type }] of this.layout.parts.entries()) {
      if ((kind !== 'field' && kind !== 'status') || text === '_') continue;
      const value = bytes.toString('utf8', this.#starts[index], this.#ends[index]).trim();
      if (value !== '' && value !== '-') found.push({ name: text, value: type === 'int' ? exactNumber(value) : value });
      else if (text === 'message') found.push({ name: text, value });
    }
    return found;
  }
}

function isOfType(type: Part['type'], bytes: Buffer, start: number, end: number): boolean {
  if (type === undefined || type === 'text') return true;
  if (typeof type !== 'string') return type.includes(bytes.toString('latin1', start, end));
  for (let at = start; at < end; at++) {
    if (type === 'int' ? !isDigit(bytes[at]) : bytes[at] === SPACE || bytes[at] === TAB) return false;
  }
  return true;
}

function matchLiteral(codes: readonly number[], bytes: Buffer, at: number, end: number): number {
  if (at + codes.length > end) return -1;
  for (let index = 0; index < codes.length; index++) if (bytes[at + index] !== codes[index]) return -1;
  return at + codes.length;
}

/** Where a field ends: not after `limit`, or after `end` if it is not limited. */
function findEnd({ until, borders }: Part, bytes: Buffer, start: number, limit: number, end: number): number {
  if (until === 'end') return limit === end ? end : -1;
  if (until === 'space') {
    let at = start;
    while (at < limit && bytes[at] !== SPACE && bytes[at] !== TAB) at++;
    return at < limit || limit === end ? at : -1;
  }
  // Knuth, Morris and Pratt: comparing the text at every byte took as many times as long as the text has bytes.
  const last = Math.min(end, limit + until.length);
  for (let at = start, matched = 0; at < last; at++) {
    while (matched > 0 && bytes[at] !== until[matched]) matched = borders[matched - 1] ?? 0;
    if (bytes[at] === until[matched]) matched++;
    if (matched === until.length) return at + 1 - matched;
  }
  return -1;
}

function findBorders(text: readonly number[]): number[] {
  const borders = text.map(() => 0);
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}

/** Reads a level: one of the given texts, a level word, or its first letter alone. */
function createLevelReader(levels: Readonly<Record<string, Level>> = {}) {
  const given = new Map(
    Object.entries(levels).map(([text, level]) => [
      Buffer.from(text).toString('latin1').toLowerCase(),
      levelRank(level),
    ]),
  );
  return (bytes: Buffer, start: number, end: number): number => {
    const from = skipSpaces(bytes, start, end);
    let to = end;
    while (to > from && bytes[to - 1] === SPACE) to--;
    if (given.size > 0) {
      const rank = given.get(bytes.toString('latin1', from, to).toLowerCase());
      if (rank !== undefined) return rank;
    }
    if (to - from === 1) return valueLetterRank(bytes[from]);
    return readLevelWord(bytes, from, to);
  };
}
