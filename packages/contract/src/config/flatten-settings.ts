import type { ConfigDifference } from '../cluster-state.ts';

/** Keys and indices, outermost first. */
export type SettingPath = readonly (string | number)[];

/** How a parser represents a configuration: which nodes are tables and arrays; all others are values. */
export interface ConfigShape<Node> {
  /** The entries of a table, each below one or more keys; `undefined` for what is not a table. */
  entries(node: Node): readonly (readonly [path: SettingPath, value: Node])[] | undefined;
  /** The elements of an array; `undefined` for what is not an array. */
  elements(node: Node): readonly Node[] | undefined;
  /** An empty table is a value: for parsers that distinguish `a = {}` from the header `[a]`. */
  hasEmptyTables?: true;
  /** Protects the stack where the parser does not limit it: what is nested deeper throws. */
  maxDepth?: number;
}

/**
 * Every value of a configuration under its whole path, as in `servers[0]."host name".port`: the notation of
 * `/api/v1/config/settings`. Tables within arrays are numbered from 0; an array without tables is one value.
 */
export function* flattenSettings<Node>(
  node: Node,
  shape: ConfigShape<Node>,
  { key = '', depth = 0 }: { key?: string; depth?: number } = {},
): Generator<[key: string, value: Node], void, undefined> {
  if (depth > (shape.maxDepth ?? depth)) throw new Error('nested too deeply to be a configuration');
  const entries = shape.entries(node);
  const elements = shape.elements(node);
  if (entries !== undefined && (entries.length > 0 || !shape.hasEmptyTables))
    for (const [path, value] of entries)
      yield* flattenSettings(value, shape, { key: path.reduce(appendKey, key), depth: depth + 1 });
  else if (elements !== undefined && holdsTable(node, shape))
    for (const [index, element] of elements.entries())
      yield* flattenSettings(element, shape, { key: appendKey(key, index), depth: depth + 1 });
  else yield [key, node];
}

/** Keys that are not bare are quoted, so that dots in keys are unambiguous. */
function appendKey(before: string, part: string | number): string {
  if (typeof part === 'number') return `${before}[${part}]`;
  const written = /^[\w-]+$/.test(part) ? part : JSON.stringify(part);
  return before === '' ? written : `${before}.${written}`;
}

function holdsTable<Node>(node: Node, shape: ConfigShape<Node>): boolean {
  if (shape.entries(node) !== undefined) return true;
  return shape.elements(node)?.some((element) => holdsTable(element, shape)) ?? false;
}

/** Whether members differ in a key in which they should not, and not only in how they write the same value. */
export function isDrift({ isExpected, values }: Pick<ConfigDifference, 'isExpected' | 'values'>): boolean {
  return !isExpected && values.some(({ isMajority, isSameMeaning }) => !isMajority && !isSameMeaning);
}
