import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchOf, bytesOf, EMPTY_BATCH, originAt, type RecordBatch } from './record-batch.ts';
import { FRAME_HEAD_BYTES, FrameError, readFrame, readFrameHead, toFrames } from './record-frames.ts';
import { endFrameBytes, type FrameLies, frameBytes } from './testing/frame-bytes.ts';
import { runs } from './testing/runs.ts';

const END = { type: 'end', reason: 'exhausted', cursor: null } as const;

const file = fc.constantFrom('a.log', 'ü "x".log', 'dir/b.log.1', '');
const row = fc.record({
  file,
  line: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '{"a":1}', '\u2028', 'x'.repeat(30_000))),
  timeMs: fc.oneof(fc.integer(), fc.constantFrom(Number.NaN, 0, -1.5, 8.64e15, -8.64e15)),
  offset: fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 53, 0.5)),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

/** Each row as a record whose line is that text, whatever it is. */
function toBatch(rows: readonly Row[]): RecordBatch {
  const lines = rows.map(({ line }) => Buffer.from(`${line.replaceAll('\n', ' ')}\n`));
  const files = ['unused.log', ...new Set(rows.map((each) => each.file))];
  let end = 0;
  return {
    type: 'batch',
    bytes: new Uint8Array(Buffer.concat(lines)),
    ends: Uint32Array.from(lines, ({ length }) => (end += length)),
    times: Float64Array.from(rows, ({ timeMs }) => timeMs),
    offsets: Float64Array.from(rows, ({ offset }) => offset),
    origins: files.map((name) => ({ file: name })),
    originOf: Uint16Array.from(rows, (each) => files.indexOf(each.file)),
  };
}

function shown(batch: RecordBatch) {
  return Array.from(batch.ends, (_, index) => ({
    line: Buffer.from(bytesOf(batch, index, index + 1)).toString(),
    timeMs: batch.times[index],
    offset: batch.offsets[index],
    file: originAt(batch, index).file,
  }));
}

async function framed(batches: readonly RecordBatch[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const stream = async function* () {
    yield* batches;
    yield END;
  };
  for await (const piece of toFrames(stream())) pieces.push(piece.slice());
  return Buffer.concat(pieces);
}

/** What can be read of these bytes, and how many of them that took. */
function readAll(bytes: Uint8Array) {
  const batches: RecordBatch[] = [];
  const ends: string[] = [];
  let at = 0;
  while (bytes.length - at >= FRAME_HEAD_BYTES) {
    const head = readFrameHead(bytes.subarray(at));
    if (bytes.length - at < head.frameBytes) break;
    const { batch, text } = readFrame(head, bytes.subarray(at, at + head.frameBytes));
    if (batch) batches.push(batch);
    else ends.push(text);
    at += head.frameBytes;
  }
  return { batches, ends, read: at };
}

describe('batches in frames', () => {
  it('are the same when they are read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(row, { maxLength: 9 }), { maxLength: 4 }), async (lists) => {
        const batches = lists.map(toBatch);
        const bytes = await framed(batches);
        const { batches: found, ends, read } = readAll(bytes);
        expect(read).toBe(bytes.length);
        expect(found.flatMap(shown)).toEqual(batches.flatMap(shown));
        expect(ends).toEqual([`${JSON.stringify(END)}\n`]);
      }),
      { numRuns: runs(100) },
    );
  });

  it('are written as the format says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 2 }), async (rows) => {
        const batch = toBatch(rows);
        const files = [...new Set(rows.map((each) => each.file))];
        const originOf = files.length > 1 ? rows.map((each) => files.indexOf(each.file)) : [];
        const { ends, times, offsets, bytes } = batch;
        const columns = { ends: [...ends], times: [...times], offsets: [...offsets], originOf };
        const expected = [
          frameBytes({ ...columns, files, text: Buffer.from(bytes) }),
          endFrameBytes(JSON.stringify(END)),
        ];
        expect((await framed([batch])).equals(Buffer.concat(expected))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it('of many bytes are in several frames, a long record in one of its own', async () => {
    const short = { file: 'a.log', line: 'x'.repeat(999), timeMs: 1, offset: 2 };
    const rows = [...Array(200).fill(short), { ...short, line: 'y'.repeat(300_000) }, short] as Row[];
    const { batches } = readAll(await framed([toBatch(rows)]));
    expect(batches.map(({ ends }) => ends.length)).toEqual([65, 65, 65, 5, 1, 1]);
  });

  it('without records are no frames, but their bytes come at once: the request was accepted', async () => {
    const stream = async function* () {
      yield EMPTY_BATCH;
      yield END;
    };
    const pieces: number[] = [];
    for await (const { length } of toFrames(stream())) pieces.push(length);
    expect(pieces).toEqual([0, FRAME_HEAD_BYTES, JSON.stringify(END).length + 1]);
  });
});

