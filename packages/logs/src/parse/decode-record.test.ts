import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Level } from '../types.ts';
import { decodeRecord, type LogRecord } from './decode-record.ts';

const decode = (text: string) => decodeRecord(Buffer.from(text));
const at = (iso: string) => Date.parse(iso);

describe('records of real files', () => {
  const samples: [string, string, LogRecord][] = [
    [
      'a record as defined by the contract',
      '2024-08-16 09:48:23.118\tINFO\tbroker/runtime.go:172\t[broker] [runtime]: starting broker\t{"http": 9000}\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'broker/runtime.go:172',
        tags: ['broker', 'runtime'],
        message: 'starting broker',
        context: { http: 9000 },
      },
    ],
    [
      'no component before the message',
      '2024-08-16 09:48:23.118\tINFO\tbroker/runtime.go:172\tstarting broker\t{"host": "lindb-broker-0", "ip": "10.8.0.21", "http": 9000, "grpc": 9001}\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'broker/runtime.go:172',
        message: 'starting broker',
        context: { host: 'lindb-broker-0', ip: '10.8.0.21', http: 9000, grpc: 9001 },
      },
    ],
    [
      'no context',
      '2024-08-16 09:48:24.322\tINFO\tbroker/runtime.go:259\tbroker state machine started successfully\n',
      {
        localMs: at('2024-08-16T09:48:24.322Z'),
        level: 'INFO',
        source: 'broker/runtime.go:259',
        message: 'broker state machine started successfully',
      },
    ],
    [
      'a stack in the context',
      '2024-08-16 09:49:38.118\tERROR\tbroker/state_manager.go:191\tpanic when process discovery event\t{"err": "index out of range [3] with length 3", "stack": "a.b\\n\\t/go/src/x.go:191"}\n',
      {
        localMs: at('2024-08-16T09:49:38.118Z'),
        level: 'ERROR',
        source: 'broker/state_manager.go:191',
        message: 'panic when process discovery event',
        context: { err: 'index out of range [3] with length 3', stack: 'a.b\n\t/go/src/x.go:191' },
      },
    ],
    [
      'an access log',
      '2024-08-16 09:49:43.118\t10.8.0.5 1.482913ms "GET /api/v1/log/view?file=nope.log&size=262144 HTTP/1.1" 500 35 Error #01: failed to open log file: nope.log\n',
      {
        localMs: at('2024-08-16T09:49:43.118Z'),
        message:
          '10.8.0.5 1.482913ms "GET /api/v1/log/view?file=nope.log&size=262144 HTTP/1.1" 500 35 Error #01: failed to open log file: nope.log',
      },
    ],
    [
      'a slow query of four lines',
      "# Time: 2024-08-16 09:50:02 \n# Database: _internal\n# Execute time: 31.204871623s\nselect used from 'lindb.monitor.system.mem_stat'\n",
      {
        message:
          "# Time: 2024-08-16 09:50:02 \n# Database: _internal\n# Execute time: 31.204871623s\nselect used from 'lindb.monitor.system.mem_stat'",
      },
    ],
    [
      'continuation lines',
      '2024-08-16 09:48:23.118\tERROR\ta.go:1\tit broke\nException: x\n\tat a.b(c.java:12)\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'ERROR',
        source: 'a.go:1',
        message: 'it broke\nException: x\n\tat a.b(c.java:12)',
      },
    ],
    [
      'CR LF',
      '2024-08-16 09:48:23.118\tINFO\ta.go:1\tx\t{"a": 1}\r\nmore\r\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'a.go:1',
        message: 'x\nmore',
        context: { a: 1 },
      },
    ],
    [
      'CR LF within a message',
      '2024-08-16 09:48:23.118\tINFO\ta.go:1\tx\r\ny\r\n\r\nz\r\n',
      { localMs: at('2024-08-16T09:48:23.118Z'), level: 'INFO', source: 'a.go:1', message: 'x\ny\n\nz' },
    ],
    [
      'a context after a multi-line message',
      '2024-08-16 09:48:23.118\tINFO\ta.go:1\tplan was\nselect f\n\tfrom cpu\t{"db": "x"}\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'a.go:1',
        message: 'plan was\nselect f\n\tfrom cpu',
        context: { db: 'x' },
      },
    ],
    [
      'a context after a message that ends with a newline',
      '2024-08-16 09:48:23.118\tINFO\ta.go:1\tended\n\t{"db": "x"}\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'a.go:1',
        message: 'ended',
        context: { db: 'x' },
      },
    ],
    [
      'braces on a last line that are not a context',
      '2024-08-16 09:48:23.118\tINFO\ta.go:1\tx\n\tint f() {\n\t{ return 1; }\n',
      {
        localMs: at('2024-08-16T09:48:23.118Z'),
        level: 'INFO',
        source: 'a.go:1',
        message: 'x\n\tint f() {\n\t{ return 1; }',
      },
    ],
    ['an empty line', '\n', { message: '' }],
    ['nothing', '', { message: '' }],
    ['bytes that are not UTF-8 are replaced', '\ufffd', { message: '\ufffd' }],
  ];
  test.each(samples)('%s', (_, text, expected) => {
    expect(decode(text)).toEqual(expected);
  });

  test.each(['{"a": 1', '{a: 1}', '{"a": 1}}', '{"a": "\\x"}', '{,}'])(
    'a broken context %j stays in the message',
    (json) => {
      expect(decode(`2024-08-16 09:48:23.118\tINFO\ta.go:1\t[tag]: x\t${json}`)).toMatchObject({
        tags: ['tag'],
        message: `x\t${json}`,
      });
      expect(decode(`2024-08-16 09:48:23.118\tINFO\ta.go:1\t[tag]: x\t${json}`)).not.toHaveProperty('context');
    },
  );

  test('a line of 1 MiB is decoded completely', () => {
    const long = 'long '.repeat(200_000);
    expect(decode(`2024-08-16 09:48:23.118\tINFO\ta.go:1\t${long}\t{"a": 1}\n`)).toMatchObject({
      message: long,
      context: { a: 1 },
    });
  });

  test('a record is decoded from the middle of a buffer', () => {
    const bytes = Buffer.from('x\n2024-08-16 09:48:23.118\tINFO\tone\n2024-08-16 09:48:24.118\tINFO\ttwo\n');
    expect(decodeRecord(bytes, 2, 35).message).toBe('one');
    expect(decodeRecord(bytes, 2, 34).message).toBe('one');
    expect(decodeRecord(bytes, 35).message).toBe('two');
  });
});

