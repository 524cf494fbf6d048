import { escapeRegex } from '@porthole/logs/query';
import { MASK } from '../ui/format.ts';

export interface TomlLine {
  text: string;
  /** Full path of the setting that starts in this line: `servers[0]."host name".port`. */
  key: string | null;
  /** It continues a string of several lines. */
  isString: boolean;
}

const NAME = `(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[\\w-]+)`;
const NAMES = `${NAME}(?:[ \\t]*\\.[ \\t]*${NAME})*`;
const HEADER = new RegExp(`^\\s*(\\[\\[?)\\s*(${NAMES})\\s*\\]`);
const SETTING = new RegExp(`^\\s*(${NAMES})\\s*=`);

/** What begins a string or a comment, and what ends a string or is escaped in it. */
const BEGIN = /"""|'''|["'#]/g;
const ENDS: Readonly<Record<string, RegExp>> = { '"': /\\.|"/g, "'": /'/g, '"""': /\\.|"""/g, "'''": /'''/g };

/** The lines of a TOML text, and which setting starts in each. Texts of other formats have lines without keys. */
export function tomlLines(text: string): TomlLine[] {
  const tables = new TableNames();
  let quotes: string | null = null;
  const lines = text.split('\n').map((line): TomlLine => {
    const isString = quotes !== null;
    quotes = openQuotes(line, quotes);
    if (isString) return { text: line, key: null, isString };
    const header = HEADER.exec(line);
    if (header) tables.open(namesIn(header[2] ?? ''), header[1] === '[[');
    const setting = header ? null : SETTING.exec(line);
    return { text: line, key: setting && tables.keyOf(namesIn(setting[1] ?? '')), isString };
  });
  // A trailing line feed does not start another line.
  if (lines.length > 1 && lines.at(-1)?.text === '') lines.pop();
  return lines;
}

/** The quotes of a string of several lines that is open at the end of a line. */
function openQuotes(line: string, open: string | null): string | null {
  let quotes = open;
  for (let at = 0; ; ) {
    const pattern: RegExp = (quotes === null ? undefined : ENDS[quotes]) ?? BEGIN;
    pattern.lastIndex = at;
    const found = pattern.exec(line)?.[0];
    if (found === '#') return null;
    if (found === undefined) return quotes?.length === 3 ? quotes : null;
    at = pattern.lastIndex;
    if (!found.startsWith('\\')) quotes = quotes === null ? found : null;
  }
}

/** Tracks the current table while lines are read from the top, and so the full path of each key. */
class TableNames {
  #table = '';
  /** Elements seen so far of each array of tables. */
  readonly #arrays = new Map<string, number>();

