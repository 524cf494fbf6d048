import { TOML_START, type TomlCarry, type TomlToken, tokenizeTomlLine } from './toml-tokens.ts';

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
