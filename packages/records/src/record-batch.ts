import { exactJson } from './exact-json.ts';

/*
 * Records on their way from a scan to a socket. Whoever merges, limits, pages or relays them compares the columns and moves
 * the bytes; nobody parses JSON on the way. Objects are made at the edges: see `toItems`.
 */

/** Where records come from: a log file, and in a cluster the node that has it. */
export interface Origin {
  readonly node?: string;
  readonly file: string;
}

/**
 * Records in the order they are emitted. Valid until the next batch is pulled if the caller has allowed it (`reusesMemory`),
 * for good otherwise.
 */
export interface RecordBatch {
  readonly type: 'batch';
  /** The records one after the other: lines of JSON exactly as a client gets them, or their text as in the file. */
  readonly bytes: Uint8Array;
  /** Where each record ends in the bytes. */
  readonly ends: Uint32Array;
  /** Epoch milliseconds, by the clock of whoever made the batch; `NaN` for a record without a timestamp. */
  readonly times: Float64Array;
  /** Where each record is in its file. */
  readonly offsets: Float64Array;
  readonly origins: readonly Origin[];
  /** The index of the origin of each record; all are of the first one if it is missing. */
  readonly originOf?: Uint16Array | undefined;
}

const NO_BYTES = new Uint8Array(0);

/** A batch without records: it says that the request was accepted. */
export const EMPTY_BATCH: RecordBatch = {
  type: 'batch',
  bytes: NO_BYTES,
  ends: new Uint32Array(0),
  times: new Float64Array(0),
  offsets: new Float64Array(0),
  origins: [],
};

/** Where a record starts in the bytes. */
export function startOf({ ends }: Pick<RecordBatch, 'ends'>, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] as number);
}

export function originAt({ origins, originOf }: RecordBatch, index: number): Origin {
  return origins[originOf ? (originOf[index] as number) : 0] as Origin;
}

/** Records `[from, to)`, as they are in memory. */
export function bytesOf(batch: RecordBatch, from: number, to: number): Uint8Array {
  return batch.bytes.subarray(startOf(batch, from), startOf(batch, to));
}

/** Records `[from, to)` as a batch of their own, in the same memory. */
export function sliceBatch(batch: RecordBatch, from: number, to: number): RecordBatch {
  if (from === 0 && to === batch.ends.length) return batch;
  const start = startOf(batch, from);
  return {
    ...batch,
    bytes: bytesOf(batch, from, to),
    ends: start === 0 ? batch.ends.subarray(from, to) : batch.ends.slice(from, to).map((end) => end - start),
    times: batch.times.subarray(from, to),
    offsets: batch.offsets.subarray(from, to),
    originOf: batch.originOf?.subarray(from, to),
  };
}

/** The records for which `isKept` holds, by their index. The same batch if those are all of them. */
export function filterBatch(batch: RecordBatch, isKept: (index: number) => boolean): RecordBatch {
  const kept: number[] = [];
  for (let index = 0; index < batch.ends.length; index++) if (isKept(index)) kept.push(index);
  if (kept.length === batch.ends.length) return batch;
  const parts = kept.map((index) => bytesOf(batch, index, index + 1));
  return {
    ...batch,
    bytes: joinBytes(parts),
    ends: endsOf(parts),
    times: Float64Array.from(kept, (index) => batch.times[index] as number),
    offsets: Float64Array.from(kept, (index) => batch.offsets[index] as number),
    originOf: batch.originOf && Uint16Array.from(kept, (index) => batch.originOf?.[index] as number),
  };
}

