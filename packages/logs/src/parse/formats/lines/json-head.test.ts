import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFormat } from '../../detect-format.ts';
import { createZone } from '../../zone.ts';

const format = createFormat('json', { zone: createZone('Etc/GMT-8'), writtenMs: 0 });

function readHead(line: string) {
  const head = { timeMs: -1, rank: -1 };
  const bytes = Buffer.from(line);
  expect(format.readHead(bytes, 0, bytes.length, head)).toBe(true);
  return head;
}

const TIME_NAMES = ['time', 'ts', 'timestamp', '@timestamp', 't', '@t', 'date', 'Timestamp'];
const LEVEL_NAMES = ['level', 'lvl', 'severity', 'levelname', 'log.level', '@l', 'Level'];
const RANKS: Record<string, number> = {
  trace: 1,
  Debug: 2,
  INFO: 3,
  ' INFO': 3,
  Information: 3,
  warning: 4,
  error: 5,
  FATAL: 6,
  crit: 6,
};

const ms = fc.integer({ min: Date.parse('1974-01-01T00:00:00Z'), max: Date.parse('2100-01-01T00:00:00Z') });
/** Values of a time member, each with its meaning; `NaN` if it is not a time. */
const timeValue = fc.oneof(
  ms.map((value) => ({ json: `${value}`, timeMs: value })),
  ms.map((value) => ({ json: `${Math.floor(value / 1000)}.${String(value % 1000).padStart(3, '0')}9`, timeMs: value })),
  ms.map((value) => ({ json: `${value}999`, timeMs: value })),
  ms.map((value) => ({ json: `${value}999999`, timeMs: value })),
  ms.map((value) => ({ json: JSON.stringify(new Date(value).toISOString()), timeMs: value })),
  ms.map((value) => ({ json: `"${new Date(value + 28_800_000).toISOString().replace('Z', '')}"`, timeMs: value })),
  ms.map((value) => ({ json: `"${new Date(value).toISOString().replace('Z', '+0000')}"`, timeMs: value })),
  fc
    .constantFrom('5', '0.25', '-1', 'null', 'true', '"soon"', '"2024-08-16"', '{"ts":1}', '[1723801703]', '1e400')
    .map((json) => ({
      json,
      timeMs: Number.NaN,
    })),
);
const levelValue = fc.oneof(
  fc.constantFrom(...Object.keys(RANKS)).map((word) => ({ json: JSON.stringify(word), rank: RANKS[word] ?? 0 })),
  fc.integer({ min: 10, max: 69 }).map((level) => ({ json: `${level}`, rank: Math.floor(level / 10) })),
  fc.constantFrom('7', '100', '"loud"', 'null', '["error"]', '""').map((json) => ({ json, rank: 0 })),
  fc.constant({ json: '{"level":"error"}', rank: 0, inner: { rank: 5 } }),
);

/** Has a time and a level that count if the record itself has none. */
const NESTED = { time: 1723801703, level: 'error', deep: [{ ts: '"},{' }] };

interface Member {
  name: string;
  json: string;
  timeMs?: number;
  rank?: number;
  /** Of an object: what its members mean. */
  inner?: { timeMs?: number; rank?: number };
}
const member: fc.Arbitrary<Member> = fc.oneof(
  fc.tuple(fc.constantFrom(...TIME_NAMES), timeValue).map(([name, value]) => ({ name, ...value })),
  fc.tuple(fc.constantFrom(...LEVEL_NAMES), levelValue).map(([name, value]) => ({ name, ...value })),
  fc
    .tuple(fc.string({ minLength: 11, maxLength: 20 }), fc.oneof(fc.jsonValue(), fc.constant(NESTED)))
    .map(([name, value]) => ({
      name,
      json: JSON.stringify(value),
      ...(value === NESTED && { inner: { timeMs: 1_723_801_703_000, rank: 5 } }),
    })),
);

/** Writes some characters of a string as `\u0000`: the same string to a parser. */
function escapeSome(json: string, seed: number): string {
  if (!json.startsWith('"') || json.includes('\\')) return json;
  return `"${[...json.slice(1, -1)]
    .map((char, index) => {
      const escaped = ((seed >> (index % 30)) & 1) === 1 && char.length === 1;
      return escaped ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char;
    })
    .join('')}"`;
}

