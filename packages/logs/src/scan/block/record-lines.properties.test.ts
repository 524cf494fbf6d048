import { readdirSync, readFileSync } from 'node:fs';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ScanKernel } from '../../kernel/scan-kernel.ts';
import { BUILT_IN_FORMATS, createFormat } from '../../parse/detect-format.ts';
import type { Format, LineHead } from '../../parse/format.ts';
import { createZone } from '../../parse/zone.ts';
import { randomJsonObject } from '../../testing/random-json.ts';
import type { FoundRecord } from '../../types.ts';
import type { RecordsJob } from './found-lines.ts';
import { RecordFormatter } from './record-formatter.ts';
import { RecordLines } from './record-lines.ts';

const OPTIONS = { zone: createZone('Europe/Berlin'), writtenMs: Date.parse('2026-11-15T00:30:00Z') };
const FORMATS = { contract: createFormat('contract', OPTIONS), json: createFormat('json', OPTIONS) };
const FIELDS = [undefined, ['*'], ['shard', 'level', 'context.level', 'message', 'http.status']];

const kernel = new ScanKernel();

interface Span extends LineHead {
  start: number;
  end: number;
  headless: boolean;
}

function jobFor(options: Partial<RecordsJob>): RecordsJob {
  const mark = { headBytes: 1024, headHash: '0123456789abcdef' };
  const file = { name: 'dir/"x" ä.log' } as RecordsJob['file'];
  return { kind: 'records', file, mark, raw: false, ...options } as RecordsJob;
}

/** The records of a text at position 1 of the kernel's memory, split at lines that start one. */
function loadRecords(text: Buffer, format: Format): Span[] {
  kernel.text.fill(7, 0, text.length + 256);
  kernel.text[0] = 10;
  text.copy(kernel.text, 1);
  const spans: Span[] = [];
  for (let at = 1; at <= text.length; ) {
    const newline = kernel.text.indexOf(10, at);
    const end = newline < 0 || newline > text.length ? text.length + 1 : newline + 1;
    const head = { timeMs: Number.NaN, rank: 0 };
    const isHead = format.readHead(kernel.text, at, end, head);
    const last = spans.at(-1);
    if (isHead || !last) spans.push({ ...head, start: at, end, headless: !isHead });
    else last.end = end;
    at = end;
  }
  return spans;
}

/** Compares what is rendered with what is made by decoding and serializing; returns how many records there are. */
function expectSame(text: Buffer, format: Format, options: Partial<RecordsJob> = {}): number {
  const job = jobFor(options);
  const spans = loadRecords(text, format);
  const lines = new RecordLines(job, { kernel, format });
  const slow = new RecordFormatter(job, format);
  // A large offset has digits beyond 32 bits.
  const base = 12_345_678_901;
  const bytes = kernel.text.subarray(0, text.length + 1);
  const expected = spans.map(({ start, end, headless }) =>
    slow.format({ bytes, start, end, offset: base + start }, { continued: false, headless }),
  );
  for (const { start, end, ...head } of spans)
    lines.add({ bytes, start, end, offset: base + start }, { continued: false, ...head });
  expect(lines.count).toBe(spans.length);
  const found = lines.found();
  const wanted = Buffer.from(expected.map(({ line }) => `${line}\n`).join(''));
  const actual = Buffer.from(found.text);
  if (!actual.equals(wanted)) expect(actual.toString().split('\n')).toEqual(wanted.toString().split('\n'));
  expect([...found.offsets]).toEqual(expected.map(({ offset }) => offset));
  expect([...found.times]).toEqual(expected.map(({ timeMs }) => timeMs));
  expect(found.ends.at(-1) ?? 0).toBe(found.text.length);
  return spans.length;
}

/** Position, time and text of what is rendered if nothing else is used. */
function expectSameRaw(text: Buffer, format: Format): number {
  const job = jobFor({ raw: true, onlyRaw: true });
  const spans = loadRecords(text, format);
  const bytes = kernel.text.subarray(0, text.length + 1);
  const slow = new RecordFormatter(job, format);
  const used = (line: string) => {
    const { file, offset, bytes: length, cursor, timeMs, cut, continued, raw } = JSON.parse(line) as FoundRecord;
    return { file, offset, length, cursor, timeMs, cut, continued, raw };
  };
  const expected = spans.map(({ start, end, headless }) =>
    used(slow.format({ bytes, start, end, offset: start }, { continued: false, headless }).line),
  );
  const lines = new RecordLines(job, { kernel, format });
  for (const { start, end, ...head } of spans)
    lines.add({ bytes, start, end, offset: start }, { continued: false, ...head });
  const rendered = Buffer.from(lines.found().text).toString().split('\n').slice(0, -1);
  expect(rendered.map(used)).toEqual(expected);
  return rendered.filter((line) => (JSON.parse(line) as FoundRecord).message === '').length;
}

