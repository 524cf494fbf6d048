import { parseJson } from '@porthole/contract';
import {
  type ConfigLanguage,
  type ConfigTree,
  DocumentBuilder,
  FormatError,
  type TextRange,
  type TreeEntry,
  withoutMark,
} from './config-document.ts';

/** Deeper than any configuration; limits recursion. */
const MAX_DEPTH = 64;

/** JSON, and JSON with comments and trailing commas. */
export const JSON_TEXT: ConfigLanguage = {
  plainMask: '"******"',
  hasDirectives: false,
  hasLooseComments: false,
  repeatsAdd: false,
  statement: /^\s*"[^"]*"\s*:/,
  read(source) {
    const builder = new DocumentBuilder(withoutMark(source));
    const reader = new JsonReader(builder.text, 0, {
      scalar: ({ names, keyStart, text, ...range }) =>
        builder.leaf(names, range, toValue(builder.text.slice(range.start, range.end), text), keyStart),
      onComment: (start, end) => {
        for (const line of builder.text.slice(start, end).matchAll(/[^\n]+/g))
          builder.comment(start + line.index, start + line.index + line[0].length);
      },
    });
    const tree = reader.read();
    reader.skipBlanks();
    if (tree === undefined || reader.at < builder.text.length) throw new FormatError('not valid JSON');
    if (tree.kind !== 'table') throw new FormatError('JSON, but not an object');
    builder.entries.push(...tree.entries);
    return builder.build(JSON_TEXT);
  },
  readPart(text) {
    const isWhole = /^\s*\{/.test(text);
    try {
      const document = JSON_TEXT.read(isWhole ? text : `{${text}}`);
      if (!isWhole)
        for (const { leaves } of document.statements)
          for (const leaf of leaves) Object.assign(leaf, { start: leaf.start - 1, end: leaf.end - 1 });
      return document;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return undefined;
    }
  },
};

function toValue(raw: string, text: string | undefined) {
  if (text !== undefined) return { value: text, isQuoted: true };
  if (raw === 'true' || raw === 'false') return { value: raw === 'true' };
  if (raw === 'null') return { value: '' };
  const number = Number(raw);
  if (Number.isNaN(number)) throw new FormatError('not valid JSON');
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? { value: number } : { value: raw, isPlain: true };
}

/** Parses the JSON value at a position of a text, with positions, so that parts of it can be masked in place. */
export function readJson(text: string, start: number): { tree: ConfigTree<TextRange>; end: number } | undefined {
  const reader = new JsonReader<TextRange>(text, start, {
    scalar: ({ text: string, start: from, end }) => {
      // Booleans and null are never secret; for numbers the path decides.
      if (string === undefined && /^(?:true|false|null)$/.test(text.slice(from, end)))
        return { kind: 'list', items: [] };
      return { kind: 'leaf', leaf: { start: from, end }, text: string };
    },
  });
  const tree = reader.read();
  return tree && { tree, end: reader.at };
}

/** The text as JSON, if all of it is a table or a list. */
export function readWholeJson(text: string): ConfigTree<TextRange> | undefined {
  const first = text.search(/\S/);
  if (first < 0 || (text[first] !== '{' && text[first] !== '[')) return undefined;
  const json = readJson(text, first);
  return json && text.slice(json.end).trim() === '' ? json.tree : undefined;
}

/** Position of the quote that closes the one at `start`, -1 for none. */
export function closingQuote(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === text[start]) return index;
  }
  return -1;
}

/** A string, without its quotes, or a number, `true`, `false` or `null`. */
interface JsonScalar extends TextRange {
  names: readonly string[];
  keyStart: number;
  /** The value of a string. */
  text: string | undefined;
}

interface JsonOptions<L> {
  scalar(scalar: JsonScalar): ConfigTree<L>;
  /** With it, comments and trailing commas are accepted. */
  onComment?(start: number, end: number): void;
}

/** Where a value stands. */
interface JsonContext {
  names: readonly string[];
  keyStart: number;
}

class JsonReader<L> {
  readonly #text: string;
  readonly #options: JsonOptions<L>;
  at: number;

  constructor(text: string, at: number, options: JsonOptions<L>) {
    this.#text = text;
    this.at = at;
    this.#options = options;
  }

  read(context: JsonContext = { names: [], keyStart: this.at }, depth = 0): ConfigTree<L> | undefined {
    if (depth > MAX_DEPTH) return undefined;
    this.skipBlanks();
    const sign = this.#text[this.at];
    if (sign === '{') return this.#readTable(context.names, depth);
    if (sign === '[') return this.#readList(context, depth);
    const string = sign === '"' ? this.#readString() : undefined;
    if (string) return this.#options.scalar({ ...context, ...string });
    const word = this.#match(/[\w.+-]{1,64}/y);
    if (word === undefined) return undefined;
    return this.#options.scalar({ ...context, start: this.at - word.length, end: this.at, text: undefined });
  }

  skipBlanks(): void {
    this.#match(/\s+/y);
    const { onComment } = this.#options;
    if (!onComment) return;
    for (;;) {
      const comment = this.#match(/\/\/[^\n]*|\/\*[\s\S]*?\*\//y);
      if (comment === undefined) return;
      onComment(this.at - comment.length + 2, comment.startsWith('/*') ? this.at - 2 : this.at);
      this.#match(/\s+/y);
    }
  }

  #readString(): (TextRange & { text: string }) | undefined {
    const start = this.at + 1;
    const end = closingQuote(this.#text, this.at);
    if (end < 0) return undefined;
    this.at = end + 1;
    return { start, end, text: unescaped(this.#text.slice(start, end)) };
  }

  #readTable(names: readonly string[], depth: number): ConfigTree<L> | undefined {
    const entries: TreeEntry<L>[] = [];
    this.at++;
    while (!this.#take('}')) {
      if (entries.length > 0 && !this.#take(',')) return undefined;
      if (this.#options.onComment && entries.length > 0 && this.#take('}')) break;
      this.skipBlanks();
      const keyStart = this.at;
      const name = this.#text[this.at] === '"' ? this.#readString()?.text : undefined;
      if (name === undefined || !this.#take(':')) return undefined;
      const node = this.read({ names: [...names, name], keyStart }, depth + 1);
      if (!node) return undefined;
      entries.push({ names: [name], node });
    }
    return { kind: 'table', entries };
  }

  #readList(context: JsonContext, depth: number): ConfigTree<L> | undefined {
    const items: ConfigTree<L>[] = [];
    this.at++;
    while (!this.#take(']')) {
      if (items.length > 0 && !this.#take(',')) return undefined;
      if (this.#options.onComment && items.length > 0 && this.#take(']')) break;
      this.skipBlanks();
      const item = this.read({ ...context, keyStart: this.at }, depth + 1);
      if (!item) return undefined;
      items.push(item);
    }
    return { kind: 'list', items };
  }

  #take(sign: string): boolean {
    this.skipBlanks();
    if (this.#text[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }
}

function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  // What is not escaped as in JSON stays as it is.
  return String(parseJson(`"${raw}"`) ?? raw);
}
