import {
  type ConfigLanguage,
  type ConfigLeaf,
  DocumentBuilder,
  FormatError,
  MAX_DEPTH,
  plainValue,
  type TextRange,
  type TreeEntry,
  withoutMark,
} from './config-document.ts';

/** Directives that end with a semicolon and blocks in braces: nginx and the like. A directive given again adds a value. */
export const BLOCKS: ConfigLanguage = {
  // To whom a request is passed on.
  openKeys: /^(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass$/,
  plainMask: '******',
  hasDirectives: true,
  hasLooseComments: false,
  repeatsAdd: true,
  statement: /^\s*[\w$~/"'.*-]+(?:\s[^;{}]*)?[;{]\s*$|^\s*\}\s*$/,
  read(source) {
    const reader = new BlockReader(withoutMark(source));
    return reader.read();
  },
  readPart(text) {
    try {
      return BLOCKS.read(text);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return undefined;
    }
  },
};

/** A word, without its quotes. */
interface Word extends TextRange {
  text: string;
  isQuoted: boolean;
}

class BlockReader {
  readonly #builder: DocumentBuilder;
  #at = 0;

  constructor(text: string) {
    this.#builder = new DocumentBuilder(text);
  }

  read() {
    this.#builder.entries.push(...this.#readBlock([], 0));
    return this.#builder.build(BLOCKS);
  }

  #readBlock(path: readonly string[], depth: number): TreeEntry<ConfigLeaf>[] {
    if (depth > MAX_DEPTH) throw new FormatError('nested too deeply');
    const entries: TreeEntry<ConfigLeaf>[] = [];
    for (;;) {
      const { words, end } = this.#readDirective();
      if (end === '}' && depth > 0 && words.length === 0) return entries;
      if (end === '' && depth === 0 && words.length === 0) return entries;
      const [name, ...args] = words;
      if (end === ';' && !name) continue; // some languages end a block with `};`
      if (!name || end === '' || end === '}') throw new FormatError(`a directive has no end (offset ${this.#at})`);
      if (end === ';') {
        entries.push({ names: [name.text], node: this.#toLeaf([...path, name.text], name, args) });
        continue;
      }
      // The arguments of a block are a part of its name: `location /api`, `upstream backend`.
      const names = [name.text, ...(args.length > 0 ? [args.map(({ text }) => text).join(' ')] : [])];
      const inner = [...path, ...names];
      const node = name.text.endsWith('_lua_block')
        ? this.#readCode(inner, name)
        : { kind: 'table' as const, entries: this.#readBlock(inner, depth + 1) };
      entries.push({ names, node });
    }
  }

  #toLeaf(path: readonly string[], name: Word, args: readonly Word[]) {
    const [first, ...others] = args;
    if (!first) return this.#builder.leaf(path, { start: name.end, end: name.end }, { value: true }, name.start);
    const last = others.at(-1);
    // Several words are one text, as they are written.
    if (last) {
      const range = { start: first.start - (first.isQuoted ? 1 : 0), end: last.end + (last.isQuoted ? 1 : 0) };
      return this.#builder.leaf(path, range, { value: this.#builder.text.slice(range.start, range.end) }, name.start);
    }
    const { start, end, text, isQuoted } = first;
    const value = isQuoted ? { value: text, isQuoted } : { value: plainValue(text) };
    return this.#builder.leaf(path, { start, end }, value, name.start);
  }

  /** Code of another language, up to the brace that closes it. */
  #readCode(path: readonly string[], name: Word) {
    const start = this.#at;
    for (let depth = 1; depth > 0; this.#at++) {
      const sign = this.#builder.text[this.#at];
      if (sign === undefined) throw new FormatError('a block has no end');
      depth += sign === '{' ? 1 : sign === '}' ? -1 : 0;
    }
    const range = { start, end: this.#at - 1 };
    return this.#builder.leaf(path, range, { value: this.#builder.text.slice(start, range.end) }, name.start);
  }

  /** The words up to a semicolon or a brace, which is `end`; an empty one is the end of the text. */
  #readDirective(): { words: Word[]; end: string } {
    const { text } = this.#builder;
    const words: Word[] = [];
    for (;;) {
      this.#at += /^\s*/.exec(text.slice(this.#at, this.#at + 4096))?.[0].length ?? 0;
      const sign = text[this.#at] ?? '';
      if (/\s/.test(sign)) continue;
      if (sign === '#') this.#skipComment();
      else if (sign === '' || sign === ';' || sign === '{' || sign === '}') {
        this.#at++;
        return { words, end: sign };
      } else words.push(sign === '"' || sign === "'" ? this.#readQuoted(sign) : this.#readWord());
    }
  }

  #skipComment(): void {
    const newline = this.#builder.text.indexOf('\n', this.#at);
    const end = newline < 0 ? this.#builder.text.length : newline;
    this.#builder.comment(this.#at + 1, end);
    this.#at = end;
  }

  #readQuoted(quote: string): Word {
    const { text } = this.#builder;
    const start = this.#at + 1;
    let end = start;
    while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
    if (end >= text.length) throw new FormatError('a quote has no end');
    this.#at = end + 1;
    return { start, end, text: text.slice(start, end).replace(/\\(["'\\])/g, '$1'), isQuoted: true };
  }

  /** `${name}` is a part of a word. */
  #readWord(): Word {
    const pattern = /(?:\$\{[^}\s]*\}|\\.|[^\s;{}])+/y;
    pattern.lastIndex = this.#at;
    const word = pattern.exec(this.#builder.text)?.[0] ?? '';
    const start = this.#at;
    this.#at += Math.max(1, word.length);
    return { start, end: this.#at, text: word, isQuoted: false };
  }
}