const stamp = fc.constantFrom(
  ...['2026-06-01 10:00:00.000', '2026-06-01 10:00:00', '2026-10-25 02:30:00,5', '1969-12-31 00:00:00.123'],
  ...['2026-06-01 10:00:00.123456789', '2026-06-01 10:00:00.', '0000-01-01 00:00:00'],
);
const separator = fc.constantFrom('\t', '\t', '\t', ' ', '', 'x');
const level = fc.constantFrom('INFO\t', 'INFO\t', 'warning\t', 'ERROR', 'NOPE\t', 'INFO \t', '', 'CRITICALS\t');
const source = fc.constantFrom('', 'a.go:1\t', 'a/"b".go:17\t', ':1\t', 'a b.go:1\t', 'a.go:\t', 'x:9', 'é:1\t');
const tags = fc.constantFrom(
  ...['', '[A]: ', '[A] [b c]: ', '[A][B]:', '[]: ', '[A', '[A]', '[A]  [B]: ', '[a\tb]: ', '[A]:'],
);
const text = fc.oneof(
  fc.constantFrom(
    ...['query served', '', 'a "quoted" \\ path', 'x=1 y="a b"', 'tab\there', '\x00\x01\x1f\x7f', '\r', '{}'],
  ),
  fc.constantFrom('ä日本😀', 'x'.repeat(70), 'ends with }', '\u2028', `${'long '.repeat(200)}"end"`),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const context = fc.oneof(
  fc.constantFrom('', '', '\t{"shard":49,"took":"61ms","ok":true,"none":null,"at":0.25,"ids":[1,2],"one":["x"]}'),
  fc.constantFrom(
    ...[
      '\t{"level":"low","message":1,"context.x":2,"a":{"b":1},"a.b":2}',
      '\t{"http":{"status":500,"p":{"q":"\\u0041\\ud83d\\ude00"}}}',
    ],
    ...[
      '\t{ "a" : 1 , "b":[ ] }',
      '\t{"a":1.0}',
      '\t{"a":1786442302.123456}',
      '\t{"a":0.000001,"b":1e5}',
      '\t{"a":-0}',
      '\t{"b":0.0000001}',
    ],
    ...[
      '\t{"a":1,"a":2}',
      '\t{"2":1,"1":2}',
      '\t{"a":4503599627370496,"b":4503599627370495}',
      '\t{"a"}',
      '\t{a}',
      '{"a":1}',
      '\t{"a":"\t"}',
    ],
    ...[
      '\t{"a":[{"b":1}]}',
      '\t{"":{"":1},"x":[[],[1,[2]]]}',
      '\t{"a":"\\/\\u0000\\ud800"}',
      '\t{"a":{}}',
      '\t{"é":"\\u00e9"}',
      '\t{}',
    ],
  ),
  randomJsonObject.map((object) => `\t${object}`),
);
const more = fc.constantFrom('', '', '', '\n\tat main()\n\tat f()', '\r\n second', '\n\n', '\n\tx\t{"a":1}', '\nx }');
const end = fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n');

const contractText = fc
  .array(fc.tuple(stamp, separator, level, source, tags, text, context, more, end), { minLength: 1, maxLength: 8 })
  .map((records) => Buffer.from(records.map((parts) => parts.join('')).join('')));

const value = fc.oneof(
  fc.constantFrom(
    ...['"x"', '"a\\nb"', '"line\\n"', '""', '17', '1.0', 'null', 'true', '{"a":1}', '[1]', '"a.go:17"', '"x=1"'],
  ),
  fc.constantFrom(
    ...['"info"', '"WARNING"', '"nope"', '30', '"40"', '5', '"I"', '1786442302.1234567', '1786442302123', '"Disk ä"'],
  ),
  fc.constantFrom(
    ...['"2026-06-01T10:00:00Z"', '"2026-06-31T10:00:00Z"', '"2026-02-29 10:00:00"', '"2026-06-01T10:00:00.123+02:00"'],
  ),
  fc.constantFrom(
    '{"file":"a.go","line":7}',
    '{"message":"inner","ts":1786442302}',
    '"\\u0069nfo"',
    '"18:00"',
    '"\\u003a1"',
  ),
);
const key = fc.constantFrom(
  ...[
    'ts',
    'time',
    'Time',
    '@timestamp',
    'level',
    'Level',
    'severity',
    'priority',
    'msg',
    'message',
    'Message',
    'log',
    'event',
  ],
  ...[
    'short_message',
    'caller',
    'source',
    'logger',
    'component',
    'name',
    'Name',
    'module',
    'a',
    'b',
    'shard',
    'trace_id',
    'é',
    'fields',
  ],
  ...['m\\u0073g', '1', 'context.a', 't'],
);
const plainMembers = ['"level":"info"', '"ts":"2026-06-01T10:00:00.5Z"', '"msg":"query served"', '"caller":"a.go:7"'];
const jsonLine = fc
  .tuple(
    fc.subarray(plainMembers),
    fc.array(fc.tuple(key, value), { maxLength: 6 }),
    fc.constantFrom(',', ', ', ' ,'),
    fc.boolean(),
  )
  .map(([plain, members, comma, isLast]) => {
    const others = members.map(([name, text]) => `"${name}":${text}`);
    return `{${(isLast ? [...others, ...plain] : [...plain, ...others]).join(comma)}}`;
  });
const jsonText = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 4, arbitrary: jsonLine }, { weight: 1, arbitrary: randomJsonObject }),
      fc.constantFrom('', '', ' ', 'x', '\n at f()'),
      end,
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((lines) => Buffer.from(lines.map((parts) => parts.join('')).join('')));

