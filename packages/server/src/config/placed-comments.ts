import type { AST } from 'toml-eslint-parser';
import type { TomlStatement } from './toml-statements.ts';

/** A comment, and where it stands among the statements. */
export interface PlacedComment {
  /** Without the hash that starts it. */
  text: string;
  /** Position of the text in the document. */
  start: number;
  line: number;
  /** Alone on its line: only such comments can continue the one above. */
  ownLine: boolean;
  /** Path of the table it stands in. */
  table: readonly string[];
  /** Above, beside or within a statement with a secret. */
  besideSecret: boolean;
  /** The number of statements before it: comments with the same number have nothing between them. */
  place: number;
}

export function placeComments(ast: AST.TOMLProgram, statements: readonly TomlStatement[]): PlacedComment[] {
  let place = 0;
  return ast.comments.map((comment) => {
    const [start] = comment.range;
    while (startOf(statements[place]) < start) place++;
    const before = statements[place - 1];
    const after = statements[place];
    const { line } = comment.loc.start;
    const ownLine = before === undefined || line > endLineOf(before);
    const within = before !== undefined && start < endOf(before);
    return {
      text: comment.value,
      start: start + 1,
      line,
      ownLine: ownLine || within,
      table: before?.table ?? [],
      besideSecret: (ownLine && !within ? after?.secret : before?.secret) ?? false,
      place,
    };
  });
}

function startOf(statement: TomlStatement | undefined): number {
  return statement?.node.range[0] ?? Number.POSITIVE_INFINITY;
}

/** A header ends with its key; the node of a table reaches over its keys. */
function lastNodeOf({ node }: TomlStatement): AST.TOMLKey | AST.TOMLKeyValue {
  return node.type === 'TOMLTable' ? node.key : node;
}

function endOf(statement: TomlStatement): number {
  return lastNodeOf(statement).range[1];
}

function endLineOf(statement: TomlStatement): number {
  return lastNodeOf(statement).loc.end.line;
}
