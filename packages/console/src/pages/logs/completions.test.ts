import { describe, expect, test } from 'vitest';
import type { Row } from '../../log-view/model/workspace-state.ts';
import { fakeRecord } from '../../log-view/testing/fake-source.ts';
import { comparisonParts, findCompletions, loadedFields, type RemoteFields } from './completions.ts';

const row = (number: number, change: object): Row => ({
  kind: 'record',
  key: String(number),
  record: { ...fakeRecord(number), ...change },
});

const rows = [
  row(1, { context: { shard: 13, 'a key': 1, http: { status: 500 } }, tags: ['Query'] }),
  row(2, { context: { shard: 7 }, message: 'took cost=12ms' }),
  row(3, { context: { shard: 7, token: 'x'.repeat(500) } }),
];
const REMOTE: RemoteFields = {
  fields: [
    { name: 'shard', types: ['number'] },
    { name: 'service', types: ['text'] },
  ],
  values: [],
};

/** `|` is the caret; the result is the text with the first completions. */
function complete(text: string, remote: RemoteFields = REMOTE): string[] {
  const caret = text.indexOf('|');
  const typed = text.replace('|', '');
  return findCompletions(typed, caret, { loaded: loadedFields(rows), remote }).map(
    ({ insert, start, end }) => typed.slice(0, start) + insert + typed.slice(end),
  );
}

describe('completions', () => {
  test('names of fields: built in, of the selected logs and of loaded records', () => {
    expect(complete('s|')).toEqual(['source=', 'shard=', 'service=', 'message:', 'cost=', 'http.status=']);
    expect(complete('level>=warn co|')).toEqual(['level>=warn component=', 'level>=warn cost=']);
    expect(complete('-sha|')).toEqual(['-shard=']);
    expect(complete('|')).toHaveLength(10);
  });

  test('only the name before a comparison is replaced', () => {
    expect(complete('sh|=13 a')).toEqual(['shard=13 a']);
  });

  test('operators after a whole name', () => {
    expect(complete('shard|').slice(0, 3)).toEqual(['shard=', 'shard!=', 'shard:']);
    expect(complete('cost>|=5').slice(0, 3)).toEqual(['cost=5', 'cost!=5', 'cost:5']);
  });

  test('values of the field: the most frequent of the nodes, then of the loaded records', () => {
    expect(complete('shard=|')).toEqual(['shard=7 ', 'shard=13 ']);
    expect(complete('shard=1|')).toEqual(['shard=13 ']);
    const remote = { ...REMOTE, values: [{ value: '21', count: 1000 }] };
    expect(complete('shard=|', remote)).toEqual(['shard=21 ', 'shard=7 ', 'shard=13 ']);
    expect(complete('http.status>|')).toEqual(['http.status>500 ']);
    expect(complete('component=|')).toEqual(['component=Query ']);
    expect(complete('level>=w|')).toEqual(['level>=warn ']);
  });

  test('nothing for long values, plain words, and what is typed already', () => {
    const values = ['x'.repeat(255), 'two\nlines', ''].map((value) => ({ value, count: 9 }));
    expect(complete('service=|', { ...REMOTE, values })).toEqual([]);
    expect(complete('token=|')).toEqual([]);
    expect(complete('zzz|')).toEqual([]);
    expect(complete('shard=13|')).toEqual([]);
  });
});

test('fields and values of the loaded records are bounded', () => {
  const many = Array.from({ length: 600 }, (_, number) => row(number, { context: { [`f${number}`]: 1, id: number } }));
  const fields = loadedFields(many);
  expect(fields.size).toBe(200);
  expect(fields.get('id')?.size).toBe(50);
  expect(fields.has('f599')).toBe(true);
  expect(fields.get('message')?.size).toBe(0);
});

test.each([
  ['a level>=warn -shard=7 b', ['a ', 'level>=warn', ' ', '-shard=7', ' b']],
  ['level=warn "db=orders shard=" user="a b" c', ['', 'level=warn', ' "db=orders shard=" ', 'user="a b"', ' c']],
  ['(a OR b=1) NOT c=2', ['(a OR ', 'b=1', ') NOT ', 'c=2', '']],
  ['shard= ', ['shard= ']],
  ['error: disk full', ['error: disk full']],
])('the comparisons of %j are marked', (text, parts) => {
  expect(comparisonParts(text)).toEqual(parts);
  expect(parts.join('')).toBe(text);
});
