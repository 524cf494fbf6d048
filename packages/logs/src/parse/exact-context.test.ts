import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTokens, randomJsonObject } from '../testing/random-json.ts';
import { BUILT_IN_FORMATS } from './detect-format.ts';
import { contextFromEntries, exactNumber, readContext, splitMembers } from './exact-context.ts';
import type { FormatOptions, RecordFields } from './format.ts';
import { createLindbAccessFormat } from './formats/coded-formats.ts';
import { createJsonFormat } from './formats/json-format.ts';
import { createContractFormat } from './heads/contract-format.ts';
import { createZone } from './zone.ts';

const OPTIONS: FormatOptions = { zone: createZone('UTC'), writtenMs: Date.UTC(2026, 10, 15) };
const SEED = { seed: 12, numRuns: runs(500) };

const shown = ({ context, contextText }: RecordFields) => contextText ?? JSON.stringify(context);
const decode = (create: typeof createJsonFormat, line: string) => {
  const bytes = Buffer.from(line);
  return create(OPTIONS).decode(bytes, 0, bytes.length);
};
/** The format that is detected from the line itself. */
const createDetected: typeof createJsonFormat = (options) => ({
  ...createJsonFormat(options),
  decode: (bytes, start, end) => BUILT_IN_FORMATS.detect(bytes, options).decode(bytes, start, end),
});

describe('the context of a record', () => {
  it.each([
    ['a number beyond doubles', '{"id":12345678901234567890}'],
    ['a number beyond all', '{"n":1e400}'],
    ['a number with its zero', '{"n":1.0}'],
    ['a negative zero', '{"n":-0}'],
    ['an exponent', '{"n":1e3}'],
    ['two keys of one name', '{"a":1,"a":2}'],
    ['numeric keys out of order', '{"10":1,"9":2}'],
    ['a number deep within', '{"a":[{"b":[1.50]}]}'],
  ])('with %s comes with its text', (_name, text) => {
    expect(readContext(text)).toEqual({ context: JSON.parse(text) as object, contextText: text });
  });

  it.each([
    ['ordinary', '{"a":1,"b":"two","c":[true,null,0.5]}'],
    ['with spaces', '{ "a": 1, "b" : [ 1, 2 ] }'],
    ['with escapes', '{"a":"\\u0041\\/","\\u0062":"\\ud83d\\ude00"}'],
    ['with half a character', '{"a":"\\ud800"}'],
    ['with a key __proto__', '{"__proto__":{"a":1}}'],
  ])('that is %s needs none', (_name, text) => {
    expect(readContext(text)).toEqual({ context: JSON.parse(text) as object });
    expect(Object.keys(readContext(text)?.context ?? {})).toEqual(Object.keys(JSON.parse(text) as object));
  });

  it.each(['[1]', '1', 'null', '"a"', '{"a":01}', '{', `{"a":${'['.repeat(500)}${']'.repeat(500)}}`])(
    'is not %s',
    (text) => {
      expect(readContext(text)).toBeUndefined();
    },
  );

  it("keeps the tokens of the log in the contract's line format, after one line or several", () => {
    fc.assert(
      fc.property(randomJsonObject, fc.constantFrom('one', 'one\ntwo'), (text, message) => {
        const fields = decode(
          createContractFormat,
          `2026-11-15 00:21:26.600\tINFO\ta.go:1\t[x]: ${message}\t${text}\n`,
        );
        expect(fields.message).toBe(message);
        expect(jsonTokens(shown(fields))).toEqual(jsonTokens(text));
        expect(fields.context).toEqual(JSON.parse(text));
      }),
      SEED,
    );
  });

  it('keeps the tokens of the log in a JSON line, without the columns', () => {
    fc.assert(
      fc.property(randomJsonObject, (text) => {
        const rest = text.slice(1, -1).trim();
        const isEmpty = rest === '';
        const line = `{"ts":"2026-11-15T00:21:26Z","level":"info","msg":"hello"${isEmpty ? '' : `,${rest}`}}`;
        const fields = decode(createJsonFormat, line);
        expect(fields).toMatchObject({ message: 'hello', level: 'INFO', timeMs: Date.UTC(2026, 10, 15, 0, 21, 26) });
        if (isEmpty) expect(fields.context).toBeUndefined();
        else expect(jsonTokens(shown(fields))).toEqual(jsonTokens(text));
      }),
      SEED,
    );
  });
});

describe('numbers and keys in other formats', () => {
  it.each<[string, typeof createJsonFormat, string, Partial<RecordFields>]>([
    ['a JSON message', createJsonFormat, '{"msg":12345678901234567890}', { message: '12345678901234567890' }],
    ['a nested JSON message', createJsonFormat, '{"msg":{"a":1.0}}', { message: '{"a":1.0}' }],
    [
      'a source whose line is not a plain number',
      createJsonFormat,
      '{"msg":"x","source":{"file":"a.go","line":12345678901234567890}}',
      { message: 'x', contextText: '{"source":{"file":"a.go","line":12345678901234567890}}' },
    ],
    ['two messages', createJsonFormat, '{"msg":"a","msg":"b"}', { message: 'a', context: { msg: 'b' } }],
    [
      'logfmt with a duplicate name',
      createDetected,
      'ts=2024-08-16T09:48:23.118Z msg=x 10=a 9=b k=1 k=12345678901234567890',
      { contextText: '{"10":"a","9":"b","k":"1","k":"12345678901234567890"}' },
    ],
    [
      'TiDB with a duplicate name',
      createDetected,
      '[2024/08/16 09:48:23.118 +08:00] [INFO] [s.go:1] ["m"] [k=1] [k=2]',
      { contextText: '{"k":"1","k":"2"}' },
    ],
    [
      'syslog with a duplicate parameter',
      createDetected,
      '<165>1 2003-10-11T22:14:15.003Z h app - - [origin ip="1" ip="2"] m',
      { contextText: '{"host":"h","origin":{"ip":"1","ip":"2"}}' },
    ],
    [
      'a thread number with zeros',
      createDetected,
      'I1115 00:21:26.600123   00012345 file.go:123] m',
      { context: { thread: '00012345' } },
    ],
    [
      'more bytes than a double can represent',
      createLindbAccessFormat,
      '2026-11-15 00:21:26.600\t10.0.0.1 1ms "GET / HTTP/1.1" 200 12345678901234567890',
      {
        context: {
          ip: '10.0.0.1',
          duration: '1ms',
          method: 'GET',
          uri: '/',
          status: 200,
          bytes: '12345678901234567890',
        },
      },
    ],
  ])('%s', (_name, create, line, expected) => {
    expect(decode(create, line)).toMatchObject(expected);
  });

  it('is a number only if it is written like one', () => {
    expect(['12', '-3', '0', '00', '1.0', '-0', '1e400', '12345678901234567890'].map(exactNumber)).toEqual([
      12,
      -3,
      0,
      '00',
      '1.0',
      '-0',
      '1e400',
      '12345678901234567890',
    ]);
  });

  it('fields are an object if that keeps them all in order', () => {
    expect(
      contextFromEntries([
        ['a', 1],
        ['b', '2'],
      ]),
    ).toEqual({ context: { a: 1, b: '2' } });
  });

  it('the members of an object are complete, in order, and as written', () => {
    fc.assert(
      fc.property(randomJsonObject, (text) => {
        const members = splitMembers(text);
        expect(jsonTokens(`{${members.map((member) => member.text).join(',')}}`)).toEqual(jsonTokens(text));
      }),
      SEED,
    );
  });
});
