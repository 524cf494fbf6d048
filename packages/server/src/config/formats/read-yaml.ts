import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import {
  type ConfigLanguage,
  type ConfigLeaf,
  type ConfigTree,
  DocumentBuilder,
  FormatError,
  LineIndex,
  MAX_DEPTH,
  MAX_VALUES,
  type TextRange,
  type TreeEntry,
  withoutMark,
} from './config-document.ts';

/** YAML. A list at the top has the name `items`. */
export const YAML: ConfigLanguage = {
  plainMask: '"******"',
  hasDirectives: false,
  hasLooseComments: false,
  repeatsAdd: false,
  statement: /^\s*(?:-\s+)*(?:["']?[\w.$/-]+["']?\s*:(?:\s|$)|-\s)/,
  read: (source) => new YamlReader(withoutMark(source)).read(),
  readPart(text) {
    try {
      return YAML.read(text);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return undefined;
    }
  },
};

class YamlReader {
  readonly #builder: DocumentBuilder;
  readonly #anchors = new Map<string, Node>();
  readonly #leaves = new Map<Scalar, ConfigLeaf>();
  /** What is being visited: an alias in it that means it has no end. */
  readonly #open = new Set<Node>();
  /** Keys and values, in which a hash starts no comment. */
  readonly #covered: TextRange[] = [];
  #visited = 0;

  constructor(text: string) {
    this.#builder = new DocumentBuilder(text);
  }

  read() {
    const root = parseRoot(this.#builder.text);
    const tree = this.#visit(root, { names: isSeq(root) ? ['items'] : [], keyStart: 0 });
    if (tree.kind === 'table') this.#builder.entries.push(...tree.entries);
    else if (tree.kind === 'list') this.#builder.entries.push({ names: ['items'], node: tree });
    else throw new FormatError('YAML, but neither a mapping nor a list');
    this.#findComments();
    return this.#builder.build(YAML);
  }

  #visit(node: unknown, at: { names: readonly string[]; keyStart: number; alias?: TextRange }): ConfigTree<ConfigLeaf> {
    if (++this.#visited > MAX_VALUES) throw new FormatError(`more than ${MAX_VALUES} values`);
    if (at.names.length > MAX_DEPTH || this.#open.size > MAX_DEPTH) throw new FormatError('nested too deeply');
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (!target || this.#open.has(target)) throw new FormatError('an alias without an end');
      return this.#visit(target, { ...at, alias: at.alias ?? toRange(node) });
    }
    if (isScalar(node)) return this.#visitScalar(node, at);
    if (!isMap(node) && !isSeq(node)) return this.#builder.leaf(at.names, emptyAt(at.keyStart), { value: '' });
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const tree: ConfigTree<ConfigLeaf> = isMap(node)
      ? { kind: 'table', entries: this.#visitMap(node, at) }
      : { kind: 'list', items: node.items.map((item) => this.#visit(item, at)) };
    this.#open.delete(node);
    return tree;
  }

  /** What is merged (`<<`) comes first: the keys of the map itself win. */
  #visitMap(map: YAMLMap, at: { names: readonly string[]; alias?: TextRange }): TreeEntry<ConfigLeaf>[] {
    const merged: TreeEntry<ConfigLeaf>[] = [];
    const entries: TreeEntry<ConfigLeaf>[] = [];
    for (const pair of map.items) {
      const { name, range } = this.#readKey(pair);
      if (!at.alias) this.#covered.push(range);
      const isMerge = name === '<<' && pair.value !== null && !isScalar(pair.value);
      const names = isMerge ? at.names : [...at.names, name];
      const node = this.#visit(pair.value, { ...at, names, keyStart: range.start });
      const sources = node.kind === 'list' ? node.items : [node];
      if (isMerge) for (const source of sources) merged.push(...(source.kind === 'table' ? source.entries : []));
      else entries.push({ names: [name], node });
    }
    const own = new Set(entries.map(({ names }) => names[0]));
    return [...merged.filter(({ names }) => !own.has(names[0])), ...entries];
  }

  #readKey({ key }: Pair): { name: string; range: TextRange } {
    const range = toRange(key as Node | null);
    if (isScalar(key)) return { name: String(key.value ?? key.source ?? ''), range };
    throw new FormatError('a key is a list or a mapping');
  }

  #visitScalar(
    node: Scalar,
    { names, keyStart, alias }: { names: readonly string[]; keyStart: number; alias?: TextRange },
  ): ConfigTree<ConfigLeaf> {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const range = this.#contentOf(node);
    const value = { ...toValue(node), isQuoted: node.type !== undefined && node.type !== 'PLAIN' };
    const original = this.#leaves.get(node);
    if (alias && original)
      return this.#builder.leaf(names, emptyAt(alias.start), { ...value, positions: () => undefined, original });
    const positions = () => (node.type === 'BLOCK_LITERAL' ? this.#literalPositions(node, range) : undefined);
    const tree = this.#builder.leaf(names, range, { ...value, positions }, keyStart);
    this.#covered.push(range);
    this.#leaves.set(node, tree.leaf);
    return tree;
  }

  /** Without quotes; of a block, what is below its header. */
  #contentOf(node: Scalar): TextRange {
    const { start, end } = toRange(node);
    if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') return { start: start + 1, end: end - 1 };
    if (node.type !== 'BLOCK_LITERAL' && node.type !== 'BLOCK_FOLDED') return { start, end };
    const block = this.#builder.text.slice(start, end);
    const header = block.indexOf('\n') + 1;
    const body = block.slice(header);
    if (header === 0 || body.trim() === '') return emptyAt(end);
    return { start: start + header + body.search(/\S/), end: start + block.trimEnd().length };
  }

  /** Each line of a literal block without its indentation. */
  #literalPositions(node: Scalar, range: TextRange): number[] | undefined {
    const value = String(node.value);
    const { text } = this.#builder;
    const indent = range.start - (text.lastIndexOf('\n', range.start) + 1);
    const positions: number[] = [];
    let read = '';
    for (let at = range.start - indent; at < range.end; ) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      for (let index = Math.min(at + indent, end); index <= end; index++) {
        positions.push(index);
        read += index === end ? '\n' : text[index];
      }
      at = end + 1;
    }
    positions.push(range.end);
    return read.startsWith(value) || read === value ? positions : undefined;
  }

  #findComments(): void {
    const { text } = this.#builder;
    const covered = this.#covered.sort((a, b) => a.start - b.start);
    let next = 0;
    for (const { 0: sign, index } of text.matchAll(/(?<=^|[ \t])#/gm)) {
      if (sign === '') continue;
      while ((covered[next]?.end ?? Number.POSITIVE_INFINITY) <= index) next++;
      if ((covered[next]?.start ?? Number.POSITIVE_INFINITY) <= index) continue;
      const newline = text.indexOf('\n', index);
      // A second hash on the line belongs to the comment.
      const last = this.#builder.comments.at(-1);
      if (last && index < last.start + last.text.length) continue;
      this.#builder.comment(index + 1, newline < 0 ? text.length : newline);
    }
  }
}

function parseRoot(text: string): Node | null {
  try {
    const documents = parseAllDocuments(text, {
      ...{ uniqueKeys: false, prettyErrors: false, logLevel: 'silent', version: '1.2', stringKeys: false },
    });
    if (!Array.isArray(documents) || documents.length !== 1) throw new FormatError('not one YAML document');
    const [error] = documents[0]?.errors ?? [];
    if (error) throw new FormatError(`not valid YAML (line ${new LineIndex(text).lineAt(error.pos[0])})`);
    return (documents[0]?.contents ?? null) as Node | null;
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError('nested too deeply');
    throw error;
  }
}

function toValue({ value, source }: Scalar) {
  if (typeof value === 'boolean' || typeof value === 'string') return { value };
  const isExact = typeof value === 'number' && Number.isFinite(value);
  if (isExact && (!Number.isInteger(value) || Number.isSafeInteger(value))) return { value };
  return value === null ? { value: '' } : { value: source ?? String(value), isPlain: true };
}

function toRange(node: Node | null): TextRange {
  const [start = 0, end = start] = node?.range ?? [];
  return { start, end };
}

function emptyAt(start: number): TextRange {
  return { start, end: start };
}
