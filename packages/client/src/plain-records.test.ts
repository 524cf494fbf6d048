import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, SkippedItems } from './decode-records.ts';
import { LinePattern } from './line-pattern.ts';
import { PlainLines } from './plain-lines.ts';

const RECORD = {
  type: 'record',
  file: 'a.log',
  offset: 12,
  bytes: 100,
  cursor: '8cc71.sg.0.18',
  timeMs: 1767225600000.5,
  level: 'INFO',
  source: 'a.go:1',
  tags: ['A', 'B "quoted"'],
  message: 'grüße \u2028 \ud83d\ude00 \\ " \u0001 \ud800',
  context: { shard: 49, deep: { list: [1.5, -2, null, true, {}, []] }, '': '' },
  cut: true,
  continued: true,
  raw: 'x\ty',
  fields: { level: 'INFO', component: ['A', 'B'], shard: 49, none: null },
};

const LINE = JSON.stringify(RECORD);

/** As the pattern recognizes it. */
const ASCII_LINE = JSON.stringify({
  ...RECORD,
  message: 'a "quoted" \\ text\t\u0001',
  context: { shard: 49, deep: { list: [1.5, -2, null, true] }, '': '' },
});

const PIECES = [
  ...['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', ' '],
  ...['"file":"x",', '"node":"x",', 'u00'],
];

/** A line after up to three edits. */
function edited(line: string): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(line.length - 1), fc.nat(12), fc.constantFrom('', ...PIECES));
  return fc
    .array(edit, { maxLength: 3 })
    .map((edits) =>
      edits.reduce((text, [at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed), line),
    );
}

function isPlain(line: string | Uint8Array): boolean {
  const bytes = typeof line === 'string' ? new TextEncoder().encode(line) : line;
  const lines = new Uint8Array([...bytes, 10]);
  return new PlainLines().plainStart(lines, 1).count === 1;
}

/** What makes it safe to pass a line on: parsing it finds a valid record, and nothing is written differently. */
function expectSafe(line: string): void {
  const item: unknown = JSON.parse(line);
  const text = JSON.stringify(item);
  const skipped = new SkippedItems();
  expect(JSON.stringify(decodeRecord(item, skipped))).toBe(text);
  expect(skipped.count).toBe(0);
  for (const name of ['node', 'atMs', 'isUnsure', 'before', 'contextText']) expect(item).not.toHaveProperty(name);
  expect(topLevelKeys(line)).toEqual(Object.keys(item as object));
}

/** Only keys at the top: what is nested is the data of the log. */
function topLevelKeys(line: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*":?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1 && token.endsWith(':')) keys.push(JSON.parse(token.slice(0, -1)) as string);
  }
  return keys;
}

