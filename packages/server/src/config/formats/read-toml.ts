import type { SettingJson } from '@porthole/contract';
import type { AST } from 'toml-eslint-parser';
import {
  type ConfigDocument,
  type ConfigLanguage,
  type ConfigLeaf,
  type ConfigStatement,
  type ConfigTable,
  type ConfigTree,
  MAX_DEPTH,
  type TreeEntry,
} from './config-document.ts';
import { openingQuotes, parseLoosely, parseToml, readTomlString } from './parse-toml.ts';
import { TomlError } from './toml-error.ts';

/** TOML. Throws `TomlError` when the text is not valid, or a key path is deeper than we follow. */
export const TOML: ConfigLanguage = {
  plainMask: '"******"',
  hasDirectives: false,
  hasLooseComments: false,
  repeatsAdd: false,
  statement: /^\s*(?:\[|(?:[\w-]+|"[^"]*"|'[^']*')[\w."' \t-]*=)/,
  read(source) {
    const { text, ast } = parseToml(source);
    return toDocument(text, ast);
  },
  readPart(text) {
    const ast = parseLoosely(text);
    return ast && toDocument(text, ast);
  },
};

/** The names of a key, without its quotes and dots. */
export function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
}

function toDocument(text: string, ast: AST.TOMLProgram): ConfigDocument {
  const { body } = ast.body[0];
  const statements: ConfigStatement[] = [];
  const tables: ConfigTable[] = [];
  const addTable = (pairs: readonly AST.TOMLKeyValue[], path: ConfigTable['path'], names: readonly string[]) => {
    const entries = pairs.map((node) => {
      const leaves: ConfigLeaf[] = [];
      const [start, end] = node.range;
      statements.push({ start, end, table: names, leaves, secret: false });
      return toEntry(node, { text, table: names, leaves });
    });
    tables.push({ path, entries });
  };
  // Keys without a table stand before all tables.
  addTable(
    body.filter((node) => node.type === 'TOMLKeyValue'),
    [],
    [],
  );
  for (const node of body) {
    if (node.type === 'TOMLKeyValue') continue;
    const table = extendPath([], node.key);
    // A header ends with its key; the node of a table includes its keys.
    statements.push({ start: node.range[0], end: node.key.range[1], table, leaves: [], secret: false });
    addTable(node.body, node.resolvedKey, table);
  }
  const comments = ast.comments.map(({ range, value }) => ({ start: range[0] + 1, text: value }));
  return { text, tables, statements, comments, language: TOML };
}

interface EntryContext {
  text: string;
  table: readonly string[];
  leaves: ConfigLeaf[];
}

function toEntry({ key, value }: AST.TOMLKeyValue, { text, table, leaves }: EntryContext): TreeEntry<ConfigLeaf> {
  const path = extendPath(table, key);
  const toTree = (node: AST.TOMLContentNode): ConfigTree<ConfigLeaf> => {
    if (node.type === 'TOMLArray') return { kind: 'list', items: node.elements.map(toTree) };
    if (node.type === 'TOMLInlineTable')
      return { kind: 'table', entries: node.body.map((inner) => toEntry(inner, { text, table: path, leaves })) };
    const leaf = toLeaf(node, path, text);
    leaves.push(leaf);
    return { kind: 'leaf', leaf, text: leaf.text };
  };
  return { names: keyNames(key), node: toTree(value) };
}

function toLeaf(node: AST.TOMLValue, path: readonly string[], text: string): ConfigLeaf {
  const [start, end] = node.range;
  const leaf = { path, start, end, value: toJson(node, text), secret: false, parts: [] };
  if (node.kind !== 'string') return { ...leaf, text: undefined, isQuoted: false };
  const raw = text.slice(start, end);
  const quotes = openingQuotes(raw).length;
  const positions = () => {
    const read = readTomlString(raw);
    // If we read the string differently from the parser, positions would hit the wrong place.
    return read.value === node.value ? read.positions.map((position) => start + position) : undefined;
  };
  return { ...leaf, start: start + quotes, end: end - quotes, text: node.value, isQuoted: true, positions };
}

function toJson(node: AST.TOMLValue, text: string): SettingJson {
  const raw = text.slice(...node.range);
  switch (node.kind) {
    case 'string':
    case 'boolean':
      return node.value;
    case 'integer':
      return Number.isSafeInteger(node.value) ? node.value : node.bigint.toString();
    case 'float':
      return Number.isFinite(node.value) ? node.value : raw;
    default:
      return raw;
  }
}

function extendPath(table: readonly string[], key: AST.TOMLKey): string[] {
  const path = [...table, ...keyNames(key)];
  if (path.length <= MAX_DEPTH) return path;
  throw new TomlError('nested too deeply', { line: key.loc.start.line, column: key.loc.start.column + 1 });
}
