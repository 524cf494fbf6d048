import { OriginList, type RecordBatch, startOf } from '../record-batch.ts';
import { READS_BEYOND, RECORD_TEXTS, writeTexts } from './line-texts.ts';
import { WASM_BASE64 } from './lines-wasm.ts';
import { loadWasm } from './load-wasm.ts';

interface Exports {
  scanLines(length: number, most: number): number;
  mergeLines(count: number, base: number, startLength: number, offsetMs: number): number;
  mergedBytes(): number;
}

/** What the lines of a member start with in a merge. */
export interface MergedStart {
  /** Up to the time. */
  start: Uint8Array;
  /** How far the clock of the member is ahead. */
  offsetMs: number;
}

const FILE_START = '{"type":"record","file":"'.length;

const DECODER = new TextDecoder();

/**
 * Scans lines of JSON that are records as nodes write them: each field known, valid, and in its place. What it does not
 * recognize may still be a record, for the caller to decode. It tests ten times as many bytes as a loop here would.
 */
export class LineKernel {
  static #shared: LineKernel | undefined;
  readonly #exports: Exports;
  readonly #ends: Uint32Array;
  readonly #fileEnds: Uint32Array;
  readonly #offsets: Float64Array;
  readonly #times: Float64Array;
  readonly #lines: Uint8Array;
  readonly #mostBytes: number;
  readonly #start: Uint8Array;
  readonly #output: Uint8Array;
  /** The name of the file of the line before: most lines have the same one. */
  #file = '';
  #fileBytes: Uint8Array = new Uint8Array(0);

  constructor() {
    const { buffer, exports, constant: at } = loadWasm(WASM_BASE64);
    this.#exports = exports as unknown as Exports;
    const most = at('MAX_LINES');
    this.#ends = new Uint32Array(buffer, at('LINE_ENDS'), most);
    this.#fileEnds = new Uint32Array(buffer, at('FILE_ENDS'), most);
    this.#offsets = new Float64Array(buffer, at('OFFSETS'), most);
    this.#times = new Float64Array(buffer, at('TIMES'), most);
    this.#mostBytes = at('LINES_BYTES');
    this.#lines = new Uint8Array(buffer, at('LINES'), this.#mostBytes + READS_BEYOND);
    this.#start = new Uint8Array(buffer, at('START'), at('START_BYTES'));
    this.#output = new Uint8Array(buffer, at('OUTPUT'), at('OUTPUT_BYTES'));
    writeTexts(buffer, RECORD_TEXTS, at);
  }

  /** One for all: a call leaves nothing behind that the next one uses. */
  static get shared(): LineKernel {
    LineKernel.#shared ??= new LineKernel();
    return LineKernel.#shared;
  }

  /**
   * The lines at the start of the bytes from `from` on that are recognized: at most `most`, and some hundred KiB.
   * `undefined` if the first one is not. The batch is in the memory of the bytes.
   */
  scan(bytes: Uint8Array, from = 0, most = Infinity): RecordBatch | undefined {
    const length = Math.min(bytes.length - from, this.#mostBytes);
    this.#lines.set(bytes.subarray(from, from + length));
    this.#lines.fill(0, length, length + READS_BEYOND);
    const count = this.#exports.scanLines(length, Math.min(most, this.#ends.length));
    if (count === 0) return undefined;
    const ends = this.#ends.slice(0, count);
    return {
      type: 'batch',
      bytes: bytes.subarray(from, from + (ends[count - 1] as number)),
      ends,
      times: this.#times.slice(0, count),
      offsets: this.#offsets.slice(0, count),
      ...this.#origins(count),
    };
  }

  /**
   * Copies records `[from, to)` of a batch to `target` as lines of a merge: each starts with `start` and its time by another
   * clock. Ends before a line whose time is missing or not simply digits, and where its memory does; returns how many it has
   * copied, and their bytes.
   */
  merge(
    batch: RecordBatch,
    [from, to]: readonly [number, number],
    { start, offsetMs }: MergedStart,
    target: Uint8Array,
    at: number,
  ): { count: number; bytes: number } {
    if (start.length > this.#start.length) return NOTHING_MERGED;
    const base = startOf(batch, from);
    let last = Math.min(to, from + this.#ends.length);
    while (last > from && startOf(batch, last) - base > this.#mostBytes) last = from + ((last - from) >> 1);
    if (last === from) return NOTHING_MERGED;
    this.#start.set(start);
    this.#lines.set(batch.bytes.subarray(base, startOf(batch, last)));
    this.#ends.set(batch.ends.subarray(from, last));
    this.#times.set(batch.times.subarray(from, last));
    const count = this.#exports.mergeLines(last - from, base, start.length, offsetMs);
    const written = this.#exports.mergedBytes();
    target.set(this.#output.subarray(0, written), at);
    return { count, bytes: written };
  }

  #origins(count: number): Pick<RecordBatch, 'origins' | 'originOf'> {
    const origins = new OriginList();
    const originOf = new Uint16Array(count);
    for (let index = 0, start = 0; index < count; index++) {
      originOf[index] = origins.indexOf(this.#fileName(start + FILE_START, this.#fileEnds[index] as number));
      start = this.#ends[index] as number;
    }
    return origins.list.length === 1 ? { origins: origins.list } : { origins: origins.list, originOf };
  }

  /** Names that are recognized have no escapes. */
  #fileName(start: number, end: number): string {
    const known = this.#fileBytes;
    let same = 0;
    if (end - start === known.length) while (same < known.length && this.#lines[start + same] === known[same]) same++;
    if (same < known.length || end - start !== known.length) {
      this.#fileBytes = this.#lines.slice(start, end);
      this.#file = DECODER.decode(this.#fileBytes);
    }
    return this.#file;
  }
}

const NOTHING_MERGED = { count: 0, bytes: 0 };