test('the head is what a parser finds: the first valid time and level, of the record or else of objects in it', () => {
  const seeds = fc.array(fc.oneof(fc.constant(0), fc.nat()), { minLength: 2, maxLength: 2 });
  const members = fc.uniqueArray(fc.tuple(member, seeds), { selector: ([{ name }]) => name, maxLength: 7 });
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\t'), (list, blank) => {
      const text = list.map(([{ name, json }, [keySeed = 0, valueSeed = 0]]) =>
        [escapeSome(JSON.stringify(name), keySeed), ':', escapeSome(json, valueSeed)].join(blank),
      );
      const line = `{${blank}${text.join(`${blank},${blank}`)}${blank}}`;
      // A parser must agree with the reference.
      expect(Object.keys(JSON.parse(line) as object).sort()).toEqual(list.map(([{ name }]) => name).sort());
      const all = [...list.map(([one]) => one), ...list.map(([one]) => one.inner ?? {})];
      const timeMs = all.map((one) => one.timeMs ?? Number.NaN).find((value) => !Number.isNaN(value));
      const rank = all.map((one) => one.rank ?? 0).find((value) => value > 0);
      expect(readHead(line)).toEqual({ timeMs: timeMs ?? Number.NaN, rank: rank ?? 0 });
    }),
    { numRuns: runs(2500) },
  );
});

test.each([
  ['a line cut off', '{"level":"info","ts":1723801703118,"msg":"abc', { timeMs: 1_723_801_703_118, rank: 3 }],
  ['a number cut off', '{"level":"info","ts":1723801703118', { timeMs: Number.NaN, rank: 3 }],
  ['an exponent', '{"level":"info","ts":1.723801703118e9}', { timeMs: 1_723_801_703_118, rank: 3 }],
  ['a brace alone', '{', { timeMs: Number.NaN, rank: 0 }],
  ['no JSON', '{level: info}', { timeMs: Number.NaN, rank: 0 }],
  ['keys within strings', '{"msg":"\\"level\\":\\"error\\",","lvl":"warn"}', { timeMs: Number.NaN, rank: 4 }],
  ['MongoDB', '{"t":{"$date":"2024-08-16T09:48:23.118Z"},"s":"D2"}', { timeMs: 1_723_801_703_118, rank: 2 }],
  [
    'GELF',
    '{"version":"1.1","level":4,"short_message":"m","timestamp":1723801703.118}',
    { timeMs: 1_723_801_703_118, rank: 4 },
  ],
  ['a digit outside of GELF', '{"level":1,"time":1723801703118}', { timeMs: 1_723_801_703_118, rank: 0 }],
  ['journald', '{"__REALTIME_TIMESTAMP":"1723801703118000","PRIORITY":"3"}', { timeMs: 1_723_801_703_118, rank: 5 }],
  ['ECS', '{"@timestamp":"2024-08-16T09:48:23.118Z","log":{"level":"warn"}}', { timeMs: 1_723_801_703_118, rank: 4 }],
  ['digits everywhere', `{"ts":${'1'.repeat(1000)}}`, { timeMs: Number.NaN, rank: 0 }],
])('%s', (_, line, expected) => {
  expect(readHead(line)).toEqual(expected);
});

test('time and level are not searched beyond 128 KiB', () => {
  const far = JSON.stringify({ pad: 'x'.repeat(140_000), level: 'error', time: 1_723_801_703_118 });
  expect(readHead(far)).toEqual({ timeMs: Number.NaN, rank: 0 });
  const near = JSON.stringify({ pad: 'x'.repeat(120_000), level: 'error', time: 1_723_801_703_118 });
  expect(readHead(near)).toEqual({ timeMs: 1_723_801_703_118, rank: 5 });
});

test('a key __proto__ is data and gives the context no prototype', () => {
  const line = Buffer.from('{"msg":"x","__proto__":{"admin":true},"constructor":1}\n');
  const { context } = format.decode(line, 0, line.length);
  expect(Object.getPrototypeOf(context)).toBe(Object.prototype);
  expect((context as { admin?: boolean }).admin).toBeUndefined();
  expect(Object.keys(context ?? {})).toEqual(['__proto__', 'constructor']);
});
