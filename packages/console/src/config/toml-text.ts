import { escapeRegex } from '@porthole/logs/query';
import { MASK } from './setting-values.ts';
export interface TomlLine {
  tokens: readonly TomlToken[];
  /** Full path of the setting that starts in this line: `servers[0]."host name".port`. */
  key: string | null;
}

const NAME = /"(?:[^"\\]|\\.)*"|'[^']*'|[^\s."']+/g;

/**
 * A TOML text by lines. Tokenizing a large text at once would block the page, so it is done in steps; lines not
 * tokenized yet are plain.
 */
export class TomlText {
  readonly text: string;
  readonly lines: readonly string[];
  readonly #tokenized: TomlLine[] = [];
  readonly #tables = new TableNames();
  #carry: TomlCarry = TOML_START;

  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n');
    // A trailing line feed does not start another line.
    if (lines.length > 1 && lines.at(-1) === '') lines.pop();
    this.lines = lines;
  }

  get isTokenized(): boolean {
    return this.#tokenized.length === this.lines.length;
  }

  /** Tokenizes this many more lines. */
  tokenize(count: number): void {
    const end = Math.min(this.lines.length, this.#tokenized.length + count);
    while (this.#tokenized.length < end) this.#tokenizeNext();
  }

  lineAt(index: number): TomlLine {
    const line = this.#tokenized[index];
    if (line) return line;
    const text = this.lines[index] ?? '';
    return { tokens: text === '' ? [] : [{ kind: 'other', text }], key: null };
  }

  #tokenizeNext(): void {
    const isStart = this.#carry === TOML_START;
    const { tokens, carry } = tokenizeTomlLine(this.lines[this.#tokenized.length] ?? '', this.#carry);
    this.#carry = carry;
    this.#tokenized.push({ tokens, key: isStart ? this.#tables.lineKey(tokens) : null });
  }
}

/** Tracks the current table while lines are read from the top, and so the full path of each key. */
class TableNames {
  #table = '';
  /** Elements seen so far of each array of tables. */
  readonly #arrays = new Map<string, number>();

  /** The path of the setting that starts in this line; a header only changes the current table. */
  lineKey(tokens: readonly TomlToken[]): string | null {
    const first = tokens.findIndex(({ kind }) => kind !== 'space');
    const table = tokens.find(({ kind }) => kind === 'table');
    if (table !== undefined) this.#openTable(table.text, tokens[first]?.text === '[[');
    if (tokens[first]?.kind !== 'key') return null;
    const end = tokens.findIndex(({ kind, text }) => kind === 'mark' && text === '=');
    if (end === -1) return null;
    const names = namesIn(
      tokens
        .slice(first, end)
        .map(({ text }) => text)
        .join(''),
    );
    return names.reduce(join, this.#table);
  }

  #openTable(name: string, isElement: boolean): void {
    const names = namesIn(name);
    let path = '';
    for (const [index, part] of names.entries()) {
      path = join(path, part);
      const isLast = index === names.length - 1;
      if (isLast && isElement) this.#arrays.set(path, (this.#arrays.get(path) ?? 0) + 1);
      const count = this.#arrays.get(path);
      if (count !== undefined) path += `[${count - 1}]`;
    }
    this.#table = path;
  }
}

function namesIn(text: string): string[] {
  return (text.match(NAME) ?? []).map(plainName);
}

function plainName(name: string): string {
  if (name.startsWith("'")) return name.slice(1, -1);
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // JSON rejects escapes that only TOML has. The key then matches no setting and only loses its mark.
    return name.slice(1, -1);
  }
}

/** As settings are named: keys that are not bare are quoted. */
function join(path: string, name: string): string {
  return `${path}${path === '' ? '' : '.'}${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}`;
}

/** Kinds of TOML tokens that are styled differently. */
type TomlTokenKind =
  | 'comment'
  | 'table'
  | 'key'
  | 'string'
  | 'number'
  | 'date'
  | 'boolean'
  | 'mask'
  | 'mark'
  | 'space'
  | 'other';

export interface TomlToken {
  kind: TomlTokenKind;
  text: string;
}

/** State carried from one line to the next. */
interface TomlCarry {
  /** The quotes of an open multi-line string. */
  readonly quotes: '"""' | "'''" | null;
  /** Open arrays and inline tables, outermost first. */
  readonly open: string;
}

export const TOML_START: TomlCarry = { quotes: null, open: '' };

/** Deeper brackets are not tracked: no real configuration has them, and a text full of brackets must not cost more. */
const MAX_DEPTH = 64;

const SPACE = /[ \t\r\f\v]+/y;
const BARE_KEY = /[\w-]+/y;
const STRING = /"(?:[^"\\]|\\.)*"?|'[^']*'?/y;
const DATE =
  /\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?/y;
