import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boxChange, boxText, readBox, withTerm } from './query-view.ts';
import { ALL_LOGS, type LogsView } from './view.ts';

const read = (text: string) => readBox(text, { isRegex: false });

describe('the text of the query box', () => {
  test.each([
    'timeout',
    'connection refused',
    '  two  spaces ',
    '10.0.0.1:9000',
    'https://example.org/a',
    "it's",
    '50%',
  ])('%j is found as it is', (text) => {
    expect(read(text)).toEqual({ kind: 'find', text });
  });

  test.each([
    ['"shard=13"', 'shard=13'],
    [String.raw`"a \"b\" (c"`, 'a "b" (c'],
    ['   ', ''],
  ])('%s finds %j', (text, found) => {
    expect(read(text)).toEqual({ kind: 'find', text: found });
  });

  test.each([
    'shard=13',
    'timeout shard=13',
    '-timeout',
    'a OR b',
    '(a b)',
    '"a" "b"',
    '/a|b/',
    '"Foo"c',
    'level>=warn',
  ])('%s is a query', (text) => {
    expect(read(` ${text} `)).toMatchObject({ kind: 'query', query: text });
  });

  test.each([
    ['shard=', 6],
    ['shard=13 (a', 9],
    ['cost>much', 5],
  ])('%s is wrong at character %i', (text, position) => {
    expect(read(text)).toMatchObject({ kind: 'invalid', position, message: expect.stringContaining('at character') });
  });

  test('is one regex if it is said to be one', () => {
    expect(readBox('shard=(1', { isRegex: true })).toEqual({ kind: 'find', text: 'shard=(1' });
  });

  test('a text to find means the same when the view is opened again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, isRegex) => {
        const shown = boxText({ query: '', text, isRegex });
        const content = readBox(shown, { isRegex });
        // White space alone finds nothing.
        expect(content).toEqual({ kind: 'find', text: isRegex || text.trim() !== '' ? text : '' });
      }),
      {
        examples: [
          ['foo(', false],
          ['"', false],
          ['a=b', false],
          ['\\', false],
          ['-x', false],
        ],
      },
    );
  });

  test('a query is shown as it was written, also if it is wrong', () => {
    expect(boxText({ query: 'shard=', text: 'x', isRegex: false })).toBe('shard=');
  });
});

describe('a text of the box changes', () => {
  const query = { kind: 'query', query: 'a=1', node: { kind: 'exists', field: 'a' } } as const;
  test.each([
    ['a search text into another', { kind: 'find', text: 'x' }, { query: '', text: 'y' }, { query: '', text: 'x' }],
    ['a search text into a query', query, { query: '', text: 'y' }, { query: 'a=1', text: '' }],
    ['a query, but not the text beside it', query, { query: 'b=1', text: 'y' }, { query: 'a=1', text: 'y' }],
    ['a query into a text', { kind: 'find', text: 'x' }, { query: 'b=1', text: 'y' }, { query: '', text: 'x' }],
    [
      'nothing but the query when emptied',
      { kind: 'find', text: '' },
      { query: 'b=1', text: 'y' },
      { query: '', text: 'y' },
    ],
  ] as const)('%s', (_name, content, view, expected) => {
    expect(boxChange(content, view)).toEqual(expected);
  });
});

describe('one more condition', () => {
  const shard = { kind: 'field', field: 'shard', operator: '=', value: '13' } as const;
  const change = (view: Partial<LogsView>) => withTerm({ ...ALL_LOGS, ...view }, shard, 'include');

  test('joins the query and leaves a text that is only highlighted', () => {
    expect(change({ query: 'level>=warn', text: 'x' })).toEqual({ query: 'level>=warn shard=13' });
  });

  test('replaces a query that is not valid', () => {
    expect(change({ query: 'level>=(' })).toEqual({ query: 'shard=13' });
  });

  test('joins a text that hides the rest', () => {
    const only = { isOnlyMatches: true, text: 'a b' };
    expect(change(only)).toEqual({ query: '"a b" shard=13', text: '', isRegex: false });
    expect(change({ ...only, isRegex: true })).toEqual({ query: '/a b/ shard=13', text: '', isRegex: false });
  });
});
