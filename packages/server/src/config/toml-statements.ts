import type { AST } from 'toml-eslint-parser';
import { MAX_DEPTH } from './parse-toml.ts';
import { isSecretKey } from './secret-keys.ts';
import { TomlError } from './toml-error.ts';

/** A single value: everything that is neither array nor table. */
export interface TomlLeaf {
  node: AST.TOMLValue;
  /** By its key: the value as a whole is a secret. Never true of a boolean, which can tell nothing. */
  secret: boolean;
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

/** All statements in the order of the text. Throws `TomlError` when a key path is deeper than we follow. */
export function listStatements(ast: AST.TOMLProgram, secretKeys: readonly string[]): TomlStatement[] {
  const statements: TomlStatement[] = [];
  for (const node of ast.body[0].body) {
    if (node.type === 'TOMLKeyValue') {
      statements.push(readKeyValue(node, [], secretKeys));
      continue;
    }
    const table = extendPath([], node.key);
    statements.push({ node, table, secret: isSecretKey(table, secretKeys), leaves: [] });
    for (const keyValue of node.body) statements.push(readKeyValue(keyValue, table, secretKeys));
  }
  return statements;
}

/** The names of a key, without its quotes and dots. */
export function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
}

function readKeyValue(node: AST.TOMLKeyValue, table: string[], secretKeys: readonly string[]): TomlStatement {
  const leaves: TomlLeaf[] = [];
  collectLeaves(node, { path: table, secretKeys, leaves });
  return { node, table, secret: leaves.some((leaf) => leaf.secret), leaves };
}

interface Collecting {
  path: string[];
  secretKeys: readonly string[];
  leaves: TomlLeaf[];
}

function collectLeaves(keyValue: AST.TOMLKeyValue, outer: Collecting): void {
  const path = extendPath(outer.path, keyValue.key);
  const secret = isSecretKey(path, outer.secretKeys);
  const visit = (node: AST.TOMLContentNode): void => {
    if (node.type === 'TOMLArray') node.elements.forEach(visit);
    else if (node.type === 'TOMLInlineTable') for (const inner of node.body) collectLeaves(inner, { ...outer, path });
    else outer.leaves.push({ node, secret: secret && node.kind !== 'boolean' });
  };
  visit(keyValue.value);
}

function extendPath(table: string[], key: AST.TOMLKey): string[] {
  const path = [...table, ...namesOf(key)];
  if (path.length <= MAX_DEPTH) return path;
  throw new TomlError('nested too deeply', { line: key.loc.start.line, column: key.loc.start.column + 1 });
}
