import { exactJson } from './exact-json.ts';
import { isBatch, type Origin, OriginList, originAt, type RecordBatch, sliceBatch, startOf } from './record-batch.ts';

/*
 * Batches on their way from one node to another: a sequence of frames, the last of which is the end. Numbers are
 * little-endian.
 *
 *     version     u8    1
 *     kind        u8    1: records, 2: end
 *     origins     u16   number of files
 *     records     u32   number of records
 *     nameBytes   u32
 *     textBytes   u32
 *     ends        u32   of each record
 *     times       f64   of each record
 *     offsets     f64   of each record
 *     originOf    u16   of each record, if there are several files
 *     names             of the files, each followed by a zero byte
 *     text              lines of JSON: the records, or the end
 *
 * An end has neither records nor files. An empty batch is no frame. Text that is longer than 64 KiB is of one record.
 */

const VERSION = 1;
const RECORDS = 1;
const END = 2;

/** The part of a frame that says how long the rest is. */
export const FRAME_HEAD_BYTES = 16;

/**
 * Longer batches are sent in several frames, because a reader holds a frame as a whole, and checks it without doing anything
 * else meanwhile. One record may be longer.
 */
const MAX_TEXT_BYTES = 64 * 1024;

/** Of the ends, times and offsets of one record. */
const ROW_BYTES = 4 + 8 + 8;
const ORIGIN_BYTES = 2;

/** Maximum of `Date`. */
const MAX_TIME_MS = 8.64e15;

const ZERO = 0;
const NEWLINE = 10;
const ENCODER = new TextEncoder();

/** A mark at the start is a character that no JSON begins with: it must not vanish. */
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What the head of a frame says, all of which is within its own bounds. */
export interface FrameHead {
  isEnd: boolean;
  origins: number;
  records: number;
  nameBytes: number;
  textBytes: number;
  /** Of the whole frame. */
  frameBytes: number;
}

export interface Frame {
  /** `undefined`: it is the end. */
  batch: RecordBatch | undefined;
  /** The lines. */
  text: string;
}

/** The bytes are no frame; the message says why. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A stream of batches of one node and its end as the bytes of frames. */
export async function* toFrames<End extends { type: string }>(
  batches: AsyncIterable<RecordBatch | End>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const item of batches) {
    if (!isBatch(item)) {
      const text = ENCODER.encode(`${exactJson(item)}\n`);
      yield headOf({ kind: END, origins: 0, records: 0, nameBytes: 0, textBytes: text.length }, 0);
      yield text;
    } else if (item.ends.length === 0) yield item.bytes;
    else
      for (const part of splitBatch(item)) {
        yield columnsOf(part);
        yield part.bytes;
      }
  }
}

/** Parts of at most so many bytes, or of one record. */
function* splitBatch(batch: RecordBatch): Generator<RecordBatch, void, undefined> {
  const { ends } = batch;
  for (let from = 0; from < ends.length; ) {
    const most = startOf(batch, from) + MAX_TEXT_BYTES;
    let to = from + 1;
    while (to < ends.length && (ends[to] as number) <= most) to++;
    yield sliceBatch(batch, from, to);
    from = to;
  }
}

/** A frame of records up to its text. */
function columnsOf(batch: RecordBatch): Uint8Array {
  const { ends, times, offsets, bytes } = batch;
  const records = ends.length;
  const { files, originOf } = usedOrigins(batch);
  const names = ENCODER.encode(files.map((file) => `${file}\0`).join(''));
  const rowBytes = ROW_BYTES + (files.length > 1 ? ORIGIN_BYTES : 0);
  const lengths = { kind: RECORDS, origins: files.length, records, nameBytes: names.length, textBytes: bytes.length };
  const columns = headOf(lengths, records * rowBytes + names.length);
  const view = new DataView(columns.buffer);
  let at = FRAME_HEAD_BYTES;
  for (let index = 0; index < records; index++, at += 4) view.setUint32(at, ends[index] as number, true);
  for (let index = 0; index < records; index++, at += 8) view.setFloat64(at, times[index] as number, true);
  for (let index = 0; index < records; index++, at += 8) view.setFloat64(at, offsets[index] as number, true);
  if (files.length > 1)
    for (let index = 0; index < records; index++, at += 2) view.setUint16(at, originOf[index] as number, true);
  columns.set(names, at);
  return columns;
}

/** The files of the records: a batch may name more than it has records of. */
function usedOrigins(batch: RecordBatch): { files: string[]; originOf: Uint16Array } {
  const used = new OriginList();
  const originOf = Uint16Array.from(batch.ends, (_, index) => used.indexOf(originAt(batch, index).file));
  return { files: used.list.map(({ file }) => file), originOf };
}

type Lengths = Pick<FrameHead, 'origins' | 'records' | 'nameBytes' | 'textBytes'>;

