import { PortholeError } from '@porthole/client';
import { addTerm, formatQuery, parseQuery } from '@porthole/contract';
import type { QueryNode } from '@porthole/logs/query';
import type { LogsView } from './view.ts';

/* The text of the query box: plain text is found, anything else is a query that selects records. */

export type BoxContent =
  | { kind: 'find'; text: string }
  | { kind: 'query'; query: string; node: QueryNode }
  | { kind: 'invalid'; message: string /** Index of the character. */; position: number };

/** What a text in the box means. While `isRegex`, all of it is one regex to find. */
export function readBox(text: string, { isRegex }: { isRegex: boolean }): BoxContent {
  if (isRegex || text.trim() === '') return { kind: 'find', text: isRegex ? text : text.trim() };
  try {
    const node = parseQuery(text);
    if (node === undefined || isBareWords(text, node)) return { kind: 'find', text };
    if (node.kind === 'text' && !node.caseSensitive) return { kind: 'find', text: node.text };
    return { kind: 'query', query: text.trim(), node };
  } catch (error) {
    if (!(error instanceof PortholeError)) throw error;
    return { kind: 'invalid', message: error.message, position: error.position ?? text.length };
  }
}

/** How a text of the box changes a view that shows it. */
export function boxChange(
  content: Exclude<BoxContent, { kind: 'invalid' }>,
  view: Pick<LogsView, 'query' | 'text'>,
): Pick<LogsView, 'query' | 'text'> {
  // The search text is beside the box, not in it, as long as there is a query.
  const isTextApart = view.query !== '';
  if (content.kind === 'query') return { query: content.query, text: isTextApart ? view.text : '' };
  return { query: '', text: content.text === '' && isTextApart ? view.text : content.text };
}

/** What the box shows for a view: its query, otherwise its search text, quoted if it would mean something else. */
export function boxText({ query, text, isRegex }: Pick<LogsView, 'query' | 'text' | 'isRegex'>): string {
  if (query !== '') return query;
  const content = readBox(text, { isRegex });
  return content.kind === 'find' && content.text === text ? text : formatQuery({ kind: 'text', text });
}

/** The parsed query of a view; `undefined` if it has none, or an invalid one. */
export function queryNode(query: string): QueryNode | undefined {
  const content = readBox(query, { isRegex: false });
  if (content.kind === 'query') return content.node;
  return content.kind === 'find' ? parseQuery(query) : undefined;
}

/**
 * The change of a view that includes or excludes records by one more condition. A text that hides the rest joins it; an
 * invalid query is replaced. Throws QUERY_INVALID where the new query exceeds a limit.
 */
export function withTerm(view: LogsView, term: QueryNode, mode: 'include' | 'exclude'): Partial<LogsView> {
  const { text, isRegex, isOnlyMatches } = view;
  const joins = isOnlyMatches && text !== '';
  const found: QueryNode = isRegex ? { kind: 'regex', pattern: text } : { kind: 'text', text };
  const query = queryNode(view.query) ? view.query : '';
  const base = joins ? addTerm(query, found, 'include') : query;
  return { query: addTerm(base, term, mode), ...(joins && { text: '', isRegex: false }) };
}

/** Whether a query includes or excludes the records that match, by a condition of its own. */
export function termState(query: string, term: QueryNode): 'include' | 'exclude' | null {
  const known = conditions(queryNode(query)).map(formatQuery);
  if (conditions(term).every((each) => known.includes(formatQuery(each)))) return 'include';
  return known.includes(formatQuery({ kind: 'not', node: term })) ? 'exclude' : null;
}

/** The values of a field whose records a query excludes. */
export function excludedValues(query: string, field: string): string[] {
  return conditions(queryNode(query)).flatMap((term) =>
    term.kind === 'not' && term.node.kind === 'field' && term.node.field === field && term.node.operator === '='
      ? [term.node.value]
      : [],
  );
}

/** The query without its condition that includes or excludes the records that match. */
export function withoutTerm(query: string, term: QueryNode): string {
  const dropped = [...conditions(term), { kind: 'not', node: term } as const].map(formatQuery);
  const left = conditions(queryNode(query)).filter((each) => !dropped.includes(formatQuery(each)));
  const [only] = left;
  if (!only) return '';
  return formatQuery(left.length === 1 ? only : { kind: 'and', nodes: left });
}

function conditions(node: QueryNode | undefined): readonly QueryNode[] {
  if (node === undefined) return [];
  return node.kind === 'and' ? node.nodes.flatMap(conditions) : [node];
}

/** Words without any syntax: found as they are written, white space included. */
function isBareWords(text: string, node: QueryNode): boolean {
  const words = text.trim().split(/\s+/);
  const nodes = node.kind === 'and' ? node.nodes : [node];
  return (
    nodes.length === words.length &&
    nodes.every((each, index) => each.kind === 'text' && !each.caseSensitive && each.text === words[index])
  );
}