const change = fc.record({
  /** Most of what can be wrong is in the first bytes. */
  at: fc.oneof(fc.nat(FRAME_HEAD_BYTES - 1), fc.nat(4000)),
  remove: fc.nat(9),
  add: fc.uint8Array({ maxLength: 9 }),
});

function changed(bytes: Buffer, changes: readonly { at: number; remove: number; add: Uint8Array }[]): Buffer {
  return changes.reduce((all, { at, remove, add }) => {
    const start = at % Math.max(1, all.length);
    return Buffer.concat([all.subarray(0, start), add, all.subarray(start + remove)]);
  }, bytes);
}

describe('frames that were changed', () => {
  it('are refused, or are records of one line each, no more than there are bytes', async () => {
    const response = await framed([toBatch([{ file: 'a.log', line: '{"a":"é"}', timeMs: 5, offset: 6 }]), batchOf([])]);
    const pair = { ends: [2, 9], times: [1, 2], offsets: [3, 4], originOf: [0, 1], files: ['a', 'b'] };
    const frames = Buffer.concat([frameBytes({ ...pair, text: 'x\n{"b":1}\n'.slice(0, 9) }), response]);
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const bytes = changed(frames, changes);
        let found: ReturnType<typeof readAll>;
        try {
          found = readAll(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
          return;
        }
        accepted++;
        const records = found.batches.flatMap(shown);
        expect(records.length).toBeLessThanOrEqual(bytes.length);
        expect(records.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0)).toBeLessThanOrEqual(bytes.length);
        for (const { line, file: name, offset = -1 } of records) {
          expect(line.indexOf('\n')).toBe(line.length - 1);
          expect(bytes.includes(line)).toBe(true);
          expect(name).toEqual(expect.any(String));
          expect(Number.isFinite(offset) && offset >= 0).toBe(true);
        }
        for (const { times } of found.batches)
          for (const timeMs of times) expect(Math.abs(timeMs) > 8.64e15).toBe(false);
        for (const text of found.ends) expect(text.indexOf('\n')).toBe(text.length - 1);
      }),
      { numRuns: runs(2000) },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  const sound = {
    ends: [2, 4],
    times: [1, Number.NaN],
    offsets: [0, 7],
    originOf: [1, 0],
    files: ['a', 'b'],
    text: 'x\ny\n' as string | Buffer,
  };
  const refused: readonly [string, Partial<typeof sound>, FrameLies][] = [
    ['another version', {}, { version: 2 }],
    ['an unknown kind', {}, { kind: 3 }],
    ['an end with records', {}, { kind: 2 }],
    ['no records', {}, { records: 0 }],
    ['no files', {}, { origins: 0 }],
    ['more files than records', {}, { origins: 3 }],
    ['more records than bytes', {}, { records: 5 }],
    ['four billion records', {}, { records: 0xffffffff }],
    ['no text', {}, { textBytes: 0 }],
    ['ends that go back', { ends: [4, 2] }, {}],
    ['two ends at one place', { ends: [4, 4] }, {}],
    ['an end within a line', { ends: [1, 4] }, {}],
    ['an end behind the text', { ends: [2, 5] }, {}],
    ['a record of two lines', { text: 'x\nz\ny\n', ends: [4, 6] }, {}],
    ['a last line without its newline', { text: 'x\ny' }, {}],
    ['text that is not UTF-8', { text: Buffer.from([0xff, 10, 0x61, 10]) }, {}],
    ['a time beyond all dates', { times: [9e15, 1] }, {}],
    ['an endless time', { times: [Number.NEGATIVE_INFINITY, 1] }, {}],
    ['a negative offset', { offsets: [-1, 0] }, {}],
    ['an offset that is no number', { offsets: [Number.NaN, 0] }, {}],
    ['a record of no file', { originOf: [0, 2] }, {}],
    ['a name that ends two times', { files: ['a', 'b\0'] }, { origins: 2 }],
    ['fewer names than files', { files: ['a'] }, { origins: 2 }],
    ['a name without its end', {}, { nameBytes: 3, textBytes: 5 }],
    ['several records and more text than such may have', { text: `x\n${'y'.repeat(65_534)}\n` }, {}],
  ];

  it.each(refused)('are refused: %s', (_name, parts, lies) => {
    expect(() => readAll(frameBytes({ ...sound, ...parts }, lies))).toThrow(FrameError);
  });

  it('are accepted without a lie', () => {
    expect(readAll(frameBytes(sound)).batches).toHaveLength(1);
  });

  it('keep a mark of the byte order: it must not vanish from the text', () => {
    const head = { ...sound, ends: [4], times: [1], offsets: [0], originOf: [], files: ['a'] };
    const bytes = frameBytes({ ...head, text: '\ufeff\n' });
    expect(readFrame(readFrameHead(bytes), bytes).text).toBe('\ufeff\n');
  });
});
