import type { FieldOperator, QueryNode } from '@porthole/logs/query';
import fc from 'fast-check';

/* Random queries in the form that the parser gives them. */

const content = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }),
  fc.constantFrom('AND', 'OR', 'NOT', '-', '--x', '-5', '(', 'main()', 'a=b', 'a:b', 'a://b', '10.0.0.1:90', '/a/b'),
  fc.constantFrom('"', '\\', 'a\\', 'a\\"b', '\\\\"', '=x', '!=', '*', 'a*b', 'c', ' a', 'a ', '\n', 'ä ö', 'a, b'),
  fc.constantFrom('the text', 'or higher', '13 and x', ') or (', 'every record', 'like "x"'),
);

const name = fc
  .oneof(
    fc.constantFrom(
      'shard',
      'user.id',
      '@t',
      '$x',
      '_',
      'context.level',
      'message',
      'source',
      'AND',
      'not',
      'the',
      'is',
    ),
    content,
  )
  .filter((text) => text !== 'level');

const pattern = fc.oneof(
  fc.constantFrom('a', 'a/b', '\\d+', 'a\\\\', '\\"', '[/]', ' ', 'a, or b', ') and (', 'c'),
  fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/\\/.test(text)),
);

const wildcardValue = fc.constantFrom('a*', '*a', 'a*b*', '**', '1*', 'x"*', '/*', '-*', 'OR*');
const caseSensitive = fc.constantFrom({}, { caseSensitive: true as const });
const order = fc.constantFrom<FieldOperator>('<', '<=', '>', '>=');
const quantity = fc.constantFrom('0', '-1.5', '13', '1e9', '-2E-3', '500ms', '1h2m3.5s', '10KB', '1.5 MiB', '7µs');

/** One condition. */
export const randomTerm: fc.Arbitrary<QueryNode> = fc.oneof(
  fc.tuple(content, caseSensitive).map(([text, sensitive]): QueryNode => ({ kind: 'text', text, ...sensitive })),
  fc
    .tuple(pattern, caseSensitive)
    .map(([regex, sensitive]): QueryNode => ({ kind: 'regex', pattern: regex, ...sensitive })),
  fc
    .tuple(name, pattern, caseSensitive)
    .map(([field, regex, sensitive]): QueryNode => ({ kind: 'fieldRegex', field, pattern: regex, ...sensitive })),
  name.map((field): QueryNode => ({ kind: 'exists', field })),
  fc
    .tuple(name, fc.constantFrom<FieldOperator>('=', '!=', ':'), content)
    .map(([field, operator, value]): QueryNode => ({ kind: 'field', field, operator, value })),
  name.map((field): QueryNode => ({ kind: 'field', field, operator: '=', value: '' })),
  fc
    .tuple(name, fc.constantFrom<FieldOperator>('=', '!=', ':'), wildcardValue)
    .filter(([, operator, value]) => operator !== ':' || !value.startsWith('/'))
    .map(([field, operator, value]): QueryNode => ({ kind: 'field', field, operator, value, wildcard: true })),
  fc
    .tuple(name, order, quantity)
    .map(([field, operator, value]): QueryNode => ({ kind: 'field', field, operator, value })),
  fc
    .tuple(fc.oneof(order, fc.constantFrom<FieldOperator>('=', '!=')), fc.constantFrom('trace', 'warn', 'fatal'))
    .map(([operator, value]): QueryNode => ({ kind: 'field', field: 'level', operator, value })),
);

const { node } = fc.letrec<{ node: QueryNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    randomTerm,
    tie('node').map((inner): QueryNode => ({ kind: 'not', node: inner })),
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('node'), { minLength: 2, maxLength: 3 }))
      .map(([kind, nodes]): QueryNode => ({ kind, nodes })),
  ),
}));

/** Within the limits of the language. */
export const randomQuery: fc.Arbitrary<QueryNode> = node.filter((query) => countRegexes(query) <= 8);

/** Texts that look like queries, most of them wrong somewhere. */
export const randomQueryText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'shard', '=', '!=', ':', '<', '>=', '"', '/', '(', ')', '-', 'OR', 'AND', 'NOT', '\\', '*'),
      fc.constantFrom(' ', ' ', '\n', '5ms', 'level', 'warn', 'c', 'ä', '://', '13', '.', '\ud800'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 16 },
  )
  .map((parts) => parts.join(''));

function countRegexes(query: QueryNode): number {
  if (query.kind === 'regex' || query.kind === 'fieldRegex') return 1;
  if (query.kind === 'not') return countRegexes(query.node);
  if (query.kind === 'and' || query.kind === 'or')
    return query.nodes.reduce((count, each) => count + countRegexes(each), 0);
  return 0;
}
