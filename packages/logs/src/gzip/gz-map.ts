import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LogError, truncated } from '../log-error.ts';
import { type GzResumePoint, GzStream } from './gz-stream.ts';

/** A random read decompresses half of this in vain on average, which takes about 1 ms. */
const SPACING_BYTES = 1024 * 1024;

/** With a window of 32 KiB each, a map takes at most 6 MiB. */
const MAX_CHECKPOINTS = 192;

/** Text decompressed between two checks for cancellation. */
const STEP_BYTES = 256 * 1024;

/** Why only a part of a file can be read. */
interface GzProblem {
  code: 'LOG_FILE_CORRUPT';
  detail: string;
}

/** Checkpoints from which the text of a gzip file can be decompressed. Plain data that threads share without copies. */
export interface GzMap {
  kind: 'checkpoints';
  /** Length of the readable text. */
  textBytes: number;
  problem: GzProblem | null;
  /** Made by `packCheckpoints`. */
  shared: SharedArrayBuffer;
}

export interface BuildGzMapOptions {
  /** Polled before every read and every 256 KiB of text; if true, building throws an AbortError. */
  isCancelled?: () => boolean;
  /** A longer text is mapped up to here, and this is reported as its problem. */
  maxTextBytes?: number;
  /** Text between two checkpoints, until there are too many. */
  spacingBytes?: number;
}

/** Decompresses a gzip file once. Damage is reported in the map of what can be read; throws if reading fails. */
export function buildGzMap(
  fd: number,
  sizeBytes: number,
  {
    isCancelled = () => false,
    maxTextBytes = Number.POSITIVE_INFINITY,
    spacingBytes = SPACING_BYTES,
  }: BuildGzMapOptions = {},
): GzMap {
  const goOnOrThrow = () => {
    if (isCancelled()) throw new DOMException('unpacking was cancelled', 'AbortError');
  };
  const stream = new GzStream(fd, sizeBytes, { beforeRead: goOnOrThrow });
  const checkpoints = new SpacedCheckpoints(spacingBytes);
  do {
    goOnOrThrow();
    checkpoints.noteWhenDue(stream);
  } while (stream.textAt <= maxTextBytes && stream.step(Math.min(STEP_BYTES, checkpoints.dueIn(stream.textAt))));
  const textBytes = Math.min(stream.textAt, maxTextBytes);
  const faults = [
    stream.mismatch,
    stream.textAt > maxTextBytes
      ? `the text is longer than ${maxTextBytes} bytes; the rest is ignored`
      : stream.fault?.detail,
  ].filter((detail) => detail !== undefined);
  return {
    kind: 'checkpoints',
    textBytes,
    problem: faults.length > 0 ? { code: 'LOG_FILE_CORRUPT', detail: faults.join('; ') } : null,
    shared: packCheckpoints(checkpoints.all),
  };
}

/** Checkpoints at about even distances, which grow with the text so that their number is bounded. */
class SpacedCheckpoints {
  all: Checkpoint[] = [];
  #spacingBytes: number;
  #dueAt = 0;

  constructor(spacingBytes: number) {
    this.#spacingBytes = spacingBytes;
  }

  /** Text up to the next checkpoint; at least 1. */
  dueIn(textAt: number): number {
    return Math.max(this.#dueAt - textAt, 1);
  }

  noteWhenDue(stream: GzStream): void {
    const { resumePoint } = stream;
    if (stream.textAt < this.#dueAt || resumePoint === undefined) return;
    this.all.push({ ...resumePoint, window: stream.copyWindow() });
    if (this.all.length > MAX_CHECKPOINTS) {
      this.all = this.all.filter((_, index) => index % 2 === 0);
      this.#spacingBytes *= 2;
    }
    this.#dueAt = (this.all.at(-1)?.textAt ?? 0) + this.#spacingBytes;
  }
}

/** A resume point and the window that matches after it may refer to. */
interface Checkpoint extends GzResumePoint {
  window: Uint8Array;
}

/*
 * How checkpoints are packed: their number, then one row of numbers each, then the windows. A window of log text
 * deflates to a quarter of its size or less, which is worth a third of a millisecond per window.
 */
const HEAD_NUMBERS = 1;
const ROW_NUMBERS = 5;
const NUMBER_BYTES = 8;

function packCheckpoints(checkpoints: readonly Checkpoint[]): SharedArrayBuffer {
  const windows = checkpoints.map(({ window }) => (window.length > 0 ? deflateRawSync(window, { level: 1 }) : window));
  const numbers = HEAD_NUMBERS + checkpoints.length * ROW_NUMBERS;
  let windowAt = numbers * NUMBER_BYTES;
  const shared = new SharedArrayBuffer(windows.reduce((sum, { length }) => sum + length, windowAt));
  const table = new Float64Array(shared, 0, numbers);
  const bytes = Buffer.from(shared);
  table[0] = checkpoints.length;
  for (const [row, { textAt, bitAt, blockAt }] of checkpoints.entries()) {
    const window = windows[row] ?? new Uint8Array();
    table.set([textAt, bitAt, blockAt, windowAt, window.length], HEAD_NUMBERS + row * ROW_NUMBERS);
    bytes.set(window, windowAt);
    windowAt += window.length;
  }
  return shared;
}

/** The packed checkpoints of a map. */
export class PackedCheckpoints {
  readonly #shared: SharedArrayBuffer;
  readonly #table: Float64Array;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = shared;
    const count = new Float64Array(shared, 0, HEAD_NUMBERS)[0] ?? 0;
    this.#table = new Float64Array(shared, 0, HEAD_NUMBERS + count * ROW_NUMBERS);
  }

  get count(): number {
    return this.#table[0] ?? 0;
  }

  /** The index of the last checkpoint at or before a text offset. The first one is at its start. */
  indexBefore(textAt: number): number {
    let low = 0;
    let high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.textAt(middle) <= textAt) low = middle;
      else high = middle;
    }
    return low;
  }

  textAt(index: number): number {
    return this.#number(index, 0);
  }

  at(index: number): Checkpoint {
    const packed = Buffer.from(this.#shared, this.#number(index, 3), this.#number(index, 4));
    return {
      textAt: this.textAt(index),
      bitAt: this.#number(index, 1),
      blockAt: this.#number(index, 2),
      window: packed.length > 0 ? inflateRawSync(packed) : packed,
    };
  }

  #number(index: number, column: number): number {
    return this.#table[HEAD_NUMBERS + index * ROW_NUMBERS + column] ?? 0;
  }
}

