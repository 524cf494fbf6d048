import type { AST } from 'toml-eslint-parser';
import { parseToml } from './formats/parse-toml.ts';
import { keyNames } from './formats/read-toml.ts';

type Path = readonly (string | number)[];

/**
 * The selected statements of a TOML text as written, with their comments and the headers of their tables. A statement is
 * never split: an inline table is included completely or not at all.
 */
export function pickToml(source: string, isWanted: (path: Path) => boolean): string {
  const { text, ast } = parseToml(source);
  let from = 0;
  /** Up to the end of the line that is reached, with the comments right above. */
  const take = ([start]: AST.Range, end: number): string => {
    const first = lineStart(text, start);
    const taken = lastParagraph(text.slice(from, first)) + text.slice(first, lineEnd(text, end));
    from = lineEnd(text, end);
    return taken;
  };
  const pick = (node: AST.TOMLKeyValue, table: Path): string => {
    const written = take(node.range, node.range[1]);
    return listPaths(node, table).some(isWanted) ? written : '';
  };
  const parts: string[] = [''];
  for (const node of ast.body[0].body) {
    if (node.type === 'TOMLKeyValue') {
      parts[0] += pick(node, []);
      continue;
    }
    const header = take(node.range, node.key.range[1]);
    const picked = node.body.map((inner) => pick(inner, node.resolvedKey)).join('');
    if (picked !== '') parts.push(header + picked);
  }
  return parts.filter((part) => part !== '').join('\n');
}

/** Every path the statement sets a value below. */
function listPaths(node: AST.TOMLKeyValue, table: Path): Path[] {
  const path = [...table, ...keyNames(node.key)];
  return [path, ...innerPaths(node.value, path)];
}

function innerPaths(value: AST.TOMLContentNode, path: Path): Path[] {
  if (value.type === 'TOMLInlineTable') return value.body.flatMap((inner) => listPaths(inner, path));
  if (value.type === 'TOMLArray')
    return value.elements.flatMap((element, index) => innerPaths(element, [...path, index]));
  return [];
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline + 1;
}

/** The text after the last blank line: comments above it are about something else. */
function lastParagraph(text: string): string {
  return text.split(/^[^\S\n]*\n/m).at(-1) ?? '';
}

/** A part of a TOML text for syntax highlighting. */
export interface TomlMark {
  start: number;
  end: number;
  kind: 'comment' | 'key' | 'table';
}

/** Comments, keys and table headers in the order of the text, never overlapping. Throws `TomlError`. */
export function markToml(source: string): TomlMark[] {
  const { ast } = parseToml(source);
  const marks: TomlMark[] = ast.comments.map(({ range: [start, end] }) => ({ start, end, kind: 'comment' }));
  const visit = (value: AST.TOMLContentNode): void => {
    if (value.type === 'TOMLArray') value.elements.forEach(visit);
    else if (value.type === 'TOMLInlineTable') value.body.forEach(visitPair);
  };
  const visitPair = ({ key, value }: AST.TOMLKeyValue): void => {
    marks.push({ start: key.range[0], end: key.range[1], kind: 'key' });
    visit(value);
  };
  for (const node of ast.body[0].body) {
    if (node.type === 'TOMLKeyValue') visitPair(node);
    else {
      marks.push({ start: node.key.range[0], end: node.key.range[1], kind: 'table' });
      node.body.forEach(visitPair);
    }
  }
  return marks.sort((a, b) => a.start - b.start);
}
