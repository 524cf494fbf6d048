import type { ConfigTree, TextRange, TreeEntry } from './config-document.ts';

/** Limits recursion. */
const MAX_DEPTH = 64;

/** Parses the JSON value at a position of a text, with positions, so that parts of it can be masked in place. */
export function readJson(text: string, start: number): { tree: ConfigTree<TextRange>; end: number } | undefined {
  const reader = new JsonReader(text, start);
  const tree = reader.read(0);
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

class JsonReader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  read(depth: number): ConfigTree<TextRange> | undefined {
    if (depth > MAX_DEPTH) return undefined;
    this.#skipBlanks();
    const sign = this.#text[this.at];
    if (sign === '{') return this.#readTable(depth);
    if (sign === '[') return this.#readList(depth);
    if (sign === '"') return this.#readString();
    const word = this.#match(/[\w.+-]{1,64}/y);
    if (word === undefined) return undefined;
    // Booleans and null are never secret; for numbers the path decides.
    if (/^(?:true|false|null)$/.test(word)) return { kind: 'list', items: [] };
    return { kind: 'leaf', leaf: { start: this.at - word.length, end: this.at }, text: undefined };
  }

  #readString(): (ConfigTree<TextRange> & { kind: 'leaf' }) | undefined {
    const start = this.at + 1;
    const end = closingQuote(this.#text, this.at);
    if (end < 0) return undefined;
    this.at = end + 1;
    return { kind: 'leaf', leaf: { start, end }, text: unescaped(this.#text.slice(start, end)) };
  }

  #readTable(depth: number): ConfigTree<TextRange> | undefined {
    const entries: TreeEntry<TextRange>[] = [];
    this.at++;
    while (!this.#take('}')) {
      if (entries.length > 0 && !this.#take(',')) return undefined;
      this.#skipBlanks();
      const name = this.#text[this.at] === '"' ? this.#readString()?.text : undefined;
      if (name === undefined || !this.#take(':')) return undefined;
      const node = this.read(depth + 1);
      if (!node) return undefined;
      entries.push({ names: [name], node });
    }
    return { kind: 'table', entries };
  }

  #readList(depth: number): ConfigTree<TextRange> | undefined {
    const items: ConfigTree<TextRange>[] = [];
    this.at++;
    while (!this.#take(']')) {
      if (items.length > 0 && !this.#take(',')) return undefined;
      const item = this.read(depth + 1);
      if (!item) return undefined;
      items.push(item);
    }
    return { kind: 'list', items };
  }

  #take(sign: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  #skipBlanks(): void {
    this.#match(/\s+/y);
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
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return raw; // not escaped as in JSON
  }
}
