import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ScanKernel } from '../../kernel/scan-kernel.ts';
import { BUILT_IN_FORMATS } from '../../parse/detect-format.ts';
import { createZone } from '../../parse/zone.ts';
import { fieldValues } from '../../query/index.ts';
import { randomJsonObject } from '../../testing/random-json.ts';
import { createQuickTest } from '../match/quick-test.ts';
import { RecordMatcher } from '../match/record-matcher.ts';
import { createQuickCount } from './quick-count.ts';
import { TopTable } from './top-table.ts';
import { ValueCounts } from './value-counts.ts';

const kernel = new ScanKernel();
const head = { timeMs: Number.NaN, rank: 0 };

const FIELDS = [
  'a',
  'b',
  'a.b',
  '1',
  '__proto__',
  'type',
  'x',
  'é',
  'a.a',
  'level',
  'source',
  'component',
  'message',
  'c/d',
];

/** Members of JSON records that are their source or tags, or nearly. */
const ODD_COLUMNS = [
  '{"caller":"a.go:1","msg":"text"}',
  '{"CALLER":"a.go:1","source":"b.go:2"}',
  '{"source":"a","caller" : "b.go:2" }',
  '{"caller":{"file":"a.go","line":3},"a":1}',
  '{"caller":"a\\u003a1"}',
  '{"c\\u0061ller":"a:1"}',
  '{"source":"é:1","c":"é"}',
  '{"caller":"a:1","caller":"b:2","b":1.50}',
  '{"caller":5,"source":":1"}',
  '{"caller":["a:1"],"source":"a:"}',
  '{"a":{"caller":"a:1","logger":"x"}}',
  '{"logger":"q","name":"n"}',
  '{"Component":"c","component":"d"}',
  '{"component":"","Name":"n"}',
  '{"name":7,"logger":"x"}',
  '{"logger":"a\\"b"}',
  '{"log.logger":"x","a":1,"log":{"logger":"y"}}',
  '{"target":null,"channel":{"a":1}}',
];

/** JSON, with what is nearly JSON. */
const json = fc.oneof(
  { weight: 4, arbitrary: randomJsonObject },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        '{}',
        '{ }',
        '{"a":1}',
        '{"a":"x y","b":[1,"2",[3]]}',
        '{"a":{"b":true}}',
        '{"a.b":null}',
        '{"a":[{"b":1},{"b":2}]}',
      ],
      ...[
        '{"a":"","x":-0.5e-7}',
        '{"a":01}',
        '{"a":1.}',
        '{"a":+1}',
        '{"a":tru}',
        '{"a":true1}',
        '{"a":1,}',
        '{"a":1}}',
        '{"a" : 1 }',
      ],
      ...[
        '{"a":"\\x"}',
        '{"a":"\\u00zz"}',
        '{"\\u0061":1}',
        '{"c\\/d":1}',
        '{"a":"\t"}',
        '{"a":1e}',
        '{"a":-}',
        '{"a":"b\\"}',
        '{"a"}',
        '{a:1}',
      ],
      ...[
        '{"a":[]}',
        '{"a":[1,]}',
        '{"a":[}',
        '{"a":nul}',
        '{"a":falsE}',
        '{"msg":"a=1","b":"a\\u003d1"}',
        '{"MESSAGE":[97,61,49]}',
        '{"a":é}',
      ],
      ...[
        `{"a":${'['.repeat(80)}1${']'.repeat(80)}}`,
        '{"A":1,"a":2,"a":3}',
        '{"b":"}\\"{","a":"ok"}',
        '{"Level":"warn","a":1}',
      ],
      ...ODD_COLUMNS,
    ),
  },
);

const message = fc.constantFrom(
  '',
  'text',
  'a=1',
  'x="y z" b=2',
  'a =1',
  'type=;',
  '[a=3]',
  'ends in }',
  '{"a":1}',
  'é=1,c/d=2',
  '\\u0061=1',
);
const tags = fc.constantFrom('', '[Query]: ', '[Query] [Leaf]: ', '[A][A]: ', '[]: ', '[open ');
const lineEnd = fc.constantFrom('\n', '\n', '\r\n', '', '\nmore a=1\n', '\nmore\t{"a":5}\n', '\r');

