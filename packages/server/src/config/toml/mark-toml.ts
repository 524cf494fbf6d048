import type { AST } from 'toml-eslint-parser';
import { parseToml } from './parse-toml.ts';

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
