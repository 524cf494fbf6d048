import type { QueryNode } from '@porthole/logs/query';
import { describe, expect, it } from 'vitest';
import { explainQuery } from './explain-query.ts';
import { addTerm, parseQuery } from './parse-query.ts';
import { queryContext } from './query-context.ts';

/** Text with `|` for the caret, kind, what is typed, and the text that a completion replaces. */
const CONTEXTS: [text: string, kind: string, typed: string, replaced: string][] = [
  ['|', 'name', '', ''],
  ['sh|', 'name', 'sh', 'sh'],
  ['s|h', 'name', 's', 'sh'],
  ['a sh| b', 'name', 'sh', 'sh'],
  ['a |', 'name', '', ''],
  ['-sh|', 'name', 'sh', 'sh'],
  ['-|', 'name', '', ''],
  ['(|', 'name', '', ''],
  ['(sh|)', 'name', 'sh', 'sh'],
  ['OR|', 'name', 'OR', 'OR'],
  ['sh|=13', 'name', 'sh', 'sh'],
  ['"k8s/|name"=x', 'name', '"k8s/', '"k8s/name"'],
  ['cost>|=5', 'operator', '>', '>='],
  ['shard=|', 'value of shard', '', ''],
  ['shard=1| b', 'value of shard', '1', '1'],
  ['shard=|13', 'value of shard', '', '13'],
  ['cost > |', 'value of cost', '', ''],
  ['level>=w|', 'value of level', 'w', 'w'],
  ['component:"Que|', 'value of component', 'Que', '"Que'],
  ['component:"Que| shard=13', 'value of component', 'Que', '"Que'],
  ['component:"Que|ry" x', 'value of component', 'Que', '"Query"'],
  ['component:"Query"|', 'value of component', 'Query', '"Query"'],
  ['msg:/ab|', 'text', '/ab', '/ab'],
  ['"disk fu|', 'text', '"disk fu', '"disk fu'],
  ['10.0|', 'text', '10.0', '10.0'],
  ['/re|', 'text', '/re', '/re'],
];

describe('what is being typed', () => {
  it.each(CONTEXTS)('%s', (marked, kind, typed, replaced) => {
    const caret = marked.indexOf('|');
    const text = marked.replace('|', '');
    const context = queryContext(text, caret);
    expect(context.kind === 'value' ? `value of ${context.field}` : context.kind).toBe(kind);
    expect(context.typed).toBe(typed);
    expect(text.slice(context.start, context.end)).toBe(replaced);
  });
});

const SHARD: QueryNode = { kind: 'field', field: 'shard', operator: '=', value: '13' };
const EITHER: QueryNode = { kind: 'or', nodes: [{ kind: 'text', text: 'a' }, SHARD] };

describe('adding a condition', () => {
  it.each([
    ['', SHARD, 'include', 'shard=13'],
    ['', SHARD, 'exclude', '-shard=13'],
    ['NOT a  AND b ', SHARD, 'include', 'NOT a  AND b shard=13'],
    ['a OR b', SHARD, 'include', '(a OR b) shard=13'],
    ['a', EITHER, 'exclude', 'a -(a OR shard=13)'],
    ['a', EITHER, 'include', 'a (a OR shard=13)'],
    ['a shard = 13', SHARD, 'include', 'a shard = 13'],
    ['a -shard=13 b', SHARD, 'include', 'a b shard=13'],
    ['shard=13', SHARD, 'exclude', '-shard=13'],
    ['shard=13', { kind: 'not', node: SHARD }, 'exclude', 'shard=13'],
  ] as [string, QueryNode, 'include' | 'exclude', string][])('to %j', (text, node, mode, expected) => {
    expect(addTerm(text, node, mode)).toBe(expected);
  });

  it('to an invalid query is refused', () => {
    expect(() => addTerm('a (b', SHARD, 'include')).toThrow('invalid query at character 3');
  });
});

describe('a query in words', () => {
  it.each([
    ['', 'every record'],
    ['timeout', 'the text contains "timeout"'],
    ['-"disk full"c', 'the text does not contain "disk full" (case-sensitive)'],
    ['/a\\/b/c', 'the text matches /a\\/b/ (case-sensitive)'],
    ['shard=13 cost>500ms', 'shard is 13 and cost is more than 500ms'],
    ['-shard=13', 'shard is not 13 (or missing)'],
    ['shard!=13', 'shard has another value than 13'],
    ['-user:bob', 'user does not contain the word "bob" (or missing)'],
    ['trace:* -span:*', 'trace exists and span is missing'],
    ['name=b* msg:a*', 'name is like "b*" and msg contains words like "a*"'],
    ['level>=warning OR level=debug', 'level is WARN or higher, or level is DEBUG'],
    [
      '-(a OR b) "k8s.io/x":"y z"',
      'not (the text contains "a", or the text contains "b") and "k8s.io/x" contains the words "y z"',
    ],
    [
      'level>=warn shard=13 component:Query -"timeout" cost>500ms (a OR b)',
      'level is WARN or higher, shard is 13, component contains the word "Query", the text does not contain "timeout", cost is more than 500ms, and (the text contains "a", or the text contains "b")',
    ],
  ])('%s', (text, words) => {
    expect(explainQuery(parseQuery(text))).toBe(words);
  });
});
