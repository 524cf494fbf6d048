import { basename } from 'node:path';
import {
  type ConfigFormat,
  type ConfigShape,
  flattenSettings,
  type SettingJson,
  type SettingPath,
} from '@porthole/contract';

const EXTENSIONS: Readonly<Record<string, ConfigFormat>> = {
  ...{ toml: 'toml', yaml: 'yaml', yml: 'yaml', json: 'json', jsonc: 'json', json5: 'json' },
  ...{ ini: 'ini', cnf: 'ini', properties: 'properties', env: 'env', xml: 'xml' },
};

const NAMES: readonly (readonly [RegExp, ConfigFormat])[] = [
  [/^postgresql.*\.conf$/, 'postgresql'],
  [/^(?:redis|valkey|sentinel).*\.conf$/, 'key-value'],
  [/^nginx.*\.conf$/, 'nginx'],
  [/^\.env(?:\..*)?$/, 'env'],
];

/** The format that the name of a file stands for; `undefined` if its content must decide. */
export function formatOfName(path: string): ConfigFormat | undefined {
  const name = basename(path);
  const known = NAMES.find(([pattern]) => pattern.test(name))?.[1];
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return known ?? (Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined);
}

/** A part of a text, `end` exclusive, in UTF-16 code units. */
export interface TextRange {
  start: number;
  end: number;
}

/** A configuration in any language: TOML, YAML, INI and so on, or one of these within a string. */
export type ConfigTree<L> =
  | { kind: 'table'; entries: readonly TreeEntry<L>[] }
  | { kind: 'list'; items: readonly ConfigTree<L>[] }
  | TreeLeaf<L>;

export interface TreeEntry<L> {
  /** More than one for a dotted key. */
  names: readonly string[];
  node: ConfigTree<L>;
}

export interface TreeLeaf<L> {
  kind: 'leaf';
  leaf: L;
  /** The text of a string; `undefined` for anything else. */
  text: string | undefined;
}

/** A single value: everything that is neither list nor table. Its range is that of its text, without quotes. */
export interface ConfigLeaf extends TextRange {
  /** The names of its keys, without indices. */
  path: readonly string[];
  /** Dates as written; unsafe integers as strings. */
  value: SettingJson;
  /** The text of a string; `undefined` for numbers, dates and booleans. */
  text: string | undefined;
  isQuoted: boolean;
  /** A whole text, which is shown as a list of its lines. */
  isLines?: true;
  /**
   * Positions of the code units of `text`, and of what follows them, if it is not written as it is. `undefined` if they
   * are not known: such a value is masked as a whole.
   */
  positions?: () => readonly number[] | undefined;
  /** The value it repeats, for an alias: it is written only there. */
  original?: ConfigLeaf;
  /** The whole value is a secret because of its key. Never true for a boolean, which reveals nothing. */
  secret: boolean;
  /** Parts of its text that are secret because of its key. */
  parts: TextRange[];
}

/** A table header, or a key with its value. */
export interface ConfigStatement extends TextRange {
  /** Names of the table that is open after it. */
  table: readonly string[];
  leaves: readonly ConfigLeaf[];
  /** Whether its key, or a key within its value, is that of a secret. */
  secret: boolean;
}

/** Entries under a common path, in the order of the text. */
export interface ConfigTable {
  path: SettingPath;
  entries: readonly TreeEntry<ConfigLeaf>[];
}

/** The text of a comment without the characters that start it; also a line that could not be parsed. */
export interface ConfigComment {
  start: number;
  text: string;
}

/** One text, parsed: every value with its key and its position. */
export interface ConfigDocument {
  /** Without a byte order mark: the positions count from after it. */
  text: string;
  tables: readonly ConfigTable[];
  /** In the order of the text. */
  statements: readonly ConfigStatement[];
  comments: readonly ConfigComment[];
  language: ConfigLanguage;
}

