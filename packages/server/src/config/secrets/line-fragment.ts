import type { ConfigTree, TextRange, TreeEntry } from '../formats/config-document.ts';
import { closingQuote, readJson } from '../formats/read-json.ts';

/** A table or list of a text of lines, and the names around it. */
interface LineTable {
  path: readonly string[];
  tree: ConfigTree<TextRange>;
}

/** Deeper than any fragment; limits recursion, and the cost of a text with ever deeper lines. */
const MAX_DEPTH = 64;

const KEY =
  /(?:export[ \t]+)?(?:"([^"\r\n]{1,128})"|'([^'\r\n]{1,128})'|([\w./:$-]{1,200}))[ \t]*(:(?=[ \t\r\n]|$)|=>?)[ \t]*/y;

/** One level of indentation. */
interface Level {
  indent: number;
  path: readonly string[];
  entries: TreeEntry<TextRange>[];
  items: ConfigTree<TextRange>[];
  /** The last key, for what is indented below it. */
  below: readonly string[];
  /** The list of plain items below that key. */
  list: Level | undefined;
}

/**
 * Loosely parses lines as YAML, INI, properties or dotenv, whichever they look like, to find which values belong to which
 * names. Other lines are ignored.
 */
export function readLines(text: string): LineTable[] {
  return new LineReader(text).read();
}

class LineReader {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #stack: Level[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#open(0, []);
  }

  read(): LineTable[] {
    while (this.#at < this.#text.length) this.#readLine(this.#at, this.#lineEnd(this.#at));
    return this.#levels.flatMap(({ path, entries, items }): LineTable[] => [
      ...(entries.length > 0 ? [{ path, tree: { kind: 'table', entries } as const }] : []),
      ...(items.length > 0 ? [{ path, tree: { kind: 'list', items } as const }] : []),
    ]);
  }

  #readLine(start: number, end: number): void {
    this.#at = end + 1;
    const [blanks = ''] = this.#match(/[ \t]*/y, start) ?? [];
    const from = start + blanks.length;
    if (from >= end || this.#text[from] === '#') return;
    const section = /^\[+([^\]\r\n]{1,128})\]+[ \t\r]*$/.exec(this.#text.slice(from, Math.min(end, from + 140)))?.[1];
    if (section !== undefined) {
      this.#stack = [];
      this.#open(0, section.split(/[.\s"']+/));
      return;
    }
    const [dashes = ''] = this.#match(/(?:-[ \t]+)*/y, from) ?? [];
    const at = from + dashes.length;
    const key = this.#match(KEY, at);
    if (key === null || at + key[0].length > end) {
      if (dashes !== '') this.#listAt(blanks.length).items.push(this.#valueAt(at, end));
      return;
    }
    const level = dashes === '' ? this.#levelAt(blanks.length) : this.#itemLevel(blanks.length, at - start);
    this.#readValue(level, key, { start: at + key[0].length, end, indent: blanks.length });
  }

  #readValue(level: Level, key: RegExpExecArray, value: { start: number; end: number; indent: number }): void {
    // npm puts the registry before the name: `//registry/:_authToken`.
    const names = [(key[1] ?? key[2] ?? key[3] ?? '').replace(/^.*:/, '')];
    level.below = [...level.path, ...names];
    level.list = undefined;
    const block = /^[|>][+-]?\d?[ \t\r]*$/.test(this.#text.slice(value.start, Math.min(value.end, value.start + 16)));
    if (block) level.entries.push({ names, node: this.#blockBelow(value) });
    else if (this.#text.slice(value.start, value.end).trim() !== '')
      level.entries.push({ names, node: this.#valueAt(value.start, value.end, key[4] === ':') });
  }

  /** The lines below that are indented further, as one value. */
  #blockBelow({ end, indent }: { end: number; indent: number }): ConfigTree<TextRange> {
    const start = end + 1;
    let last = start;
    while (this.#at < this.#text.length) {
      const lineEnd = this.#lineEnd(this.#at);
      const line = this.#text.slice(this.#at, lineEnd);
      if (line.trim() !== '') {
        if (line.length - line.trimStart().length <= indent) break;
        last = this.#at + line.trimEnd().length;
      }
      this.#at = lineEnd + 1;
    }
    const from = start + (/^[ \t]*/.exec(this.#text.slice(start, last))?.[0].length ?? 0);
    return { kind: 'leaf', leaf: { start: from, end: last }, text: this.#text.slice(from, last) };
  }

  #valueAt(start: number, lineEnd: number, isYaml = false): ConfigTree<TextRange> {
    const sign = this.#text[start] ?? '';
    if (sign === '{' || sign === '[') {
      const json = readJson(this.#text, start);
      if (json && json.end <= lineEnd) return json.tree;
    }
    const quote = /["']/.test(sign) ? closingQuote(this.#text, start) : -1;
    if (quote >= 0 && quote < lineEnd) return this.#leaf(start + 1, quote);
    const line = this.#text.slice(start, lineEnd);
    const comment = isYaml ? line.search(/[ \t]#/) : -1;
    const shown = (comment < 0 ? line : line.slice(0, comment)).trimEnd().replace(/[;,]$/, '');
    return this.#leaf(start, start + shown.length);
  }

  #leaf(start: number, end: number): ConfigTree<TextRange> {
    const text = this.#text.slice(start, end);
    if (/^(?:true|false|null|~)?$/i.test(text)) return { kind: 'list', items: [] };
    return { kind: 'leaf', leaf: { start, end }, text };
  }

  #levelAt(indent: number): Level {
    while (this.#stack.length > 1 && this.#top().indent > indent) this.#stack.pop();
    const top = this.#top();
    return top.indent < indent ? this.#open(indent, top.below) : top;
  }

  /** Each item of a list of tables is a table of its own. */
  #itemLevel(dash: number, indent: number): Level {
    while (this.#stack.length > 1 && this.#top().indent > dash) this.#stack.pop();
    return this.#open(indent, this.#top().below);
  }

  /** Plain items belong together: one may be a flag and the next its value. */
  #listAt(dash: number): Level {
    while (this.#stack.length > 1 && this.#top().indent > dash) this.#stack.pop();
    const top = this.#top();
    if (top.list) return top.list;
    const list = newLevel(dash, top.below);
    this.#levels.push(list);
    top.list = list;
    return list;
  }

  #open(indent: number, path: readonly string[]): Level {
    const level = newLevel(indent, path);
    this.#levels.push(level);
    if (this.#stack.length < MAX_DEPTH) this.#stack.push(level);
    return level;
  }

  #top(): Level {
    return this.#stack.at(-1) ?? this.#open(0, []);
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at);
    return end < 0 ? this.#text.length : end;
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }
}

function newLevel(indent: number, path: readonly string[]): Level {
  return { indent, path: path.slice(0, MAX_DEPTH), entries: [], items: [], below: path, list: undefined };
}