/** The head, and room for what comes between it and the text. */
function headOf(lengths: Lengths & { kind: number }, columnBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + columnBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(1, lengths.kind);
  view.setUint16(2, lengths.origins, true);
  view.setUint32(4, lengths.records, true);
  view.setUint32(8, lengths.nameBytes, true);
  view.setUint32(12, lengths.textBytes, true);
  return bytes;
}

/** Reads the head of a frame. Fails unless its numbers belong together. */
export function readFrameHead(bytes: Uint8Array): FrameHead {
  const view = viewOf(bytes);
  const version = view.getUint8(0);
  if (version !== VERSION) throw new FrameError(`a frame of version ${version} instead of ${VERSION}`);
  const kind = view.getUint8(1);
  if (kind !== RECORDS && kind !== END) throw new FrameError(`a frame of the unknown kind ${kind}`);
  const lengths = {
    origins: view.getUint16(2, true),
    records: view.getUint32(4, true),
    nameBytes: view.getUint32(8, true),
    textBytes: view.getUint32(12, true),
  };
  const { origins, records, nameBytes, textBytes } = lengths;
  const isEnd = kind === END;
  if (isEnd && origins + records + nameBytes > 0) throw new FrameError('an end with records');
  if (!isEnd && (records === 0 || origins === 0)) throw new FrameError('a frame without records');
  if (origins > records) throw new FrameError('a frame with more files than records');
  // Each has its newline.
  if (records > textBytes || textBytes === 0) throw new FrameError('a frame with more records than text');
  if (records > 1 && textBytes > MAX_TEXT_BYTES)
    throw new FrameError(`a frame with several records and more than ${MAX_TEXT_BYTES} bytes of text`);
  const rowBytes = ROW_BYTES + (origins > 1 ? ORIGIN_BYTES : 0);
  return { isEnd, ...lengths, frameBytes: FRAME_HEAD_BYTES + records * rowBytes + nameBytes + textBytes };
}

/**
 * Reads a whole frame. Fails unless each record is one line of text, of a file that is named. What is in the lines, and
 * whether the columns say the same, is for the caller to check.
 */
export function readFrame(head: FrameHead, bytes: Uint8Array): Frame {
  const { isEnd, records, nameBytes, textBytes, frameBytes } = head;
  if (bytes.length !== frameBytes) throw new FrameError('a frame of another length than its head says');
  const lines = bytes.subarray(frameBytes - textBytes);
  const text = decode(lines);
  if (countBytes(lines, NEWLINE) !== (isEnd ? 1 : records) || lines.at(-1) !== NEWLINE)
    throw new FrameError('a frame with another number of lines than its head says');
  if (isEnd) return { batch: undefined, text };
  const view = viewOf(bytes);
  const ends = new Uint32Array(records);
  const times = new Float64Array(records);
  const offsets = new Float64Array(records);
  let at = FRAME_HEAD_BYTES;
  let start = 0;
  for (let index = 0; index < records; index++, at += 4) {
    const end = view.getUint32(at, true);
    // There are as many lines as records: if each ends with a line, it is one.
    if (end <= start || end > textBytes || lines[end - 1] !== NEWLINE)
      throw new FrameError('a frame whose records do not end with their lines');
    ends[index] = end;
    start = end;
  }
  for (let index = 0; index < records; index++, at += 8) {
    const timeMs = view.getFloat64(at, true);
    if (Math.abs(timeMs) > MAX_TIME_MS) throw new FrameError('a frame with a time beyond all dates');
    times[index] = timeMs;
  }
  for (let index = 0; index < records; index++, at += 8) {
    const offset = view.getFloat64(at, true);
    if (!(offset >= 0 && offset < Infinity)) throw new FrameError('a frame with an offset that is none');
    offsets[index] = offset;
  }
  const originOf = readOrigins(view, at, head);
  const origins = readNames(bytes.subarray(frameBytes - textBytes - nameBytes, frameBytes - textBytes), head);
  return { batch: { type: 'batch', bytes: lines, ends, times, offsets, origins, originOf }, text };
}

function readOrigins(view: DataView, start: number, { origins, records }: FrameHead): Uint16Array | undefined {
  if (origins === 1) return undefined;
  const originOf = new Uint16Array(records);
  for (let index = 0; index < records; index++) {
    const origin = view.getUint16(start + index * ORIGIN_BYTES, true);
    if (origin >= origins) throw new FrameError('a frame with a record of no file');
    originOf[index] = origin;
  }
  return originOf;
}

function readNames(bytes: Uint8Array, { origins }: FrameHead): Origin[] {
  if (countBytes(bytes, ZERO) !== origins || bytes.at(-1) !== ZERO)
    throw new FrameError('a frame with another number of files than its head says');
  const names = decode(bytes.subarray(0, -1)).split('\0');
  return names.map((file) => ({ file }));
}

function decode(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new FrameError('a frame with text that is not UTF-8', { cause: error });
    throw error;
  }
}

function countBytes(bytes: Uint8Array, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
