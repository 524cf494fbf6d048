import type { AST } from 'toml-eslint-parser';
import { MAX_DEPTH } from '../toml/parse-toml.ts';
import { TomlError } from '../toml/toml-error.ts';
import { type ConfigTree, findTreeSecrets, type TreeEntry } from './config-tree.ts';
import type { MaskRange } from './mask-ranges.ts';
import { isSecretKey } from './secret-keys.ts';

/** A single value: everything that is neither array nor table. */
export interface TomlLeaf {
  node: AST.TOMLValue;
  path: readonly string[];
  /** The whole value is a secret because of its key. Never true for a boolean, which reveals nothing. */
  secret: boolean;
  /** Parts of its string that are secret because of its key. */
  parts: MaskRange[];
}

/** A table header, or a key with its value. */
export interface TomlStatement {
  node: AST.TOMLTable | AST.TOMLKeyValue;
  /** Path of the table that is open after it. */
  table: string[];
  /** Whether its key, or a key within its value, is that of a secret. */
  secret: boolean;
  leaves: TomlLeaf[];
}

/**
 * All statements in the order of the text; `around` are the names of tables it stands in. Throws `TomlError` when a key
 * path is deeper than we follow.
 */
export function listStatements(
  ast: AST.TOMLProgram,
  secretKeys: readonly string[],
  around: readonly string[] = [],
): TomlStatement[] {
  const { body } = ast.body[0];
  // Keys without a table stand before all tables.
  const statements = readTable(
    body.filter((node) => node.type === 'TOMLKeyValue'),
    [...around],
    secretKeys,
  );
  for (const node of body) {
    if (node.type === 'TOMLKeyValue') continue;
    const table = extendPath([...around], node.key);
    statements.push({ node, table, secret: isSecretKey(table, secretKeys), leaves: [] });
    for (const statement of readTable(node.body, table, secretKeys)) statements.push(statement);
  }
  return statements;
}

/** The names of a key, without its quotes and dots. */
export function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
}

/** The statements of one table: a neighbour may show that a value is secret. */
function readTable(body: readonly AST.TOMLKeyValue[], table: string[], secretKeys: readonly string[]): TomlStatement[] {
  const leavesByNode = new Map<AST.TOMLKeyValue, TomlLeaf[]>();
  const entries = body.map((node): TreeEntry<TomlLeaf> => {
    const leaves: TomlLeaf[] = [];
    leavesByNode.set(node, leaves);
    return toEntry(node, table, leaves);
  });
  findTreeSecrets({ kind: 'table', entries }, { path: table, secretKeys, onSecret: noteSecret });
  return body.map((node) => {
    const leaves = leavesByNode.get(node) ?? [];
    return { node, table, secret: leaves.some(({ secret }) => secret), leaves };
  });
}

function toEntry({ key, value }: AST.TOMLKeyValue, table: string[], leaves: TomlLeaf[]): TreeEntry<TomlLeaf> {
  const path = extendPath(table, key);
  const toTree = (node: AST.TOMLContentNode): ConfigTree<TomlLeaf> => {
    if (node.type === 'TOMLArray') return { kind: 'list', items: node.elements.map(toTree) };
    if (node.type === 'TOMLInlineTable')
      return { kind: 'table', entries: node.body.map((inner) => toEntry(inner, path, leaves)) };
    const leaf: TomlLeaf = { node, path, secret: false, parts: [] };
    leaves.push(leaf);
    return { kind: 'leaf', leaf, text: node.kind === 'string' ? node.value : undefined };
  };
  return { names: keyNames(key), node: toTree(value) };
}

function noteSecret(leaf: TomlLeaf, part: 'whole' | MaskRange): void {
  if (part !== 'whole') leaf.parts.push(part);
  else if (leaf.node.kind !== 'boolean') leaf.secret = true;
}

function extendPath(table: string[], key: AST.TOMLKey): string[] {
  const path = [...table, ...keyNames(key)];
  if (path.length <= MAX_DEPTH) return path;
  throw new TomlError('nested too deeply', { line: key.loc.start.line, column: key.loc.start.column + 1 });
}
