import type { FieldNode, QueryNode } from '@porthole/logs/query';
import { PortholeError } from '../errors/errors.ts';
import { type LeafNode, scanQuery } from './scan-query.ts';

/**
 * The text of a query, parsed by `parseQuery` as the same query. There is one text for each query: without quotes where
 * it can be, with parentheses wherever AND and OR meet.
 */
export function formatQuery(node: QueryNode): string {
  switch (node.kind) {
    case 'text':
      return formatText(node.text, node.caseSensitive);
    case 'regex':
      return formatRegex(node);
    case 'fieldRegex':
      return `${formatName(node.field)}:${formatRegex(node)}`;
    case 'exists':
      return `${formatName(node.field)}:*`;
    case 'field':
      return formatComparison(node);
    case 'not':
      return node.node.kind === 'not' ? `-(${formatQuery(node.node)})` : `-${formatOperand(node.node)}`;
    case 'and':
      return node.nodes.map(formatOperand).join(' ');
    case 'or':
      if (node.nodes.length === 0) throw unwritable('OR without conditions');
      return node.nodes.map(formatOperand).join(' OR ');
  }
}

/** As it is written beside other conditions. */
export function formatOperand(node: QueryNode): string {
  const isJoined = (node.kind === 'and' || node.kind === 'or') && node.nodes.length > 1;
  return isJoined ? `(${formatQuery(node)})` : formatQuery(node);
}

function formatText(text: string, caseSensitive: true | undefined): string {
  if (caseSensitive) return `${quote(text)}c`;
  // Behind a NOT, it would be a second one.
  const bare = text.startsWith('-') ? undefined : readLeaf(text);
  return bare?.kind === 'text' && bare.text === text ? text : quote(text);
}

function formatRegex({ pattern, caseSensitive }: { pattern: string; caseSensitive?: true }): string {
  return `/${formatPattern(pattern)}/${caseSensitive ? 'c' : ''}`;
}

/** Between slashes. */
export function formatPattern(pattern: string): string {
  return pattern.replace(/\\.|\//gs, (found) => (found === '/' ? '\\/' : found));
}

function formatComparison({ field, operator, value, wildcard }: FieldNode): string {
  const start = `${formatName(field)}${operator}`;
  const written = field === 'level' ? value.toLowerCase() : value;
  const bare = readLeaf(`${start}${written}`);
  if (bare?.kind === 'field' && bare.value === written && bare.wildcard === wildcard) return `${start}${written}`;
  if (wildcard) throw unwritable(`a value with wildcards that also has white space, quotes or parentheses`);
  return `${start}${quote(value)}`;
}

export function formatName(name: string): string {
  return /^[A-Za-z_@$][\w.@$-]*$/.test(name) ? name : quote(name);
}

/** Escapes no more than needed, so that texts of logs stay readable. */
export function quote(text: string): string {
  return `"${text.replace(/\\(?=["\\]|$)|"/g, '\\$&')}"`;
}

/** The only term of a text. */
function readLeaf(text: string): LeafNode | undefined {
  const [token, another] = scanQuery(text);
  return token?.kind === 'term' && token.start === 0 && token.end === text.length && !another ? token.node : undefined;
}

function unwritable(what: string): PortholeError {
  return new PortholeError('QUERY_INVALID', `the query cannot be written as text: ${what}`);
}
