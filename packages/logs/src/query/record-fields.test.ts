import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readContext } from '../parse/exact-context.ts';
import { valueType } from './quantity.ts';
import { canonicalField, fieldJson, fieldValues, messagePairs, recordFields } from './record-fields.ts';

const withContext = (text: string, message = '') => ({ message, ...readContext(text) });

describe('fields of a record', () => {
  it('are its columns, the leaves of its context and the pairs of its message', () => {
    const record = {
      ...withContext(
        '{"shard":13,"http":{"status":500},"ids":[1,[2]],"errors":[{"code":"a"},{"code":null}],"none":{}}',
      ),
      level: 'WARN' as const,
      source: 'query/exec.go:12',
      tags: ['Query', 'Leaf'],
      message: 'slow shard=14 cost=523.4ms ok=true',
    };
    expect(recordFields(record).map(({ name, text, kind }) => `${name} ${text} ${kind}`)).toEqual([
      'level WARN string',
      'source query/exec.go:12 string',
      'component Query string',
      'component Leaf string',
      'message slow shard=14 cost=523.4ms ok=true string',
      'shard 13 number',
      'http.status 500 number',
      'ids 1 number',
      'ids 2 number',
      'errors.code a string',
      'errors.code null null',
      'cost 523.4ms string',
      'ok true boolean',
    ]);
  });

  it('are exactly as in the log', () => {
    const record = withContext(
      '{"id":12345678901234567890,"ratio":1.0,"id":2,"__proto__":{"a.b":1e2},"text":"\\u0041"}',
    );
    expect(fieldValues(record, 'id')).toEqual(['12345678901234567890', '2']);
    expect(fieldJson(record, ['*'])).toEqual({
      message: '',
      id: ['12345678901234567890', 2],
      ratio: '1.0',
      '__proto__.a.b': '1e2',
      text: 'A',
    });
  });

  it('have one name, whether dots are in a key or between keys', () => {
    const record = withContext('{"http.status":1,"http":{"status":2,"x.y":{"z":3}}}');
    expect(fieldValues(record, 'http.status')).toEqual(['1', '2']);
    expect(fieldValues(record, 'http.x.y.z')).toEqual(['3']);
    expect(fieldValues(record, 'http')).toEqual([]);
  });

  it('that have the name of a column are reached by context.', () => {
    const record = { ...withContext('{"level":"low","context":{"a":1}}', 'message=x'), level: 'INFO' as const };
    expect(fieldValues(record, 'level')).toEqual(['INFO']);
    expect(fieldValues(record, 'context.level')).toEqual(['low']);
    expect(fieldJson(record, ['context.level', 'context.message', 'context.context.a', 'missing'])).toEqual({
      'context.level': 'low',
      'context.message': 'x',
      'context.context.a': 1,
    });
    expect(['context.shard', 'shard', 'context.level', 'level'].map(canonicalField)).toEqual([
      'shard',
      'shard',
      'context.level',
      'level',
    ]);
  });

  it('are found by each of their names', () => {
    const key = fc.constantFrom('a', 'b', 'a.b', 'c', '', '__proto__', 'level', '1');
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(1, 'x', null, true, 1.5),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(key, json), fc.boolean(), (object, spaced) => {
        const text = JSON.stringify(object, null, spaced ? 1 : 0);
        const context = JSON.parse(text) as Record<string, unknown>;
        const asObject = { message: 'a=7 c=8 d="x c=9"', context };
        const asText = { ...asObject, contextText: text };
        expect(recordFields(asText)).toEqual(recordFields(asObject));
        for (const { name } of recordFields(asObject)) {
          const values = recordFields(asObject).filter((field) => field.name === name);
          expect({ name, values: fieldValues(asObject, name) }).toEqual({
            name,
            values: values.map(({ text }) => text),
          });
          expect(fieldValues(asText, name)).toEqual(fieldValues(asObject, name));
        }
      }),
      { seed: 3, numRuns: runs(25) },
    );
  });
});

it.each([
  ['a=1 b="x y" (c=3) [d=4,e=5;f=6] {g=7}', 'a=1|b=x y|c=3|d=4|e=5|f=6|g=7'],
  ['a= b="" c=\'x\' 1d=2 x.y-z/@=1', 'b=|x.y-z/@=1'],
  ['q="a \\"b\\" \\\\ \\n" z=1', 'q=a "b" \\ \\n|z=1'],
  ['GET /x?a=1&b=2 path=/x?a=1&b=2', 'path=/x?a=1&b=2'],
  ['a="open b=2', 'b=2'],
  ['a=b=c a==x ="y"', 'a=b=c|a==x'],
  ['outer="inner=1" \ninner=2', 'outer=inner=1|inner=2'],
])('pairs of %s', (message, expected) => {
  expect(
    messagePairs(message)
      .map(({ key, value }) => `${key}=${value}`)
      .join('|'),
  ).toBe(expected);
});

it('a message full of open quotes takes linear time', () => {
  expect(messagePairs('a="\\"'.repeat(100_000)).length).toBeLessThan(100_000);
});

it.each([
  ['13', 'number'],
  ['-1.5e3', 'number'],
  ['523.4ms', 'duration'],
  ['1h2m3.5s', 'duration'],
  ['10KB', 'size'],
  ['true', 'boolean'],
  ['10.0.0.1', 'text'],
  ['-', 'text'],
  ['', 'text'],
])('%s is a %s', (text, type) => {
  expect(valueType(text)).toBe(type);
});
