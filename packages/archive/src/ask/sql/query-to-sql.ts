import { type FieldNode, filterToQuery, type QueryNode } from '@porthole/logs/query';
import type { RecordFilter } from '@porthole/logs/types';
import { ALWAYS, allOf, anyOf, type Bounds, noneOf } from './bounds.ts';
import { existsToSql, fieldRegexToSql, fieldToSql } from './field-to-sql.ts';
import { regexToSql, textToSql } from './text-to-sql.ts';

/** The conditions of a filter but its times, which the scope has. */
export function filterToSql(filter: RecordFilter): Bounds {
  const query = filterToQuery(filter);
  return query ? queryToSql(query) : ALWAYS;
}

function queryToSql(node: QueryNode): Bounds {
  switch (node.kind) {
    case 'text':
      return textToSql(node);
    case 'regex':
      return regexToSql(node);
    case 'field':
      return fieldToSql(node satisfies FieldNode);
    case 'fieldRegex':
      return fieldRegexToSql(node);
    case 'exists':
      return existsToSql(node);
    case 'not':
      return noneOf(queryToSql(node.node));
    case 'and':
      return allOf(node.nodes.map(queryToSql));
    case 'or':
      return anyOf(node.nodes.map(queryToSql));
  }
}
