import type { FieldNode, QueryNode } from '@porthole/logs/query';
import { formatName, formatPattern, quote } from './format-query.ts';

/** A query in English words, from which it could be parsed back: `level is WARN or higher and shard is 13`. */
export function explainQuery(node: QueryNode | undefined): string {
  if (node === undefined) return 'every record';
  switch (node.kind) {
    case 'not':
      return explainNegated(node.node);
    case 'and':
      return joinWords(node.nodes.map(explainOperand), 'and');
    case 'or':
      return joinWords(node.nodes.map(explainOperand), 'or');
    default:
      return explainLeaf(node, false);
  }
}

type Leaf = Exclude<QueryNode, { kind: 'not' | 'and' | 'or' }>;

function explainOperand(node: QueryNode): string {
  const isJoined = (node.kind === 'and' || node.kind === 'or') && node.nodes.length > 1;
  return isJoined ? `(${explainQuery(node)})` : explainQuery(node);
}

function explainNegated(node: QueryNode): string {
  const isLeaf = node.kind !== 'not' && node.kind !== 'and' && node.kind !== 'or';
  // "shard does not have another value than 13" would be read as "is 13".
  if (!isLeaf || (node.kind === 'field' && node.operator === '!=')) return `not (${explainQuery(node)})`;
  return explainLeaf(node, true);
}

function explainLeaf(node: Leaf, isNegated: boolean): string {
  switch (node.kind) {
    case 'text':
      return `the text ${isNegated ? 'does not contain' : 'contains'} ${quote(node.text)}${explainCase(node)}`;
    case 'regex':
      return `the text ${isNegated ? 'does not match' : 'matches'} /${formatPattern(node.pattern)}/${explainCase(node)}`;
    case 'fieldRegex':
      return `${formatName(node.field)} ${isNegated ? 'does not match' : 'matches'} /${formatPattern(node.pattern)}/${explainCase(node)}`;
    case 'exists':
      return `${formatName(node.field)} ${isNegated ? 'is missing' : 'exists'}`;
    case 'field':
      return `${formatName(node.field)} ${explainComparison(node, isNegated)}${isNegated ? ' (or missing)' : ''}`;
  }
}

const ORDER = { '<': 'less than', '<=': 'at most', '>': 'more than', '>=': 'at least' } as const;

function explainComparison({ field, operator, value, wildcard }: FieldNode, isNegated: boolean): string {
  const like = wildcard ? 'like ' : '';
  if (operator === ':') {
    const words = wildcard ? 'words like' : /\s/.test(value) ? 'the words' : 'the word';
    return `${isNegated ? 'does not contain' : 'contains'} ${words} ${quote(value)}`;
  }
  if (operator === '!=') return `has another value than ${wildcard ? 'one like ' : ''}${formatValue(field, value)}`;
  const is = isNegated ? 'is not' : 'is';
  if (operator === '=') return `${is} ${like}${formatValue(field, value)}`;
  if (field === 'level') return `${is} ${explainLevels(operator, value.toUpperCase())}`;
  return `${is} ${ORDER[operator]} ${formatValue(field, value)}`;
}

function explainLevels(operator: keyof typeof ORDER, level: string): string {
  const words = {
    '<': `lower than ${level}`,
    '<=': `${level} or lower`,
    '>': `higher than ${level}`,
    '>=': `${level} or higher`,
  };
  return words[operator];
}

/** Numbers and levels need no quotes. */
function formatValue(field: string, value: string): string {
  if (field === 'level') return value.toUpperCase();
  return /^-?\d[\w.+\u00b5\u03bc-]*$/.test(value) ? value : quote(value);
}

function explainCase({ caseSensitive }: { caseSensitive?: true }): string {
  return caseSensitive ? ' (case-sensitive)' : '';
}

/** `a and b`, `a, b, and c`. Before `or` there is always a comma: levels have an "or" of their own. */
function joinWords(words: string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? 'every record';
  if (words.length < 2) return last;
  const first = words.slice(0, -1).join(', ');
  return words.length === 2 && conjunction === 'and' ? `${first} and ${last}` : `${first}, ${conjunction} ${last}`;
}