/** Small sequential reads are served from the text available after one step of this size. */
const LEAST_STEP_BYTES = 32 * 1024;

/** Text that is kept behind a checkpoint: all that is between two, unless the text is longer than 1.5 GiB. */
const SPAN_BYTES = 8 * 1024 * 1024;

/** Text before a position, in memory that is used for one file after the other. */
interface Span {
  owner: GzText | undefined;
  bytes: Buffer;
  from: number;
  end: number;
}

/** That of the last file, unless it was collected. A thread reads one file at a time; another one takes it over. */
let spare: WeakRef<Span> | undefined;

function takeSpan(): Span {
  const span = spare?.deref() ?? { owner: undefined, bytes: Buffer.allocUnsafeSlow(SPAN_BYTES), from: 0, end: 0 };
  if (spare?.deref() !== span) spare = new WeakRef(span);
  span.owner = undefined;
  return span;
}

interface GzTextOptions {
  /** The name of the file in errors. */
  name?: string;
}

/** The text of a gzip file, readable at any offset by means of its map. The caller owns the descriptor. */
export class GzText {
  readonly sizeBytes: number;
  readonly #stream: GzStream;
  readonly #checkpoints: PackedCheckpoints;
  readonly #name: string;
  #span: Span | undefined;

  /** `sizeBytes` is the size of the compressed file when the map was built. */
  constructor(fd: number, sizeBytes: number, map: GzMap, { name = '.gz' }: GzTextOptions = {}) {
    this.sizeBytes = map.textBytes;
    this.#stream = new GzStream(fd, sizeBytes);
    this.#checkpoints = new PackedCheckpoints(map.shared);
    this.#name = name;
  }

  /**
   * Copies text `[position, position + length)` to `target` at `at`. Returns the number of bytes, fewer only at the end
   * of the text.
   */
  read(target: Buffer, at: number, position: number, length: number): number {
    const end = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (position >= end) return 0;
    const span = this.#spanFor(position, end);
    if (span) return span.bytes.copy(target, at, position - span.from, end - span.from);
    return this.#inflate(end, position, (from, to) => {
      this.#stream.copyText(target, at + from - position, from, to);
    });
  }

  /** What is kept of the text, if it is in there, or if a checkpoint leads to it sooner than the current position. */
  #spanFor(position: number, end: number): Span | undefined {
    const stream = this.#stream;
    if (position >= stream.textFrom && end <= stream.textAt) return undefined;
    const kept = this.#span;
    if (kept?.owner === this && position >= kept.from && end <= kept.end) return kept;
    const index = this.#checkpoints.indexBefore(position);
    const { textFrom, textAt } = stream;
    const isNearer = position < textFrom || (position > textAt && this.#checkpoints.textAt(index) > textAt);
    if (!isNearer && !stream.isStopped) return undefined;
    const { window, ...resumePoint } = this.#checkpoints.at(index);
    if (!stream.restore(resumePoint, window)) throw this.#changed();
    if (end - position > SPAN_BYTES) return undefined;
    return this.#fillSpan(Math.max(resumePoint.textAt, end - SPAN_BYTES), end);
  }

  /** Who reads backwards needs what precedes a position next: it is not decompressed again for each part. */
  #fillSpan(from: number, end: number): Span {
    const span = takeSpan();
    this.#inflate(end, from, (start, stop) => {
      this.#stream.copyText(span.bytes, start - from, start, stop);
    });
    this.#span = Object.assign(span, { owner: this, from, end });
    return span;
  }

  /** Decompresses up to `end`, and takes the text from `start` on in parts. Returns how much that is. */
  #inflate(end: number, start: number, take: (from: number, to: number) => void): number {
    const stream = this.#stream;
    for (let taken = start; ; ) {
      const to = Math.min(stream.textAt, end);
      if (to > taken) take(taken, to);
      taken = Math.max(taken, to);
      if (taken >= end) return end - start;
      const goesOn = stream.step(Math.max(end - stream.textAt, LEAST_STEP_BYTES));
      if (!goesOn && stream.textAt < end) throw this.#changed();
    }
  }

  /** The map was built from the same file, so a fault means the file changed afterwards. */
  #changed(): LogError {
    const { fault } = this.#stream;
    if (fault === undefined || fault.kind === 'cut') return truncated(this.#name);
    return new LogError('LOG_FILE_CORRUPT', `${JSON.stringify(this.#name)} changed while it was read: ${fault.detail}`);
  }
}