describe('lines that are passed on as they are', () => {
  it('are records as nodes write them, in any order of their fields', () => {
    expect(isPlain(LINE)).toBe(true);
    expect(isPlain(JSON.stringify(Object.fromEntries(Object.entries(RECORD).reverse())))).toBe(true);
    expectSafe(LINE);
  });

  it.each([
    ['another type', LINE.replace('"record"', '"end"')],
    ['a field twice', LINE.replace('"offset"', '"file":"b.log","offset"')],
    ['a field of the merging node', LINE.replace('"offset"', '"node":"b","offset"')],
    ['such a field, escaped', LINE.replace('"offset"', '"\\u006eode":"b","offset"')],
    ['an unknown field', LINE.replace('"offset"', '"new":1,"offset"')],
    ['white space', LINE.replace(',"offset"', ', "offset"')],
    ['no cursor', LINE.replace(/"cursor":"[^"]*",/, '')],
    ['a long file name', LINE.replace('a.log', 'a'.repeat(256))],
    ['a long cursor', LINE.replace('8cc71.sg.0.18', 'c'.repeat(2049))],
    ['an unknown level', LINE.replace('"level":"INFO"', '"level":"LOUD"')],
    ['a number that would be rounded', LINE.replace('"shard":49', '"shard":12345678901234567890')],
    ['a number that JSON does not have', LINE.replace('"shard":49', '"shard":049')],
    ['an object among the fields', LINE.replace('"none":null', '"none":{}')],
    ['a context that is a list', LINE.replace(/"context":\{.*?\}\}/, '"context":[]')],
    ['a deep context', LINE.replace('"shard":49', `"shard":${'['.repeat(300)}${']'.repeat(300)}`)],
    ['an invalid escape', LINE.replace('a.go:1', 'a.go\\x')],
    ['a control character', LINE.replace('a.go:1', 'a.go\u0001')],
    ['more after it', `${LINE}{}`],
    ['half of it', LINE.slice(0, -5)],
  ])('not with %s', (_name, line) => {
    expect(line).not.toBe(LINE);
    expect(isPlain(line)).toBe(false);
  });

  it('are recognized by their pattern, if they are ASCII', () => {
    const many = `${ASCII_LINE}\n`.repeat(3);
    const bytes = new TextEncoder().encode(`${many}${LINE}\n`);
    const pattern = new LinePattern();
    expect(pattern.recognize(bytes.subarray(0, many.length), 0, 9)).toEqual({ bytes: many.length, count: 3 });
    const from = ASCII_LINE.length + 1;
    expect(pattern.recognize(bytes.subarray(0, many.length), from, 1)).toEqual({ bytes: from, count: 1 });
    expect(pattern.recognize(bytes, 0, 9).count).toBe(0);
    // Every escape takes memory, so long pieces are left to the scanner.
    const long = new TextEncoder().encode(`${ASCII_LINE.replace('a.go', '\\n'.repeat(2e6))}\n`);
    expect(pattern.recognize(long, 0, 9).count).toBe(0);
    expect(new PlainLines(pattern).plainStart(long, 9).count).toBe(1);
  });

  it('are as many with the pattern as by the scanner alone, whatever a line was changed to', () => {
    const never = { recognize: () => ({ bytes: 0, count: 0 }) };
    let known = 0;
    fc.assert(
      fc.property(fc.array(edited(ASCII_LINE), { minLength: 1, maxLength: 6 }), (lines) => {
        const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
        known += new LinePattern().recognize(bytes, 0, 99).count;
        expect(new PlainLines().plainStart(bytes, 99)).toEqual(new PlainLines(never).plainStart(bytes, 99));
      }),
      { numRuns: 3000 },
    );
    expect(known).toBeGreaterThan(300);
  });

  it('not if they are not UTF-8', () => {
    const bytes = new TextEncoder().encode(LINE);
    bytes[bytes.indexOf(0xc3) + 1] = 0xff;
    expect(isPlain(bytes)).toBe(false);
  });

  it('are safe, whatever a line was changed to', () => {
    let plain = 0;
    fc.assert(
      fc.property(fc.constantFrom(LINE, ASCII_LINE).chain(edited), (line) => {
        if (!isPlain(line)) return;
        plain++;
        expectSafe(line);
      }),
      { numRuns: 3000 },
    );
    expect(plain).toBeGreaterThan(50);
  });

  it('end where the first other one starts, or there are enough', () => {
    const bytes = new TextEncoder().encode(`${LINE}\n${LINE}\n{"type":"end"}\n${LINE}\n`);
    const scanner = new PlainLines();
    const lineBytes = new TextEncoder().encode(LINE).length + 1;
    expect(scanner.plainStart(bytes, 9)).toEqual({ bytes: 2 * lineBytes, count: 2 });
    expect(scanner.plainStart(bytes, 1)).toEqual({ bytes: lineBytes, count: 1 });
  });

  it('are found with a recognizer as without one, wherever that gives up', () => {
    const line = JSON.stringify(RECORD);
    const odd = line.replace('{"type":"record",', '{').replace(/}$/, ',"type":"record"}');
    const lines = [line, line, odd, line, odd, odd, odd, odd, line, odd, 'no JSON', line];
    const bytes = new TextEncoder().encode(lines.map((text) => `${text}\n`).join(''));
    let calls = 0;
    const length = Buffer.byteLength(line) + 1;
    const recognize = (given: Uint8Array, from: number, most: number) => {
      calls++;
      let count = 0;
      const text = new TextDecoder().decode(given.subarray(from));
      while (count < most && text.startsWith(`${line}\n`, count * (line.length + 1))) count++;
      return { bytes: count * length, count };
    };
    for (const most of [0, 1, 2, 3, 5, 10, 99])
      expect(new PlainLines({ recognize }).plainStart(bytes, most)).toEqual(new PlainLines().plainStart(bytes, most));
    expect(new PlainLines().plainStart(bytes, 99).count).toBe(10);
    expect(calls).toBeGreaterThan(0);
  });
});
