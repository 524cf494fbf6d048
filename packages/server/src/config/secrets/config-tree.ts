import { findKeyMaterial } from './key-material.ts';
import type { MaskRange } from './mask-ranges.ts';
import { secretArguments } from './secret-arguments.ts';
import { isSecretKey, splitWords } from './secret-keys.ts';

/** A configuration in any language: TOML, or JSON, YAML and the like within a string. */
export type ConfigTree<L> =
  | { kind: 'table'; entries: readonly TreeEntry<L>[] }
  | { kind: 'list'; items: readonly ConfigTree<L>[] }
  | TreeLeaf<L>;

export interface TreeEntry<L> {
  /** More than one for a dotted key. */
  names: readonly string[];
  node: ConfigTree<L>;
}

interface TreeLeaf<L> {
  kind: 'leaf';
  leaf: L;
  /** Of a string; `undefined` for anything else. */
  text: string | undefined;
}

export interface TreeSecretOptions<L> {
  /** Names around the tree. */
  path: readonly string[];
  secretKeys: readonly string[];
  /** Called with each secret leaf, or the part of its text that is secret. */
  onSecret(leaf: L, part: 'whole' | MaskRange): void;
}

/** Keys whose value names an entry of a list: `name = "DB_PASSWORD"`, `key: api_token`. */
const NAME_KEYS: ReadonlySet<string> = new Set([
  ...['name', 'key', 'variable', 'var', 'env', 'field', 'property', 'param', 'parameter', 'header', 'option'],
  ...['setting', 'attribute', 'k'],
]);

/** Keys with the value that belongs to such a name. */
const VALUE_KEYS: ReadonlySet<string> = new Set([
  ...[
    'value',
    'values',
    'val',
    'default',
    'content',
    'contents',
    'data',
    'text',
    'string',
    'plaintext',
    'current',
    'v',
  ],
]);

const ENVIRONMENT_WORDS: ReadonlySet<string> = new Set(['env', 'envs', 'environment', 'vars', 'variables']);

/**
 * Finds secrets by their position: under a secret key; as the value next to the name of one; after a flag in a list of
 * arguments; as `user:password` or key material if the key suggests it.
 */
export function findTreeSecrets<L>(tree: ConfigTree<L>, options: TreeSecretOptions<L>): void {
  new TreeWalk(options).visit(tree, options.path);
}

class TreeWalk<L> {
  readonly #options: TreeSecretOptions<L>;

  constructor(options: TreeSecretOptions<L>) {
    this.#options = options;
  }

  visit(node: ConfigTree<L>, path: readonly string[]): void {
    if (node.kind === 'table') this.#visitTable(node.entries, path);
    else if (node.kind === 'list') this.#visitList(node.items, path);
    else this.#visitLeaf(node, path);
  }

  #visitTable(entries: readonly TreeEntry<L>[], path: readonly string[]): void {
    const named = new Set<string>();
    for (const { names, node } of entries) {
      if (node.kind !== 'leaf' || node.text === undefined || !NAME_KEYS.has(lastName(names))) continue;
      if (this.#isSecretName(node.text)) named.add(parentTable(names));
    }
    for (const { names, node } of entries) {
      if (named.size > 0 && VALUE_KEYS.has(lastName(names)) && named.has(parentTable(names))) this.#markAll(node);
      else this.visit(node, [...path, ...names]);
    }
  }

  #visitList(items: readonly ConfigTree<L>[], path: readonly string[]): void {
    const texts = items.map((item) => (item.kind === 'leaf' ? item.text : undefined));
    for (const { index, part } of secretArguments(texts, (name) => this.#isSecretName(name))) {
      const item = items[index];
      if (item?.kind === 'leaf') this.#options.onSecret(item.leaf, part);
    }
    for (const item of items) {
      // A header as a pair: ["Authorization", "Bearer ..."]. In a plain list such words are only names.
      const [name, value] = item.kind === 'list' && item.items.length === 2 ? item.items : [];
      if (name?.kind === 'leaf' && value && this.#isSecretName(name.text ?? '')) this.#markAll(value);
      else this.visit(item, path);
    }
  }

  #visitLeaf({ leaf, text }: TreeLeaf<L>, path: readonly string[]): void {
    const { secretKeys, onSecret } = this.#options;
    const part = isSecretKey(path, secretKeys) ? 'whole' : this.#findPart(path, text);
    if (part !== undefined) onSecret(leaf, part);
  }

  #findPart(path: readonly string[], text: string | undefined): 'whole' | MaskRange | undefined {
    return text === undefined ? undefined : (findKeyMaterial(path, text) ?? this.#findVariable(path, text));
  }

  /** `NAME=value` among environment variables: all of the rest is the value, blanks included. */
  #findVariable(path: readonly string[], text: string): MaskRange | undefined {
    if (!path.slice(-2).some((name) => splitWords(name).some((word) => ENVIRONMENT_WORDS.has(word)))) return undefined;
    const [head, quote = '', name = ''] = /^\s*(["']?)([\w.-]{1,128})=["']?/.exec(text) ?? [];
    if (head === undefined || !this.#isSecretName(name)) return undefined;
    const end = text.trimEnd().length;
    const isQuoted = /["']/.test(quote || (head.at(-1) ?? '')) && /["']/.test(text[end - 1] ?? '');
    return end > head.length ? { start: head.length, end: isQuoted ? end - 1 : end } : undefined;
  }

  #markAll(node: ConfigTree<L>): void {
    if (node.kind === 'table') for (const entry of node.entries) this.#markAll(entry.node);
    else if (node.kind === 'list') for (const item of node.items) this.#markAll(item);
    else this.#options.onSecret(node.leaf, 'whole');
  }

  #isSecretName(text: string): boolean {
    return /^[\w.-]{1,128}$/.test(text) && isSecretKey([text], this.#options.secretKeys);
  }
}

function lastName(names: readonly string[]): string {
  return names.at(-1)?.toLowerCase() ?? '';
}

function parentTable(names: readonly string[]): string {
  return names.slice(0, -1).join('\0');
}