/** What is common to all texts of a format. */
export interface ConfigLanguage {
  /** Keys that name no secret although they sound like one. */
  openKeys?: RegExp;
  /** Replaces a value that has no quotes. */
  plainMask: string;
  /** A key may be followed by several words, of which some are secret: `proxy_set_header X-Api-Key abc`. */
  hasDirectives: boolean;
  /** All of the text is secret, because of the name of its file. */
  isSecret?: true;
  /** What stands behind a value may be a comment or a part of it, depending on the program. */
  hasLooseComments: boolean;
  /** Whether a key given again adds to the first one instead of replacing it. */
  repeatsAdd: boolean;
  /** Matches lines of comments that may be commented-out statements. */
  statement: RegExp;
  /** Throws if the text is not of this format. */
  read(text: string): ConfigDocument;
  /** The same for a part of a text; `undefined` if it is not of this format. */
  readPart(text: string): ConfigDocument | undefined;
}

type ShapeNode = ConfigTree<ConfigLeaf> | { kind: 'tables'; tables: readonly ConfigTable[] };

const SHAPE: ConfigShape<ShapeNode> = {
  entries(node) {
    if (node.kind === 'tables')
      return node.tables.flatMap(({ path, entries }) =>
        entries.map((entry) => [[...path, ...entry.names], entry.node] as const),
      );
    return node.kind === 'table' ? node.entries.map((entry) => [entry.names, entry.node]) : undefined;
  },
  elements: (node) => (node.kind === 'list' ? node.items : undefined),
  hasEmptyTables: true,
};

/** Every value under its whole key, as in `servers[0]."host name".port`. A list without tables is one value. */
export function* listSettings(
  tables: readonly ConfigTable[],
): Generator<[key: string, node: ConfigTree<ConfigLeaf>], void, undefined> {
  for (const [key, node] of flattenSettings<ShapeNode>({ kind: 'tables', tables }, SHAPE))
    if (node.kind !== 'tables') yield [key, node];
}

/** Deeper than any configuration is. Readers and walks recurse, so the depth must be bounded. */
export const MAX_DEPTH = 100;

/** Real configurations have hundreds of values; aliases of YAML could make millions of a few lines. */
export const MAX_VALUES = 50_000;

/** The text is not of the format, or exceeds our limits. The message never contains any of the text, which may be secret. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/** Collects what a reader finds, in the order of the text. */
export class DocumentBuilder {
  readonly text: string;
  readonly entries: TreeEntry<ConfigLeaf>[] = [];
  readonly statements: ConfigStatement[] = [];
  readonly comments: ConfigComment[] = [];

  constructor(text: string) {
    this.text = text;
  }

  /** A value at its place in a tree that the caller builds, and as a statement of its own. */
  leaf(
    path: readonly string[],
    range: TextRange,
    value: LeafValue,
    statementStart = range.start,
  ): TreeLeaf<ConfigLeaf> {
    if (this.statements.length >= MAX_VALUES) throw new FormatError(`more than ${MAX_VALUES} values`);
    if (path.length > MAX_DEPTH) throw new FormatError('nested too deeply');
    const text = typeof value.value === 'string' && !value.isPlain ? value.value : undefined;
    const isAsWritten = text === undefined || text === this.text.slice(range.start, range.end);
    const { start: from, end } = range;
    const { isQuoted = false, original } = value;
    const leaf: ConfigLeaf = { path, start: from, end, value: value.value, text, isQuoted, secret: false, parts: [] };
    if (!isAsWritten) leaf.positions = value.positions ?? (() => undefined);
    if (original) leaf.original = original;
    const start = Math.min(statementStart, from);
    this.statements.push({ start, end, table: path.slice(0, -1), leaves: [leaf], secret: false });
    return { kind: 'leaf', leaf, text };
  }

  comment(start: number, end: number): void {
    this.comments.push({ start, text: this.text.slice(start, end) });
  }

  build(language: ConfigLanguage): ConfigDocument {
    const { text, entries, statements, comments } = this;
    return { text, tables: [{ path: [], entries }], statements, comments, language };
  }
}

interface LeafValue {
  value: SettingJson;
  isQuoted?: boolean;
  /** A number or a date that is represented as a string. */
  isPlain?: boolean;
  positions?: () => readonly number[] | undefined;
  original?: ConfigLeaf;
}

/** Without leading zeros, which occur in names but not in numbers; and short enough to be exact. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

/** The value of a word without quotes in formats that have no types. */
export function plainValue(word: string): string | number | boolean {
  if (word === 'true' || word === 'false') return word === 'true';
  return NUMBER.test(word) ? Number(word) : word;
}

/** Text without a byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The line that a position is on, counted from 1. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  lineAt(position: number): number {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}