/** Batches one after the other as one. */
export function joinBatches(batches: readonly RecordBatch[]): RecordBatch {
  const [only] = batches;
  if (only === undefined) return EMPTY_BATCH;
  if (batches.length === 1) return only;
  const count = batches.reduce((sum, { ends }) => sum + ends.length, 0);
  const joined = {
    type: 'batch' as const,
    bytes: joinBytes(batches.map(({ bytes }) => bytes)),
    ends: new Uint32Array(count),
    times: new Float64Array(count),
    offsets: new Float64Array(count),
    origins: batches.flatMap(({ origins }) => origins),
    originOf: new Uint16Array(count),
  };
  let [at, start, origin] = [0, 0, 0];
  for (const { bytes, ends, times, offsets, origins, originOf } of batches) {
    joined.times.set(times, at);
    joined.offsets.set(offsets, at);
    for (let index = 0; index < ends.length; index++, at++) {
      joined.ends[at] = start + (ends[index] as number);
      joined.originOf[at] = origin + (originOf?.[index] ?? 0);
    }
    start += bytes.length;
    origin += origins.length;
  }
  return joined;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

const QUOTE = 0x22;

/** What is needed of a record to make it part of a batch. */
export interface BatchedRecord {
  readonly type: 'record';
  readonly file: string;
  readonly offset: number;
  readonly timeMs?: number | undefined;
  /** Merged records say where they come from, and their time by the clock of the node that merged them. */
  readonly node?: string;
  readonly atMs?: number | undefined;
}

/** Objects as a batch, each as a line of JSON. */
export function batchOf(records: readonly BatchedRecord[]): RecordBatch {
  if (records.length === 0) return EMPTY_BATCH;
  const lines = records.map((record) => ENCODER.encode(`${exactJson(record)}\n`));
  const origins = new OriginList();
  return {
    type: 'batch',
    bytes: joinBytes(lines),
    ends: endsOf(lines),
    times: Float64Array.from(records, ({ node, atMs, timeMs }) => (node === undefined ? timeMs : atMs) ?? Number.NaN),
    offsets: Float64Array.from(records, ({ offset }) => offset),
    originOf: Uint16Array.from(records, ({ node, file }) => origins.indexOf(file, node)),
    origins: origins.list,
  };
}

/** The origins of a batch as it is made. */
export class OriginList {
  readonly list: Origin[] = [];
  readonly #indexes = new Map<string | undefined, Map<string, number>>();

  indexOf(file: string, node?: string): number {
    // Most batches have few origins, which are faster compared than looked up.
    for (let index = 0; index < this.list.length && index < MAX_COMPARED; index++) {
      const known = this.list[index] as Origin;
      if (known.file === file && known.node === node) return index;
    }
    const files = this.#indexes.get(node) ?? new Map<string, number>();
    this.#indexes.set(node, files);
    const index = files.get(file) ?? this.list.push(node === undefined ? { file } : { node, file }) - 1;
    files.set(file, index);
    return index;
  }
}

const MAX_COMPARED = 4;

/** The records of a batch of JSON lines. */
export function recordsOf<T>({ bytes, ends }: RecordBatch): T[] {
  const text = DECODER.decode(bytes);
  // Line by line: a parser that gets all of them at once holds all of their text twice.
  const records: T[] = [];
  for (let start = 0; records.length < ends.length; ) {
    const end = text.indexOf('\n', start);
    records.push(JSON.parse(text.slice(start, end)) as T);
    start = end + 1;
  }
  return records;
}

/** A stream of batches and its end as objects; the last item of the last list is the end. */
export async function* toItems<T extends { type: string }, End extends { type: string }>(
  batches: AsyncIterable<RecordBatch | End>,
): AsyncGenerator<(T | End)[], void, undefined> {
  for await (const item of batches) yield isBatch(item) ? recordsOf<T>(item) : [item];
}

/** Lists of records, the end being the last item of the last one, as batches and an end. */
export async function* toBatches<T extends BatchedRecord, End extends { type: 'end' }>(
  lists: AsyncIterable<readonly (T | End)[]>,
): AsyncGenerator<RecordBatch | End, void, undefined> {
  for await (const items of lists) {
    const records = items.filter((item): item is T => item.type === 'record');
    const end = items.find((item): item is End => item.type === 'end');
    if (records.length > 0 || end === undefined) yield batchOf(records);
    if (end) yield end;
  }
}

/** A stream of batches and its end as the bytes of lines. */
export async function* toLines<End extends { type: string }>(
  batches: AsyncIterable<RecordBatch | End>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const item of batches) yield isBatch(item) ? item.bytes : ENCODER.encode(`${exactJson(item)}\n`);
}

export function isBatch(item: { type: string }): item is RecordBatch {
  return item.type === 'batch';
}

const CURSOR_KEY = ENCODER.encode(',"cursor":"');

/** The cursor of a record of JSON. Its name with these quotes cannot be inside of a string, and comes before all objects. */
export function cursorAt(batch: RecordBatch, index: number): string {
  const line = bytesOf(batch, index, index + 1);
  const start = indexOfBytes(line, CURSOR_KEY) + CURSOR_KEY.length;
  return DECODER.decode(line.subarray(start, line.indexOf(QUOTE, start)));
}

function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0] as number); at >= 0; at = bytes.indexOf(wanted[0] as number, at + 1)) {
    let same = 1;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  throw new RangeError('a record without a cursor');
}

function endsOf(parts: readonly Uint8Array[]): Uint32Array {
  let end = 0;
  return Uint32Array.from(parts, ({ length }) => (end += length));
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only = NO_BYTES] = parts;
  if (parts.length <= 1) return only;
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
