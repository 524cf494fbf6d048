import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursorAt, originAt, type RecordBatch, startOf } from '../record-batch.ts';
import { runs } from '../testing/runs.ts';
import { LineKernel } from './line-kernel.ts';

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

const kernel = new LineKernel();

const KEYS = [
  ...['type', 'file', 'offset', 'bytes', 'cursor', 'timeMs', 'level', 'source', 'tags', 'message', 'context', 'cut'],
  ...['continued', 'raw', 'fields'],
];

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('x'.repeat(40), '\u0000\u001f"\\/\n', '\ud800'),
);
const scalar = fc.oneof(
  text,
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.constantFrom(0.5, -1.25, 1e15, 1e21, 1e-9),
);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Fields in the order of nodes. */
const record = fc.record({
  type: fc.constant('record'),
  file: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a.log', 'ü.log') }, text),
  offset: fc.oneof(fc.nat(), fc.constantFrom(0, 123_456_789_012_345, 2 ** 53)),
  bytes: fc.nat(),
  cursor: fc.oneof({ weight: 5, arbitrary: fc.constant('a.1.2~b') }, text),
  timeMs: optional(fc.oneof(fc.nat(), fc.constantFrom(1.5, -3, 1_790_000_000_000))),
  level: optional(fc.constantFrom(...LEVELS, 'info', 'INFOS')),
  source: optional(text),
  tags: optional(fc.array(text, { maxLength: 3 })),
  message: text,
  context: optional(fc.dictionary(text, fc.oneof(scalar, fc.jsonValue({ maxDepth: 3 })), { maxKeys: 4 })),
  cut: optional(fc.boolean()),
  continued: optional(fc.constant(true)),
  raw: optional(text),
  fields: optional(fc.dictionary(text, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 3 })),
});

/** Bytes that replace others, are added or removed. */
const changes = fc.array(
  fc.record({
    at: fc.nat(2000),
    remove: fc.nat(2),
    add: fc.constantFrom('', '"', '\\', ',', '{', '}', '[', ' ', '0', 'x', '\xff', '\n'),
  }),
  { maxLength: 2 },
);

function changed(line: Buffer, list: readonly { at: number; remove: number; add: string }[]): Buffer {
  return list.reduce((bytes, { at, remove, add }) => {
    const start = at % bytes.length;
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(add, 'latin1'), bytes.subarray(start + remove)]);
  }, line);
}

/** What the kernel says about a line, checked against the parsed line. */
function expectTrue(lines: Buffer, batch: RecordBatch, index: number): void {
  const start = startOf(batch, index);
  const end = lines.indexOf(10, start) + 1;
  expect(batch.ends[index]).toBe(end);
  const bytes = lines.subarray(start, end - 1);
  const parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  expect(Object.keys(parsed)).toEqual(KEYS.filter((key) => key in parsed));
  const {
    type,
    file,
    offset,
    bytes: size,
    cursor,
    timeMs,
    level,
    tags = [],
    message,
    context = {},
    cut = true,
  } = parsed;
  expect([type, cut, typeof message, typeof context, Array.isArray(tags)]).toEqual([
    'record',
    true,
    'string',
    'object',
    true,
  ]);
  expect(tags.every((tag: unknown) => typeof tag === 'string')).toBe(true);
  expect([undefined, ...LEVELS].includes(level)).toBe(true);
  expect([offset, size].every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
  expect(originAt(batch, index)).toEqual({ file });
  expect(cursorAt(batch, index)).toBe(cursor);
  expect(batch.offsets[index]).toBe(offset);
  expect(batch.times[index]).toBe(timeMs ?? Number.NaN);
}

describe('lines that the kernel recognizes', () => {
  it('are records, whatever was done to them, and what it says about them is true', () => {
    fc.assert(
      fc.property(record, changes, (given, list) => {
        const line = changed(Buffer.from(`${JSON.stringify(given)}\n${JSON.stringify(given)}\n`), list);
        const batch = kernel.scan(line, 0, 9);
        for (let index = 0; batch && index < batch.ends.length; index++) expectTrue(line, batch, index);
      }),
      { numRuns: runs(750) },
    );
  });

  it('are those of nodes', () => {
    const usual = record.filter(({ file, cursor, timeMs = 0, level = 'INFO', cut = true, offset, context = {} }) => {
      const isPlain = [file, cursor].every((each) => each !== '' && /^[^\\"\p{Cc}\ud800-\udfff]{1,60}$/u.test(each));
      const hasNumbers = !/\d{16}|\de[+-]/.test(JSON.stringify(context));
      return (
        isPlain &&
        Number.isInteger(timeMs) &&
        timeMs >= 0 &&
        !/^[a-z]|S$/.test(level) &&
        cut &&
        offset < 1e15 &&
        hasNumbers
      );
    });
    fc.assert(
      fc.property(fc.array(usual, { minLength: 1, maxLength: 4 }), (given) => {
        const lines = Buffer.from(given.map(({ fields: _, ...each }) => `${JSON.stringify(each)}\n`).join(''));
        expect(kernel.scan(lines, 0, 9)).toMatchObject({ bytes: lines, ends: { length: given.length } });
      }),
      { numRuns: runs(150) },
    );
  });

  it('are also found behind those that fit into its memory, but not if one is incomplete', () => {
    const line = JSON.stringify({
      type: 'record',
      file: 'a',
      offset: 1,
      bytes: 2,
      cursor: 'c',
      message: 'x'.repeat(999),
    });
    const lines = Buffer.from(`${line}\n`.repeat(1000));
    const count = (bytes: Buffer, from = 0) => {
      let found = 0;
      for (let at = from, batch = kernel.scan(bytes, at); batch; batch = kernel.scan(bytes, at)) {
        found += batch.ends.length;
        at += batch.bytes.length;
      }
      return found;
    };
    expect(count(lines)).toBe(1000);
    expect(count(lines.subarray(0, -1))).toBe(999);
    expect(count(lines, line.length + 1)).toBe(999);
    expect(kernel.scan(lines, 0, 70)?.ends).toHaveLength(70);
  });
});
