import type { QueryNode } from '@porthole/logs/query';
import { formatOperand, formatQuery } from './format-query.ts';
import { parseQuery } from './parse-query.ts';

/**
 * The text of a query with one more condition: that it holds, or that it does not. A query that already has it is
 * returned as it is; the opposite condition is replaced. What else the query says is kept as it was written, where
 * possible. Throws QUERY_INVALID for an invalid text, and where the new query exceeds a limit.
 */
export function addTerm(text: string, node: QueryNode, mode: 'include' | 'exclude'): string {
  const added = simplify(mode === 'include' ? node : negate(node));
  const query = parseQuery(text);
  const result = query === undefined ? formatQuery(added) : joinTerm(text.trim(), query, added);
  parseQuery(result);
  return result;
}

function joinTerm(text: string, query: QueryNode, added: QueryNode): string {
  const conditions = query.kind === 'and' ? query.nodes : [query];
  if (conditions.some((each) => isSame(each, added))) return text;
  const opposite = negate(added);
  const others = conditions.filter((each) => !isSame(each, opposite));
  if (others.length < conditions.length) return formatQuery(joinNodes([...others, added]));
  const written = formatOperand(added);
  return query.kind === 'or' ? `(${text}) ${written}` : `${text} ${written}`;
}

function joinNodes(nodes: QueryNode[]): QueryNode {
  const [only] = nodes;
  return only && nodes.length === 1 ? only : { kind: 'and', nodes };
}

function negate(node: QueryNode): QueryNode {
  return node.kind === 'not' ? node.node : { kind: 'not', node };
}

function isSame(one: QueryNode, other: QueryNode): boolean {
  return formatQuery(one) === formatQuery(other);
}

/** Without double negations. */
function simplify(node: QueryNode): QueryNode {
  return node.kind === 'not' && node.node.kind === 'not' ? simplify(node.node.node) : node;
}