const NUMBER = /[+-]?(?:0[xob][\da-fA-F_]+|inf\b|nan\b|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?[\d_]+)?)/y;
const BOOLEAN = /(?:true|false)\b/y;
/** Characters that cannot start a value. */
const ODD = /[^\s#"'[\]{},=]+|./sy;

/** Tokens of one line (without line feed); joined they are the line again. Invalid TOML becomes `other`. */
export function tokenizeTomlLine(line: string, carry: TomlCarry): { tokens: TomlToken[]; carry: TomlCarry } {
  const scan = new LineScan(line, carry);
  scan.run();
  return { tokens: scan.tokens, carry: scan.carry };
}

class LineScan {
  readonly tokens: TomlToken[] = [];
  readonly #line: string;
  #at = 0;
  #quotes: TomlCarry['quotes'];
  #open: string;
  #isKey: boolean;

  constructor(line: string, { quotes, open }: TomlCarry) {
    this.#line = line;
    this.#quotes = quotes;
    this.#open = open;
    // Whether a key or a value comes next in a continued inline table cannot be known from the bracket alone; usually a
    // key.
    this.#isKey = quotes === null && !open.endsWith('[');
  }

  get carry(): TomlCarry {
    return this.#quotes === null && this.#open === '' ? TOML_START : { quotes: this.#quotes, open: this.#open };
  }

  run(): void {
    if (this.#quotes !== null) this.#takeQuoted(this.#quotes, 0);
    else if (this.#open === '') this.#takeHeader();
    while (this.#at < this.#line.length) this.#takeNext();
  }

  #takeNext(): void {
    const letter = this.#line[this.#at];
    if (this.#take('space', SPACE)) return;
    if (letter === '#') this.#push('comment', this.#line.length);
    else if (letter === '"' || letter === "'") this.#takeString(letter);
    else if (letter === '=' || letter === ',' || letter === '.') this.#takeMark(letter);
    else if (letter === '[' || letter === '{') this.#openBracket(letter);
    else if (letter === ']' || letter === '}') this.#closeBracket();
    else if (this.#isKey) this.#take('key', BARE_KEY) || this.#take('other', ODD);
    else this.#takeValue();
  }

  #takeValue(): void {
    if (this.#take('boolean', BOOLEAN) || this.#take('date', DATE) || this.#take('number', NUMBER)) return;
    this.#take('other', ODD);
  }

  #takeMark(letter: string): void {
    this.#push('mark', this.#at + 1);
    if (letter === '=') this.#isKey = false;
    else if (letter === ',') this.#isKey = this.#open.endsWith('{');
  }

  #openBracket(letter: string): void {
    this.#push('mark', this.#at + 1);
    if (this.#open.length < MAX_DEPTH) this.#open += letter;
    this.#isKey = letter === '{';
  }

  #closeBracket(): void {
    this.#push('mark', this.#at + 1);
    this.#open = this.#open.slice(0, -1);
    this.#isKey = false;
  }

  #takeString(quote: string): void {
    const triple = quote === '"' ? '"""' : "'''";
    if (!this.#isKey && this.#line.startsWith(triple, this.#at)) this.#takeQuoted(triple, triple.length);
    else this.#take(this.#isKey ? 'key' : 'string', STRING);
  }

  /** A multi-line string, up to its end or the end of the line. */
  #takeQuoted(quotes: '"""' | "'''", skip: number): void {
    const end = endOfQuoted(this.#line, quotes, this.#at + skip);
    this.#quotes = end === -1 ? quotes : null;
    this.#push('string', end === -1 ? this.#line.length : end);
    this.#isKey = false;
  }

  /** `[table]` and `[[table]]`, only at the start of a line. */
  #takeHeader(): void {
    const header = /^\s*(\[\[?)((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#[\]])*)(\]\]?)/.exec(this.#line);
    if (header === null) return;
    const [, opening = '', name = '', closing = ''] = header;
    this.#take('space', SPACE);
    this.#push('mark', this.#at + opening.length);
    this.#push('table', this.#at + name.length);
    this.#push('mark', this.#at + closing.length);
  }

  #take(kind: TomlTokenKind, pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#line)) return false;
    this.#push(kind, pattern.lastIndex);
    return true;
  }

  #push(kind: TomlTokenKind, end: number): void {
    if (end <= this.#at) return;
    const text = this.#line.slice(this.#at, end);
    this.#at = end;
    if (text.includes(MASK)) for (const part of text.split(/(\*{6})/)) this.#add(part === MASK ? 'mask' : kind, part);
    else this.#add(kind, text);
  }

  #add(kind: TomlTokenKind, text: string): void {
    if (text !== '') this.tokens.push({ kind, text });
  }
}

/** Where a multi-line string ends in this line, or -1. Only basic strings have escapes. */
function endOfQuoted(line: string, quotes: '"""' | "'''", from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\' && quotes === '"""') at++;
    else if (line.startsWith(quotes, at)) {
      // Up to two more quotes belong to the string.
      let end = at + quotes.length;
      while (end < at + 5 && line[end] === quotes[0]) end++;
      return end;
    }
  }
  return -1;
}

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
  const pattern = new RegExp(escapeRegex(text), 'giu');
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
