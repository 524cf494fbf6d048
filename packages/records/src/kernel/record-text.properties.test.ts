import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson } from '../exact-json.ts';
import { type BatchedRecord, batchOf, type RecordBatch } from '../record-batch.ts';
import { runs } from '../testing/runs.ts';
import { LineTextKernel, type TextLayout } from './line-text-kernel.ts';
import { recordText, TextRenderer } from './record-text.ts';

type MergedRecord = Parameters<typeof recordText>[0] & BatchedRecord & { node: string };

const kernel = new LineTextKernel();

const LAYOUTS: readonly TextLayout[] = ['raw', 'node and raw', 'columns'];

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(...['x'.repeat(40), '\u0000\u001f\u007f"\\/\n', '\ud800', '\ud83d\ude00', '\u0085[a]']),
  fc.constantFrom(...['a\nb', '\n', 'a\r\n\tb\n', `${'y'.repeat(15)}"`, `${'é'.repeat(9)}\n${'z'.repeat(33)}`]),
);
const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a.log', 'ü.log', 'b[1].log') }, text);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const timeMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 4_102_444_800_000 }) },
  fc.constantFrom(0, 1.5, -3, 951_782_400_000, 951_868_799_999, 253_402_300_799_999, 253_402_300_800_000),
);

/** Fields in the order of nodes; some have what they never write. */
const record = fc.record({
  node: name,
  atMs: optional(timeMs),
  isUnsure: optional(fc.constant(true)),
  type: fc.constant('record'),
  file: name,
  offset: fc.oneof(fc.nat(), fc.constantFrom(0, 123_456_789_012_345, 2 ** 53)),
  bytes: fc.nat(),
  cursor: fc.constantFrom('a.1.2~b', 'c'),
  timeMs: optional(timeMs),
  level: optional(fc.constantFrom('INFO', 'ERROR', 'WARN')),
  source: optional(text),
  tags: optional(fc.array(text, { maxLength: 3 })),
  message: text,
  context: optional(fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })),
  contextText: optional(fc.constantFrom('{"a":1.0}', '{"a":1,"a":2}', '{}')),
  cut: optional(fc.constant(true)),
  raw: optional(text),
  another: fc.option(text, { nil: undefined, freq: 9 }),
}) as unknown as fc.Arbitrary<MergedRecord>;

function readAll(records: readonly MergedRecord[], layout: TextLayout) {
  const renderer = new TextRenderer(layout);
  const found = { text: '', ends: [0], columns: [] as unknown[] };
  for (const part of [records.slice(0, 3), records.slice(3)])
    for (const batch of renderer.render(batchOf(part))) {
      const before = Buffer.byteLength(found.text);
      found.text += Buffer.from(batch.bytes).toString();
      found.ends.push(...Array.from(batch.ends, (end) => before + end));
      found.columns.push(...columnsOf(batch));
    }
  return found;
}

function columnsOf({ times, offsets, origins, originOf }: RecordBatch): unknown[] {
  return Array.from(times, (time, index) => [time, offsets[index], origins[originOf?.[index] ?? 0]]);
}

/** Halves of pairs become replacement characters where text becomes bytes. */
const wellFormed = (value: string) => Buffer.from(value).toString();

describe('merged records as text', () => {
  it('are the same as records that were parsed, and keep their columns', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), fc.constantFrom(...LAYOUTS), (records, layout) => {
        const found = readAll(records, layout);
        const texts = records.map((each) => wellFormed(recordText(each, layout)));
        expect(found.text).toBe(texts.join(''));
        let end = 0;
        expect(found.ends.slice(1)).toEqual(texts.map((each) => (end += Buffer.byteLength(each))));
        expect(found.columns).toEqual(
          columnsOf(batchOf(records.slice(0, 3))).concat(columnsOf(batchOf(records.slice(3)))),
        );
      }),
      { numRuns: runs(125) },
    );
  });

  it('are the same for whatever is not refused, bytes replaced, added or removed', () => {
    const change = fc.record({
      at: fc.nat(2000),
      remove: fc.nat(2),
      add: fc.constantFrom('', '"', '\\', ',', '{', '}', '[', ' ', '0', 'x', '\xff', '\n', '\xc2\x85'),
    });
    fc.assert(
      fc.property(record, change, fc.constantFrom(...LAYOUTS), (given, { at, remove, add }, layout) => {
        const line = Buffer.from(`${exactJson(given)}\n`);
        const start = at % line.length;
        const parts = [line.subarray(0, start), Buffer.from(add, 'latin1'), line.subarray(start + remove)];
        const bytes = Buffer.concat(parts);
        if (kernel.render(bytes, 0, layout) === 0) return;
        const first = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.indexOf(10) + 1));
        const parsed = JSON.parse(first) as MergedRecord;
        // Contexts are copied as they are: compared only if they are as nodes write them.
        if (layout === 'columns' && `${JSON.stringify(parsed)}\n` !== first) return;
        expect(Buffer.from(kernel.text(1)).toString()).toBe(recordText(parsed, layout));
      }),
      { numRuns: runs(300) },
    );
  });

  it('are rendered without being parsed, as nodes write them, also beyond the memory of the kernel', () => {
    const usual = {
      ...{ node: 'n1', atMs: 1_790_000_000_000, type: 'record', file: 'a.log', offset: 7, bytes: 9, cursor: 'c' },
      ...{
        timeMs: 1_790_000_000_000,
        level: 'INFO',
        source: 'a.go:1',
        tags: ['a', 'b "c"'],
        message: 'said "x"\n\tat y',
      },
      ...{ context: { a: 1, b: { c: [true, null, 'd'] } }, raw: `raw ${'\\'.repeat(300)}\té` },
    };
    const count = 1000;
    const line = `${JSON.stringify(usual)}\n`;
    const lines = Buffer.from(line.repeat(count));
    for (const layout of LAYOUTS) {
      let texts = '';
      for (let at = 0, rendered = 0; at < lines.length; at += rendered * Buffer.byteLength(line)) {
        rendered = kernel.render(lines, at, layout);
        expect(rendered).toBeGreaterThan(0);
        texts += Buffer.from(kernel.text(rendered)).toString();
      }
      expect(texts === recordText(usual as unknown as MergedRecord, layout).repeat(count)).toBe(true);
    }
  });
});
