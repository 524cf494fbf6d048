/** Kinds of TOML tokens that are styled differently. */
export type TomlTokenKind =
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
export interface TomlCarry {
  /** The quotes of an open multi-line string. */
  readonly quotes: '"""' | "'''" | null;
  /** Open arrays and inline tables, outermost first. */
  readonly open: string;
}

export const TOML_START: TomlCarry = { quotes: null, open: '' };

/** Replaces a secret. */
export const MASK = '******';

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