const contractLine = fc
  .tuple(
    fc.constantFrom('\t', '\t', ' '),
    fc.constantFrom('INFO\t', 'WARN\t', ''),
    tags,
    message,
    fc.option(json),
    lineEnd,
  )
  .map(([separator, level, tag, text, context, end]) => {
    const columns = [`${level}a.go:1`, tag + text, ...(context === null ? [] : [context])].filter(
      (column) => column !== '',
    );
    return `2026-06-01 10:00:00.000${separator}${columns.join('\t')}${end}`;
  });

const jsonLine = fc
  .tuple(json, fc.constantFrom('', ' ', 'x'), lineEnd)
  .map(([text, behind, end]) => text + behind + end);

/** What is counted for each record without decoding it; `undefined` if it must be decoded. */
function quickValues(format: 'contract' | 'json', by: string, records: readonly string[]) {
  const table = new TopTable({ values: undefined, limits: {} });
  const made = BUILT_IN_FORMATS.create(format, { zone: createZone('UTC'), writtenMs: 0 });
  let length = 1;
  const starts = records.map((record) => {
    const start = length;
    length += kernel.text.write(record, start);
    return start;
  });
  kernel.text[0] = 10;
  const bytes = kernel.text.subarray(0, length);
  const count = createQuickCount(by, { format: made, kernel, table });
  const expected = new Map<string, number>();
  const found = { quick: 0, missing: 0, expected, expectedMissing: 0 };
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? length;
    const isHead = made.readHead(bytes, start, end, head);
    const record = { start, end, timeMs: head.timeMs, rank: isHead ? head.rank : 0, isHeadless: !isHead };
    if (!isHead || !count(bytes, record, Number.NaN)) continue;
    found.quick++;
    const values = new Set(fieldValues(made.decode(bytes, start, end), by));
    if (values.size === 0) found.expectedMissing++;
    for (const value of values) expected.set(value, (expected.get(value) ?? 0) + 1);
  }
  const { counts, missing, records: counted } = table.result();
  expect(counted).toBe(found.quick);
  const all = new ValueCounts();
  all.merge(counts);
  const values = all.mostFrequent(Number.POSITIVE_INFINITY);
  return { ...found, missing, counts: new Map(values.map(({ value, count: times }) => [value, times])) };
}

/** Whether each record matches, tested without decoding it if that is possible, and as decoding finds. */
function testRecords(format: 'contract' | 'json', matcher: RecordMatcher, records: readonly string[]) {
  const made = BUILT_IN_FORMATS.create(format, { zone: createZone('UTC'), writtenMs: 0 });
  const starts: number[] = [];
  let length = 1;
  for (const record of records) {
    starts.push(length);
    length += kernel.text.write(record, length);
  }
  kernel.text[0] = 10;
  const bytes = kernel.text.subarray(0, length);
  const quickTest = createQuickTest(matcher, { format: made, kernel });
  const found: boolean[] = [];
  const expected: boolean[] = [];
  let quick = 0;
  // Newest first, as most searches.
  for (let index = records.length - 1; index >= 0; index--) {
    const [start = 0, end = length] = [starts[index], starts[index + 1]];
    if (!made.readHead(bytes, start, end, head)) continue;
    const decoded = matcher.matchesText(bytes, start, end, made);
    const known = quickTest?.(bytes, start, end);
    if (known !== undefined) quick++;
    found.push(known ?? decoded);
    expected.push(decoded);
  }
  return { found, expected, quick };
}

const conditions = fc.oneof(
  fc.record({
    kind: fc.constant('field' as const),
    field: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom('=' as const, '!=' as const, ':' as const, '<' as const, '>=' as const),
    value: fc.constantFrom('1', '2', '1.0', 'x', 'x y', 'true', 'null', '', 'ok', 'é', '3'),
  }),
  fc.record({ kind: fc.constant('exists' as const), field: fc.constantFrom(...FIELDS) }),
  fc.record({ kind: fc.constant('text' as const), text: fc.constantFrom('a', '1', 'text') }),
);

