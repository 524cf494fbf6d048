import type { QueryNode } from '@porthole/logs/query';
import { describe, expect, it } from 'vitest';
import { PortholeError, toProblem } from '../errors/errors.ts';
import { formatQuery } from './format-query.ts';
import { parseQuery } from './parse-query.ts';
import { MAX_QUERY_DEPTH, MAX_QUERY_LENGTH, MAX_QUERY_REGEXES, MAX_QUERY_TERMS } from './scan-query.ts';

const text = (value: string): QueryNode => ({ kind: 'text', text: value });
const field = (name: string, operator: '=' | '!=' | ':' | '<' | '<=' | '>' | '>=', value: string): QueryNode => ({
  kind: 'field',
  field: name,
  operator,
  value,
});
const not = (node: QueryNode): QueryNode => ({ kind: 'not', node });
const and = (...nodes: QueryNode[]): QueryNode => ({ kind: 'and', nodes });
const or = (...nodes: QueryNode[]): QueryNode => ({ kind: 'or', nodes });

/** Text, query, and the formatted text where it is another. */
const PARSED: [text: string, node: QueryNode, formatted?: string][] = [
  ['timeout', text('timeout')],
  ['"disk full"', text('disk full')],
  ['"disk"', text('disk'), 'disk'],
  ['"Disk"c', { kind: 'text', text: 'Disk', caseSensitive: true }],
  ['"a \\"b\\" \\\\ C:\\dir"', text('a "b" \\ C:\\dir'), '"a \\"b\\" \\ C:\\dir"'],
  ["it's", text("it's")],
  ['shard":13', text('shard":13')],
  ['10.0.0.1:9000', text('10.0.0.1:9000')],
  ['https://example.org/?a=b', text('https://example.org/?a=b')],
  ['12:05>', text('12:05>')],
  ['/a\\/b\\d+/', { kind: 'regex', pattern: 'a/b\\d+' }],
  ['/Foo bar/c', { kind: 'regex', pattern: 'Foo bar', caseSensitive: true }],
  ['shard=13', field('shard', '=', '13')],
  ['shard = 13', field('shard', '=', '13'), 'shard=13'],
  ['http.status!=200', field('http.status', '!=', '200')],
  ['path=/var/log', field('path', '=', '/var/log')],
  ['component:Query', field('component', ':', 'Query')],
  ['msg:"a b"', field('msg', ':', 'a b')],
  ['msg=""', field('msg', '=', '')],
  ['msg="*"', field('msg', '=', '*')],
  ['msg="a*"', field('msg', '=', 'a*')],
  ['msg=a*', { kind: 'field', field: 'msg', operator: '=', value: 'a*', wildcard: true }],
  ['trace:*', { kind: 'exists', field: 'trace' }],
  ['trace=*', { kind: 'exists', field: 'trace' }, 'trace:*'],
  ['msg:/time(out)?/', { kind: 'fieldRegex', field: 'msg', pattern: 'time(out)?' }],
  ['"k8s.io/name"=x', field('k8s.io/name', '=', 'x')],
  ['"a b" > 5', field('a b', '>', '5'), '"a b">5'],
  ['cost > 500ms', field('cost', '>', '500ms'), 'cost>500ms'],
  ['cost>=1h2m3.5s', field('cost', '>=', '1h2m3.5s')],
  ['size<1.5MiB', field('size', '<', '1.5MiB')],
  ['x<=-1.5e3', field('x', '<=', '-1.5e3')],
  ['level>=WARNING', field('level', '>=', 'warn'), 'level>=warn'],
  ['context.level=high', field('context.level', '=', 'high')],
  ['AND=5', field('AND', '=', '5')],
  ['-timeout', not(text('timeout'))],
  ['NOT a=b', not(field('a', '=', 'b')), '-a=b'],
  ['-(-a)', not(not(text('a')))],
  ['a -', and(text('a'), text('-')), 'a "-"'],
  ['a AND b', and(text('a'), text('b')), 'a b'],
  ['a b OR c', or(and(text('a'), text('b')), text('c')), '(a b) OR c'],
  ['(a b) c', and(and(text('a'), text('b')), text('c'))],
  ['a(b OR c)d', and(text('a'), or(text('b'), text('c')), text('d')), 'a (b OR c) d'],
  ['and or "OR"', and(text('and'), text('or'), text('OR'))],
  ['-(a OR b)', not(or(text('a'), text('b')))],
  [
    'level>=warn shard=13 component:Query -"timeout" source:exec.go cost>500ms /regex/ (a OR b)',
    and(
      field('level', '>=', 'warn'),
      field('shard', '=', '13'),
      field('component', ':', 'Query'),
      not(text('timeout')),
      field('source', ':', 'exec.go'),
      field('cost', '>', '500ms'),
      { kind: 'regex', pattern: 'regex' },
      or(text('a'), text('b')),
    ),
    'level>=warn shard=13 component:Query -timeout source:exec.go cost>500ms /regex/ (a OR b)',
  ],
];