/** Some bytes are replaced: none of it may be text any more. */
const damage = fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 9, 10, 13, 34, 92, 0x80, 0xc3, 0xed, 0xf0, 0xff, 125)), {
  maxLength: 3,
});

function damaged(bytes: Buffer, spots: readonly [number, number][]): Buffer {
  const copy = Buffer.from(bytes);
  for (const [at, byte] of spots) copy[at % copy.length] = byte;
  return copy;
}

describe('records rendered by the kernel', () => {
  test.each([
    ['contract', contractText],
    ['json', jsonText],
  ] as const)('are what decoding and serializing them makes of them: %s', (name, arbitrary) => {
    fc.assert(
      fc.property(
        arbitrary,
        damage,
        fc.constantFrom(...FIELDS),
        fc.constantFrom(undefined, 40),
        fc.boolean(),
        (bytes, spots, fields, shownBytes, raw) => {
          expectSame(bytes, FORMATS[name], { fields, shownBytes, raw });
          expectSameRaw(bytes, FORMATS[name]);
          if (spots.length === 0) return;
          expectSame(damaged(bytes, spots), FORMATS[name], { fields, raw });
          expectSameRaw(damaged(bytes, spots), FORMATS[name]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('are so for the examples of all formats, also with what else a job may request', () => {
    const fixtures = new URL('../../parse/fixtures/', import.meta.url);
    for (const name of readdirSync(fixtures).filter((file) => file.endsWith('.log'))) {
      const bytes = readFileSync(new URL(name, fixtures));
      const format = BUILT_IN_FORMATS.detect(bytes, OPTIONS);
      for (const fields of FIELDS) expectSame(bytes, format, { fields });
      expectSame(bytes, format, { raw: true });
      expectSameRaw(bytes, format);
      if (bytes[0] === 123) expectSame(bytes, FORMATS.json, { fields: ['*'] });
    }
  });

  it('are most records, also if the output is filled more than once', () => {
    const contract =
      '2026-06-01 10:00:00.000\tINFO\ta.go:1\t[A] [B]: query "served"\t{"shard":49,"took":"61ms","é":[1]}\n';
    const json = '{"level":"info","ts":1786442302.123456,"logger":"a","caller":"b.go:7","msg":"x","shard":{"id": 7}}\n';
    for (const [line, format] of [
      [contract, FORMATS.contract],
      [json, FORMATS.json],
    ] as const) {
      for (const [fields, raw] of FIELDS.slice(0, 2).flatMap((each) => [
        [each, false] as const,
        [each, true] as const,
      ])) {
        const bytes = Buffer.from(line.repeat(1900));
        expect(expectSameRaw(bytes, format)).toBe(1900);
        expect(expectSame(bytes, format, { fields, raw })).toBe(1900);
        const slow = { format: () => expect.unreachable('a record was decoded') };
        const lines = new RecordLines(jobFor({ fields, raw }), { kernel, format: { ...format, decode: slow.format } });
        for (const { start, end, ...head } of loadRecords(bytes, format))
          lines.add({ bytes: kernel.text, start, end, offset: start }, { continued: false, ...head });
        expect(lines.found().ends.length).toBe(1900);
      }
    }
  });
});
