import type { AST } from 'toml-eslint-parser';
import type { TomlStatement } from './toml-statements.ts';

/** A comment and its position among the statements. */
export interface LocatedComment {
  /** Without the hash that starts it. */
  text: string;
  /** Position of the text in the document. */
  start: number;
  line: number;
  /** Alone on its line: only such comments can continue the one above. */
  ownLine: boolean;
  /** Path of the table around it. */
  table: readonly string[];
  /** Above, beside or within a statement with a secret. */
  besideSecret: boolean;
  /** The number of statements before it: comments with the same number have nothing between them. */
  statementIndex: number;
}

export function locateComments(ast: AST.TOMLProgram, statements: readonly TomlStatement[]): LocatedComment[] {
  let statementIndex = 0;
  return ast.comments.map((comment) => {
    const [start] = comment.range;
    while (statementStart(statements[statementIndex]) < start) statementIndex++;
    const before = statements[statementIndex - 1];
    const after = statements[statementIndex];
    const { line } = comment.loc.start;
    const ownLine = before === undefined || line > statementEndLine(before);
    const within = before !== undefined && start < statementEnd(before);
    return {
      text: comment.value,
      start: start + 1,
      line,
      ownLine: ownLine || within,
      table: before?.table ?? [],
      besideSecret: (ownLine && !within ? after?.secret : before?.secret) ?? false,
      statementIndex,
    };
  });
}

function statementStart(statement: TomlStatement | undefined): number {
  return statement?.node.range[0] ?? Number.POSITIVE_INFINITY;
}

/** A header ends with its key; the node of a table includes its keys. */
function lastNode({ node }: TomlStatement): AST.TOMLKey | AST.TOMLKeyValue {
  return node.type === 'TOMLTable' ? node.key : node;
}

function statementEnd(statement: TomlStatement): number {
  return lastNode(statement).range[1];
}

function statementEndLine(statement: TomlStatement): number {
  return lastNode(statement).loc.end.line;
}