  keyOf(names: readonly string[]): string {
    return names.reduce(join, this.#table);
  }

  open(names: readonly string[], isElement: boolean): void {
    let path = '';
    for (const [index, part] of names.entries()) {
      path = join(path, part);
      if (isElement && index === names.length - 1) this.#arrays.set(path, (this.#arrays.get(path) ?? 0) + 1);
      const count = this.#arrays.get(path);
      if (count !== undefined) path += `[${count - 1}]`;
    }
    this.#table = path;
  }
}

function namesIn(text: string): string[] {
  return (text.match(new RegExp(NAME, 'g')) ?? []).map((name) => {
    if (name.startsWith("'")) return name.slice(1, -1);
    // Other escapes stay: the key then matches no setting and only loses its explanation.
    return name.startsWith('"') ? name.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : name;
  });
}

/** As settings are named: keys that are not bare are quoted. */
function join(path: string, name: string): string {
  return `${path}${path === '' ? '' : '.'}${/^[\w-]+$/.test(name) ? name : JSON.stringify(name)}`;
}

/** More than a comment that explains a key has. */
const MAX_ABOUT = 240;

/** What the comments above a setting say about it: `the directory of the log`, and its default. */
export function explainKey(lines: readonly TomlLine[], key: string): { about: string | null; default: string | null } {
  const at = lines.findIndex((line) => line.key === key);
  const comments: string[] = [];
  for (let index = at - 1; index >= 0 && lines[index]?.text.trimStart().startsWith('#'); index--)
    comments.unshift((lines[index]?.text ?? '').replace(/^[\s#]+/, '').trim());
  const about: string[] = [];
  let known: string | null = null;
  for (const comment of comments) {
    const found = /^default(?: value)?(?: is)?:?\s+(.+?)(?:\.\s+Environment: .*|\.)?$/i.exec(comment);
    if (found) known ??= (found[1] ?? '').replace(/^"(.*)"$/, '$1');
    // A setting that is commented out says nothing about the next one.
    else if (comment !== '' && !/^(?:Env(?:ironment)?:|Set by )/.test(comment) && !SETTING.test(comment))
      about.push(comment);
  }
  const text = about.join(' ');
  return { about: text === '' || text.length > MAX_ABOUT ? null : text, default: known };
}

/** A part of a line with a colour of its own, or none. */
interface Token {
  kind: 'comment' | 'table' | 'string' | 'number' | 'mask' | 'plain';
  text: string;
}

/** Parts of a line, in the order in which they are tried. Each is short of backtracking: lines may be very long. */
const TOKEN = new RegExp(
  [
    '(?<comment>#.*$)',
    `(?<table>^\\s*\\[\\[?\\s*${NAMES}\\s*\\]\\]?)`,
    `(?<plain>^\\s*${NAMES}(?=\\s*=))`,
    `(?<string>"(?:[^"\\\\]|\\\\.)*"?|'[^']*'?)`,
    '(?<number>(?<![\\w.-])(?:true|false|[+-]?(?:inf|nan|\\d[\\w.:+-]*))(?![\\w]))',
  ].join('|'),
  'g',
);

/** The parts of a line that have colours; joined they are the line again. */
export function tokenize({ text, isString }: Pick<TomlLine, 'text' | 'isString'>): Token[] {
  const tokens: Token[] = [];
  const add = (kind: Token['kind'], part: string) => {
    for (const piece of part.split(/(\*{6})/))
      if (piece !== '') tokens.push({ kind: piece === MASK ? 'mask' : kind, text: piece });
  };
  if (isString) {
    add('string', text);
    return tokens;
  }
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    add('plain', text.slice(at, match.index));
    const kind = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined)?.[0];
    add((kind ?? 'plain') as Token['kind'], match[0]);
    at = match.index + match[0].length;
  }
  add('plain', text.slice(at));
  return tokens;
}

/** A part of a line: what changed in it, or was found. */
export interface LineRange {
  start: number;
  end: number;
}

interface Segment extends Token {
  /** Index of the range it belongs to. */
  range: number | null;
}

/** Splits tokens at ranges, which are in order and do not overlap. */
export function splitTokens(tokens: readonly Token[], ranges: readonly LineRange[]): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  let next = 0;
  for (const { kind, text } of tokens) {
    const end = at + text.length;
    for (let from = at; from < end; ) {
      while ((ranges[next]?.end ?? end + 1) <= from) next++;
      const range = ranges[next];
      const isInside = range !== undefined && range.start <= from;
      const until = Math.min(end, isInside ? range.end : (range?.start ?? end));
      segments.push({ kind, text: text.slice(from - at, until - at), range: isInside ? next : null });
      from = until;
    }
    at = end;
  }
  return segments;
}

export interface TextMatch extends LineRange {
  line: number;
}

/** Nobody steps through more matches, and highlighting more would slow the page. */
const MAX_FOUND = 5000;

/** All matches of a text, ignoring case, from the top; `isMore`: the search stopped at the limit. */
export function findInLines(
  lines: readonly Pick<TomlLine, 'text'>[],
  text: string,
  maxFound = MAX_FOUND,
): { matches: TextMatch[]; isMore: boolean } {
  const matches: TextMatch[] = [];
  if (text === '') return { matches, isMore: false };
  // Not by toLowerCase(): it changes the length of some characters, which would shift later offsets.
  const pattern = new RegExp(escapeRegex(text), 'giu');
  for (const [line, { text: content }] of lines.entries())
    for (const match of content.matchAll(pattern)) {
      if (matches.length === maxFound) return { matches, isMore: true };
      matches.push({ line, start: match.index, end: match.index + match[0].length });
    }
  return { matches, isMore: false };
}
