import type { FieldRegexNode, QueryNode, RecordFilter, RegexNode } from '../types.ts';

type Conditions = Omit<RecordFilter, 'fromMs' | 'toMs'> & { query?: QueryNode };

/** The conditions of a filter as one query; without times, which are no part of it. `undefined`: every record matches. */
export function filterToQuery(filter: Conditions): QueryNode | undefined {
  const { minLevel, source, component, terms = [], excluded = [], regex, query, caseSensitive = false } = filter;
  const nodes: QueryNode[] = [];
  if (minLevel !== undefined) {
    nodes.push({ kind: 'field', field: 'level', operator: '>=', value: minLevel.toLowerCase() });
  }
  if (source !== undefined) nodes.push({ kind: 'field', field: 'source', operator: '=', value: source });
  if (component !== undefined) nodes.push({ kind: 'field', field: 'component', operator: '=', value: component });
  for (const text of terms) nodes.push({ kind: 'text', text });
  for (const text of excluded) nodes.push({ kind: 'not', node: { kind: 'text', text } });
  if (regex !== undefined) nodes.push({ kind: 'regex', pattern: regex });
  if (query) nodes.push(...(query.kind === 'and' ? query.nodes : [query]));
  const [only] = nodes;
  if (!only) return undefined;
  const node: QueryNode = nodes.length === 1 ? only : { kind: 'and', nodes };
  return caseSensitive ? withCase(node) : node;
}

/** The same query with all texts and regexes case-sensitive. */
function withCase(node: QueryNode): QueryNode {
  switch (node.kind) {
    case 'text':
    case 'regex':
    case 'fieldRegex':
      return { ...node, caseSensitive: true };
    case 'not':
      return { ...node, node: withCase(node.node) };
    case 'and':
    case 'or':
      return { ...node, nodes: node.nodes.map(withCase) };
    default:
      return node;
  }
}

/** The conditions of a query that are regexes, wherever they are in it. */
export function regexNodes(node: QueryNode): (RegexNode | FieldRegexNode)[] {
  switch (node.kind) {
    case 'regex':
    case 'fieldRegex':
      return [node];
    case 'not':
      return regexNodes(node.node);
    case 'and':
    case 'or':
      return node.nodes.flatMap(regexNodes);
    default:
      return [];
  }
}

/** Whether testing a record may take long. */
export function hasRegex({ regex, query }: RecordFilter): boolean {
  return regex !== undefined || (query !== undefined && regexNodes(query).length > 0);
}
