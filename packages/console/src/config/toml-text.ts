import { TableNames } from './table-names.ts';
import { TOML_START, type TomlCarry, type TomlToken, tokenizeTomlLine } from './toml-tokens.ts';

export interface TomlLine {
  tokens: readonly TomlToken[];
  /** The whole path of the setting that begins in this line, as settings are named: `servers[0]."host name".port`. */
  key: string | null;
}

/**
 * A TOML text by lines. Looking at all of a large one at once would hold up the page: `tell` looks at some more, and
 * lines not looked at yet are plain text.
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
    // What ends with a line feed has no line behind it.
    if (lines.length > 1 && lines.at(-1) === '') lines.pop();
    this.lines = lines;
  }

  get isTokenized(): boolean {
    return this.#tokenized.length === this.lines.length;
  }

  /** Looks at so many more lines. */
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
