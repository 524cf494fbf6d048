import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatRecord, MAX_RECORD_BYTES, type RecordFields } from './format-record.ts';

const FIELDS: RecordFields = {
  time: '2026-11-15 00:21:26.600',
  level: 'info',
  source: 'http/http-server.js:42',
  component: 'http',
  tag: 'access',
  message: 'listening',
};

const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

interface Parsed {
  columns: string[];
  component: string | undefined;
  tag: string | undefined;
  message: string | undefined;
  context: unknown;
}

function parse(record: string): Parsed {
  expect(record.endsWith('\n')).toBe(true);
  const line = record.slice(0, -1);
  const columns = line.split('\t');
  for (const column of columns) expect(column).not.toMatch(UNSAFE);
  const labelled = /^\[([^[\]]*)\] \[([^[\]]*)\]: (.*)$/su.exec(columns[3] ?? '');
  const context: unknown = columns[4] === undefined ? undefined : JSON.parse(columns[4]);
  return { columns, component: labelled?.[1], tag: labelled?.[2], message: labelled?.[3], context };
}

function unescapeText(text: string): string {
  const short: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
  return text.replace(/\\(?:u([0-9a-f]{4})|([nrt]))/g, (_, hex?: string, letter = '') =>
    hex === undefined ? (short[letter] ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

test('a record has the columns of the contract, separated by tabs', () => {
  expect(formatRecord({ ...FIELDS, context: { port: 9000, host: 'a' } })).toBe(
    '2026-11-15 00:21:26.600\tINFO\thttp/http-server.js:42\t[http] [access]: listening\t{"port":9000,"host":"a"}\n',
  );
});

test.each([undefined, {}, { only: undefined }])('no context column is written for %j', (context) => {
  expect(parse(formatRecord({ ...FIELDS, context })).columns).toHaveLength(4);
});

test('an empty tag leaves out its brackets', () => {
  expect(formatRecord({ ...FIELDS, tag: '' })).toContain('\t[http]: listening\n');
});

test.each([
  ['a line feed', 'a\n2026-11-15 00:00:00.000\tERROR\tx.js:1\t[x]: forged', 'a\\n2026-11-15 00:00:00.000\\tERROR\\t'],
  ['a carriage return', 'a\rb', 'a\\rb'],
  ['a tab and JSON', 'a\t{"status":200}', 'a\\t{"status":200}'],
  ['a NUL', 'a\0b', 'a\\u0000b'],
  ['an escape sequence', '\x1b[31mred', '\\u001b[31mred'],
  ['DEL', 'a\x7fb', 'a\\u007fb'],
  ['the C1 form of CSI', 'a\x9b31m', 'a\\u009b31m'],
  ['NEL', 'a\x85b', 'a\\u0085b'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ['a paragraph separator', 'a\u2029b', 'a\\u2029b'],
  ['a right-to-left override', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
  ['an isolate', 'a\u2066b\u2069', 'a\\u2066b\\u2069'],
  ['an Arabic letter mark', 'a\u061cb', 'a\\u061cb'],
  ['half a surrogate pair', 'a\ud83db', 'a\\ud83db'],
])('%s stays inside its column', (_, hostile, escaped) => {
  const context = { [hostile]: hostile, list: [hostile] };
  const { columns, message, context: read } = parse(formatRecord({ ...FIELDS, message: hostile, context }));
  expect(columns).toHaveLength(5);
  expect(message).toContain(escaped);
  expect(read).toEqual(context);
  expect(parse(formatRecord({ ...FIELDS, component: hostile, tag: hostile })).columns).toHaveLength(4);
});

test('a component or tag cannot close its brackets', () => {
  const { component, tag, message } = parse(formatRecord({ ...FIELDS, component: 'a] [b', tag: 'c]: forged' }));
  expect([component, tag, message].map((text) => unescapeText(text ?? ''))).toEqual([
    'a] [b',
    'c]: forged',
    'listening',
  ]);
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.string({
    unit: fc.constantFrom('\n', '\r', '\t', '\0', '\x1b', ']', '[', ':', '"', '\\', '\u2028', '\u202e', '\x85'),
  }),
);

test('any text gives one line of the right columns that reads back as it was', () => {
  const withoutBackslash = anyText.map((text) => text.replaceAll('\\', '/'));
  const anyContext = fc.dictionary(anyText, fc.oneof(anyText, fc.array(anyText), fc.integer(), fc.boolean()), {
    minKeys: 1,
  });
  fc.assert(
    fc.property(
      withoutBackslash,
      withoutBackslash,
      withoutBackslash,
      anyContext,
      (component, tag, message, context) => {
        fc.pre(tag !== '');
        const record = parse(formatRecord({ ...FIELDS, component, tag, message, context }));
        expect(record.columns).toHaveLength(5);
        expect(unescapeText(record.component ?? '')).toBe(component);
        expect(unescapeText(record.tag ?? '')).toBe(tag);
        expect(unescapeText(record.message ?? '')).toBe(message);
        expect(record.context).toEqual(JSON.parse(JSON.stringify(context)));
      },
    ),
    { numRuns: runs(250) },
  );
});

test('any value at all gives one line with a valid JSON object', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withDate: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
      (value) => {
        const { columns } = parse(formatRecord({ ...FIELDS, context: { value } }));
        expect(columns.length).toBeLessThanOrEqual(5);
        for (const json of columns.slice(4)) expect(JSON.parse(json)).toBeTypeOf('object');
      },
    ),
    { numRuns: runs(250) },
  );
});

test('values that JSON does not know are described', () => {
  const circular: Record<string, unknown> = { name: 'loop' };
  circular.self = circular;
  const context = {
    big: 12345678901234567890n,
    nan: Number.NaN,
    infinite: -Infinity,
    missing: undefined,
    call: () => 1,
    mark: Symbol('mark'),
    date: new Date(0),
    bytes: Buffer.from('secret'),
    url: new URL('http://node:9000/x'),
    set: new Set([1]),
    map: new Map([['a', 1]]),
    holes: [undefined, () => 1],
    circular,
  };
  expect(parse(formatRecord({ ...FIELDS, context })).context).toEqual({
    big: '12345678901234567890',
    nan: 'NaN',
    infinite: '-Infinity',
    call: '[function]',
    mark: 'Symbol(mark)',
    date: '1970-01-01T00:00:00.000Z',
    bytes: '[6 bytes]',
    url: 'http://node:9000/x',
    set: [1],
    map: [['a', 1]],
    holes: [null, '[function]'],
    circular: { name: 'loop', self: '[circular]' },
  });
});

test('the same object twice is not a circle', () => {
  const shared = { a: 1 };
  expect(parse(formatRecord({ ...FIELDS, context: { x: shared, y: shared } })).context).toEqual({
    x: shared,
    y: shared,
  });
});

test('an error shows name, message, code, cause and its stack as one string', () => {
  const cause = new TypeError('inner');
  const err = Object.assign(new Error('no space\nleft', { cause }), { code: 'ENOSPC', errno: -28 });
  const { context } = parse(formatRecord({ ...FIELDS, context: { err } }));
  expect(context).toEqual({
    err: {
      name: 'Error',
      message: 'no space\nleft',
      code: 'ENOSPC',
      errno: -28,
      cause: { name: 'TypeError', message: 'inner', stack: cause.stack },
      stack: err.stack,
    },
  });
});

test('values that throw when read are marked as unreadable and the rest is kept', () => {
  const fail = (): never => {
    throw new Error('no\tway');
  };
  const context = {
    before: 1,
    getter: Object.defineProperty({}, 'x', { get: fail, enumerable: true }),
    toJson: { toJSON: fail },
    proxy: new Proxy({}, { ownKeys: fail, get: fail, getPrototypeOf: fail }),
    worse: {
      toJSON: () => {
        throw { toString: fail };
      },
    },
    after: 2,
  };
  expect(parse(formatRecord({ ...FIELDS, context })).context).toEqual({
    before: 1,
    getter: { x: '[unreadable: Error: no\tway]' },
    toJson: '[unreadable: Error: no\tway]',
    proxy: '[unreadable: Error: no\tway]',
    worse: '[unreadable: [unreadable]]',
    after: 2,
  });
});

test('an object whose toJSON gives itself is read like any other', () => {
  const self = { a: 1, toJSON: (): unknown => self };
  expect(parse(formatRecord({ ...FIELDS, context: { self } })).context).toEqual({
    self: { a: 1, toJSON: '[function]' },
  });
});

test('a key named __proto__ is a key', () => {
  const context: unknown = JSON.parse('{"__proto__":{"x":1}}');
  expect(formatRecord({ ...FIELDS, context: { context } })).toContain('{"context":{"__proto__":{"x":1}}}');
});

test.each([
  ['a long message', { message: 'x'.repeat(1_000_000) }],
  ['a long message of escapes', { message: '\x1b'.repeat(100_000) }],
  ['a long message of wide characters', { message: '😀'.repeat(100_000) }],
  ['long labels', { component: '['.repeat(100_000), tag: 'é'.repeat(100_000) }],
  ['a long value', { context: { before: 1, value: '"\u2028'.repeat(1_000_000) } }],
  ['a long key', { context: { ['k\n'.repeat(100_000)]: 1 } }],
  ['many keys', { context: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, i])) }],
  ['many items', { context: { list: Array.from({ length: 100_000 }, () => '\x1b') } }],
  ['many empty lists', { context: { list: Array.from({ length: 100_000 }, () => []) } }],
  ['deep nesting', { context: nest(10_000) }],
  ['wide and deep', { context: nestWide(7) }],
  [
    'everything at once',
    { message: '\0'.repeat(50_000), component: '\0'.repeat(500), tag: ']'.repeat(500), context: nestWide(6) },
  ],
])('%s is cut, marked and still valid', (_, fields) => {
  const record = formatRecord({ ...FIELDS, ...fields });
  expect(Buffer.byteLength(record)).toBeLessThanOrEqual(MAX_RECORD_BYTES);
  expect(record).toMatch(/…\(\+\d+ chars\)|\(\+\d+ more\)|\[nested deeper\]/);
  parse(record);
});

test('a record that just fits is not cut', () => {
  const record = formatRecord({ ...FIELDS, message: 'm'.repeat(8192), context: { value: 'v'.repeat(7000) } });
  expect(record).not.toContain('…');
});

function nest(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = { end: true };
  for (let level = 0; level < depth; level += 1) value = { value };
  return value;
}

function nestWide(depth: number): Record<string, unknown> {
  const fill = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`\u2029${i}`, '\x7f'.repeat(400)]));
  return depth === 0 ? fill : { ...fill, a: nestWide(depth - 1), b: nestWide(depth - 1), c: [nestWide(depth - 1)] };
}