describe('testing conditions on fields without decoding', () => {
  test.each([
    ['contract', contractLine],
    ['json', jsonLine],
  ] as const)('finds what decoding finds: %s', (format, line) => {
    const nodes = fc.array(conditions, { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), nodes, (lines, wanted) => {
        const records = lines.map((text, index) =>
          index < lines.length - 1 && !text.endsWith('\n') ? `${text}\n` : text,
        );
        const matcher = new RecordMatcher({ query: { kind: 'and', nodes: wanted } });
        const { found, expected } = testRecords(format, matcher, records);
        expect(found).toEqual(expected);
      }),
      { numRuns: runs(500) },
    );
  });

  test('is possible for ordinary records', () => {
    const records = ['{"ts":1,"msg":"text","a":1}\n', '{"ts":2,"msg":"text"}\n', '{"ts":3,"a":"2"}\n'];
    const matcher = new RecordMatcher({ query: { kind: 'field', field: 'a', operator: '=', value: '1' } });
    expect(testRecords('json', matcher, records)).toEqual({
      found: [false, false, true],
      expected: [false, false, true],
      quick: 3,
    });
  });
});

describe('counting without decoding', () => {
  test.each([
    ['contract', contractLine],
    ['json', jsonLine],
  ] as const)('finds what decoding finds: %s', (format, line) => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.constantFrom(...FIELDS), (lines, by) => {
        // A record without a line break can only be the last one.
        const records = lines.map((text, index) =>
          index < lines.length - 1 && !text.endsWith('\n') ? `${text}\n` : text,
        );
        const { counts, missing, expected, expectedMissing } = quickValues(format, by, records);
        expect(counts).toEqual(expected);
        expect(missing).toBe(expectedMissing);
      }),
      { numRuns: runs(150) },
    );
  });

  test.each([
    ['contract', '2026-06-01 10:00:00.000\tINFO\ta.go:1\ttext\t'],
    ['json', ''],
  ] as const)('finds what decoding finds in lines that are nearly the same: %s', (format, lead) => {
    // What is between values is kept of lines that were read; a byte more, less or changed must not pass as the same.
    const byte = fc.constantFrom(...'"\\{}[],: \t01.-eE+tfa\n\r', '""', ',"a":', '\\u0061', 'true', 'a=1', 'é');
    const change = fc.record({ at: fc.nat(), drop: fc.nat(2), text: fc.option(byte, { nil: '' }) });
    const lines = fc.tuple(
      json,
      json,
      fc.array(fc.tuple(fc.nat(1), fc.array(change, { maxLength: 2 })), { maxLength: 12 }),
    );
    fc.assert(
      fc.property(lines, fc.constantFrom(...FIELDS), ([one, other, changed], by) => {
        const records = changed.map(([which, changes]) => {
          const text = changes.reduce(
            (before, { at, drop, text: added }) => {
              const start = at % (before.length + 1);
              return before.slice(0, start) + added + before.slice(start + drop);
            },
            which === 0 ? one : other,
          );
          return `${lead}${text}\n`;
        });
        const { counts, missing, expected, expectedMissing } = quickValues(format, by, [`${lead}${one}\n`, ...records]);
        expect(counts).toEqual(expected);
        expect(missing).toBe(expectedMissing);
      }),
      { numRuns: runs(500) },
    );
  });

  test('is possible for ordinary records', () => {
    const contract = (context: string) => `2026-06-01 10:00:00.000\tINFO\ta.go:1\t[Q] [L]: text\t${context}\n`;
    const contexts = ['{"a":1,"b":"x"}', '{"b":{"a":true},"c":[{}]}', '{"http":{"status":500}}', '{"x":"a\\"b"}'];
    for (const by of ['a', 'b.a', 'http.status', 'nothing', 'level', 'source', 'component']) {
      expect(quickValues('contract', by, contexts.map(contract)).quick).toBe(contexts.length);
    }
    const lines = contexts.map((context) => `{"ts":1,"level":"info","msg":"text",${context.slice(1)}\n`);
    for (const by of ['a', 'b.a', 'http.status', 'nothing', 'level', 'source', 'component']) {
      expect(quickValues('json', by, lines).quick).toBe(lines.length);
    }
  });
});
