import type { RecordFilter } from '../types.ts';
import type { FieldRegexNode, QueryNode, RegexNode } from './query-node.ts';

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