/** Writes a record in the native format. */
function format({ localMs = 0, level, source, tags, message, context }: LogRecord): string {
  const time = new Date(localMs).toISOString().replace('T', ' ').replace('Z', '');
  const prefix = tags ? `${tags.map((tag) => `[${tag}]`).join(' ')}: ` : '';
  return [time, level, source, prefix + message, context && JSON.stringify(context)]
    .filter((column) => column !== undefined)
    .join('\t')
    .concat('\n');
}

test('a record that is formatted and decoded is the record', () => {
  const text = (pattern: RegExp) => fc.stringMatching(pattern);
  const record: fc.Arbitrary<LogRecord> = fc.record(
    {
      localMs: fc.integer({ min: Date.parse('1970-01-01T00:00:00Z'), max: Date.parse('2099-12-31T23:59:59.999Z') }),
      level: fc.constantFrom<Level>('TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'),
      source: text(/^[a-z_/.]{1,20}:[0-9]{1,5}$/),
      tags: fc.array(text(/^[A-Za-z0-9 _.-]{1,10}$/), { minLength: 1, maxLength: 3 }),
      // A first character that cannot be taken for a tag; no tab, so that the last column is never taken for a context.
      message: fc
        .tuple(text(/^[A-Za-z]$/), fc.string({ unit: 'grapheme' }))
        .map(([first, rest]) => first + rest.replace(/[\t\r\n]/g, '')),
      context: fc
        .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4, noNullPrototype: true })
        // Normalizes what JSON cannot represent.
        .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>),
    },
    { requiredKeys: ['localMs', 'level', 'source', 'message'] },
  );
  fc.assert(
    fc.property(record, (value) => {
      expect(decode(format(value))).toEqual(value);
    }),
    { numRuns: runs(1000) },
  );
});

test('any bytes can be decoded, and no text is lost', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { localMs, level, source, tags, message, context } = decodeRecord(Buffer.from(bytes));
      if (localMs === undefined && !level && !source && !tags && !context) {
        expect(message.replace(/[\r\n]+/g, '')).toBe(
          Buffer.from(bytes)
            .toString()
            .replace(/[\r\n]+/g, ''),
        );
      }
    }),
    { numRuns: runs(1000) },
  );
});