/** Text, the index of the character that the error points at, and what it says. */
const REFUSED: [text: string, position: number, detail: RegExp][] = [
  ['shard=', 6, /value is missing after "shard="; to search for this text, put it in double quotes$/],
  ['a error: disk', 8, /value is missing after "error:"/],
  ['=5', 0, /name of a field is missing before "="/],
  ['a ::1', 2, /name of a field is missing before ":"/],
  ['"disk full', 0, /no closing double quote$/],
  ['msg="disk full', 4, /no closing double quote$/],
  ['/var', 0, /no closing "\/"; to search for text that begins with/],
  ['/var/log/x', 5, /expected a space, "\)", or c to match case after the closing \/; to search for all of this text/],
  ['"a"b', 3, /after the closing "/],
  ['msg="a"c', 7, /expected a space or "\)" after the closing "/],
  ['//', 0, /regular expression is empty$/],
  ['""', 0, /text is empty$/],
  ['""=5', 0, /field has no name$/],
  ['a:""', 2, /value is empty; for records that have the field, write a:\*$/],
  ['a!=*', 3, /never matches; for records without the field, write -a:\*$/],
  ['a==5', 2, /unknown operator: expected =, !=, :, <, <=, > or >=; if this is the value, put it in double quotes$/],
  ['x level>=warnn', 9, /invalid level "warnn": expected trace, debug, info, warn, error or fatal$/],
  ['cost>slow', 5, /invalid value "slow" for >: expected a number, a duration like 500ms or a size like 10MiB$/],
  ['a OR', 4, /condition is missing after OR; to search for this word, write "OR" with the quotes$/],
  ['OR a', 0, /condition is missing before OR/],
  ['a AND OR b', 6, /condition is missing after AND/],
  ['NOT', 3, /condition is missing after NOT/],
  ['a (b', 2, /"\(" has no closing "\)"$/],
  ['a) b', 1, /there is no "\(" for this "\)"/],
  [')', 0, /there is no "\(" for this "\)"/],
  ['main()', 4, /parentheses are empty; to search for text with parentheses/],
  ['--verbose', 0, /begins with "-", put it in double quotes$/],
  [`${'('.repeat(MAX_QUERY_DEPTH + 1)}a`, MAX_QUERY_DEPTH, /nested more than 20 levels deep$/],
  [`${'NOT '.repeat(2000 / 4)}a`, MAX_QUERY_DEPTH * 4, /nested more than 20 levels deep$/],
  ['a '.repeat(MAX_QUERY_TERMS + 1), MAX_QUERY_TERMS * 2, /more than 64 terms$/],
  ['/a/ '.repeat(MAX_QUERY_REGEXES + 1), MAX_QUERY_REGEXES * 4, /more than 8 regular expressions$/],
  ['a'.repeat(MAX_QUERY_LENGTH + 1), MAX_QUERY_LENGTH, /has 4097 characters; at most 4096 are allowed$/],
  [`x ${'ä'.repeat(513)}`, 2, /too long: at most 1024 bytes$/],
  [`x=${'a'.repeat(1025)}`, 2, /too long: at most 1024 bytes$/],
  [`/${'a'.repeat(2049)}/`, 0, /too long: at most 2048 bytes$/],
];

describe('the text of a query', () => {
  it.each(PARSED)('%s is parsed, and formatted in one way', (written, node, formatted = written) => {
    expect(parseQuery(written)).toEqual(node);
    expect(formatQuery(node)).toBe(formatted);
    expect(parseQuery(formatted)).toEqual(node);
  });

  it('that is empty has no conditions', () => {
    expect(parseQuery('')).toBeUndefined();
    expect(parseQuery(' \n\t')).toBeUndefined();
  });

  it.each(REFUSED)('%s is refused at the character', (written, position, detail) => {
    const error = refusal(() => parseQuery(written));
    expect(error).toMatchObject({ code: 'QUERY_INVALID', position });
    expect(error.message).toMatch(detail);
    expect(error.message).toContain(`invalid query at character ${position + 1}: `);
    expect(toProblem(error)).toMatchObject({ status: 400, code: 'QUERY_INVALID', position });
  });

  it('may be too long only when it is formatted', () => {
    const written = `${'a b OR '.repeat(20)}${`${'c'.repeat(1000)} `.repeat(4)}`.slice(0, MAX_QUERY_LENGTH);
    expect(refusal(() => parseQuery(written)).message).toMatch(/too long: shorten it a little$/);
  });
});

describe('a query that has no text', () => {
  it.each([
    [{ kind: 'or', nodes: [] }, /OR without conditions$/],
    [{ kind: 'field', field: 'a', operator: '=', value: 'b *', wildcard: true }, /wildcards that also has white space/],
  ] as [QueryNode, RegExp][])('%j is refused', (node, detail) => {
    const error = refusal(() => formatQuery(node));
    expect(error.code).toBe('QUERY_INVALID');
    expect(error.message).toMatch(detail);
  });
});

function refusal(parse: () => unknown): PortholeError {
  try {
    parse();
  } catch (error) {
    if (error instanceof PortholeError) return error;
    throw error;
  }
  throw new Error('accepted');
}
