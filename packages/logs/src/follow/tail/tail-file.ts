import type { BigIntStats } from 'node:fs';
import { HEAD_BYTES } from '../../cursor/cursor.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { countNuls, findTextStart, maskStart } from '../../file/read-range.ts';
import type { LentChunk, SharedReads } from '../../file/shared-reads.ts';
import { readFd, statFd } from '../../fs-calls.ts';
import { decodeUtf16, detectUtf16, readEncoding, type Utf16, Utf16Decoder } from '../../packed/utf16.ts';
import { BUILT_IN_FORMATS, type FormatSet } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { RecordEntry } from '../ring/ring-entry.ts';
import type { FirstPosition } from './family-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { findUtf16End, TailText } from './tail-text.ts';

/** Size of one read. Larger ones would delay other logs, and the bytes stay in memory while the ring holds them. */
export const READ_BYTES = 256 * 1024;

/** Bytes before the position that every read compares: they differ if the file was truncated and has grown again. */
export const BEFORE_BYTES = 64;

/** The format is detected from this much of the file's start; a shorter file is sampled again when it has grown. */
export const SAMPLE_BYTES = 64 * 1024;

/** Growth factor after which the format is detected again. Detecting it in 64 KiB takes milliseconds. */
const SAMPLE_STEP = 16;

/** The same while no timestamp was found, as a follow of all logs waits for the first. Some hundred times in all. */
const UNTIMED_STEP = 1.1;

/** Formats without a year take it from the time of detection, and a file may be written to for years. */
const FORMAT_MS = 24 * 3_600_000;

export interface TailFileOptions extends AssemblerTimes {
  zone: Zone;
  /** Lends the memory for what is only looked at. */
  reads: SharedReads;
  formats?: FormatSet | undefined;
  /** The current masking of secrets. */
  scrubber(): Scrubber | undefined;
  /** Format of the previous file of the log, and when it was detected: reused if it fits this file, too. */
  format?: Format | undefined;
  formatMs?: number | undefined;
  /** Counts the reads, because their number per append is guaranteed. */
  onRead?(): void;
}

export interface ReadStep {
  entries: RecordEntry[];
  /** The bytes before the position have changed: the file was truncated. */
  truncated: boolean;
  /** Bytes read. */
  bytes: number;
}

/** An open file that is read as it grows. The identity of the open file never changes; its name may. */
export class TailFile {
  handle: LogHandle;
  readonly id: string;
  #options: TailFileOptions;
  text: TailText;
  /** Modification time when it was last read to its end. */
  quietNs = -1n;
  /** When it stopped being the live file. */
  rotatedMs = 0;
  /** When the format was detected. */
  formatMs: number;
  #before: Buffer = Buffer.alloc(0);
  #sampleBytes = 0;
  #expected: Buffer = Buffer.alloc(0);
  #utf16: { encoding: Utf16; decoder: Utf16Decoder; position: number } | undefined;
  /** It was truncated or empty when the follow began, and nothing of the new text was read. */
  isRestarted = false;

  private constructor(handle: LogHandle, id: string, options: TailFileOptions) {
    this.handle = handle;
    this.id = id;
    this.#options = options;
    this.formatMs = options.formatMs ?? performance.now();
    this.text = this.#emptyText(options.format);
  }

  /** Takes ownership of the handle. Reads from the start, or from the start of the last line it has, or had at a size. */
  static async open(handle: LogHandle, from: FirstPosition, options: TailFileOptions): Promise<TailFile> {
    const file = new TailFile(handle, await readFileId(handle), options);
    const size = from === 'start' ? 0 : from === 'end' ? handle.sizeBytes : from;
    // One that is smaller by now was truncated: all of it is new.
    if (size > 0 && size <= handle.sizeBytes) await file.#skipToEnd(size);
    // What is written to an empty file may be copied and truncated before any of it is read.
    file.isRestarted = from !== 'start' && file.text.isUnread;
    return file;
  }

  get name(): string {
    return this.text.name;
  }

  /** Offset in the file of the next byte to read. In UTF-16 it is not that of the text, which is in UTF-8. */
  get position(): number {
    return this.#utf16?.position ?? this.text.position;
  }

  /** Whether these are its stats, and are those it had when it was last read to its end. */
  isAtRest({ dev, ino, size, mtimeNs }: BigIntStats): boolean {
    const isSame = this.handle.ino === ino && this.handle.dev === dev;
    return isSame && mtimeNs === this.quietNs && Number(size) === this.position;
  }

  get before(): Buffer {
    return this.#before;
  }

  /** Reads one chunk before `end`, the size of the file when it was last polled. */
  async readNext(end: number): Promise<ReadStep> {
    const { position } = this;
    const checked = this.#before.length;
    const wanted = Math.min(READ_BYTES, Math.max(end - position, 0));
    const buffer = Buffer.allocUnsafeSlow(checked + wanted);
    this.#options.onRead?.();
    const got = await readFd(this.handle.fd, buffer, { position: position - checked, length: buffer.length });
    const data = buffer.subarray(Math.min(checked, got), got);
    const isOther = this.text.isUnread && !startsWith(data, this.#expected);
    if (isOther || !buffer.subarray(0, Math.min(checked, got)).equals(this.#before)) return TRUNCATED;
    // A file truncated during the read ends early, or has a hole where its text was.
    const isDoubtful = got < buffer.length || data.includes(0);
    if (isDoubtful && !(await this.#hasBefore(position))) return TRUNCATED;
    if (data.length === 0) return { entries: [], truncated: false, bytes: 0 };
    if (position === 0) this.#startUtf16(detectUtf16(data));
    await this.#learnFormat(position + data.length, position === this.text.start ? data : undefined);
    const entries = this.push(data);
    // Within a hole at the start of the text there is nothing to compare.
    if (!this.text.isUnread || this.#utf16)
      this.#before = Buffer.from(buffer.subarray(Math.max(0, got - BEFORE_BYTES), got));
    return { entries, truncated: false, bytes: data.length };
  }

  /** Continues with these bytes of the file, or of a copy of it. */
  push(data: Buffer): RecordEntry[] {
    if (!this.#utf16) return this.text.push(data, performance.now());
    this.#utf16.position += data.length;
    return this.text.push(this.#utf16.decoder.write(data), performance.now());
  }

  #startUtf16(encoding: Utf16 | undefined, position = 0): void {
    const isStart = position === 0;
    this.#utf16 = encoding && { encoding, decoder: new Utf16Decoder(encoding, { isStart }), position };
  }

  /** Whether the bytes before the position are unchanged. */
  async #hasBefore(position: number): Promise<boolean> {
    const { length } = this.#before;
    const bytes = Buffer.alloc(length);
    const got = await readFd(this.handle.fd, bytes, { position: position - length, length });
    return got === length && bytes.equals(this.#before);
  }

  /** The file was truncated: starts again with its new text. */
  restart(): void {
    const { name, format } = this.text;
    this.#options = { ...this.#options, format };
    this.text = this.#emptyText(format);
    this.text.name = name;
    this.#before = Buffer.alloc(0);
    this.#sampleBytes = 0;
    this.quietNs = -1n;
    this.#expected = Buffer.alloc(0);
    this.#utf16 = undefined;
    this.isRestarted = true;
  }

  /** Remembers how the text starts; it is read only if it still starts like that. Returns whether there is any text. */
  async expectStart(): Promise<boolean> {
    const { fd } = this.handle;
    const textStart = await findTextStart(fd, Number((await statFd(fd)).size));
    const start = Buffer.alloc(BEFORE_BYTES);
    const got = await readFd(fd, start, { position: textStart, length: start.length });
    this.#expected = start.subarray(0, got);
    this.isRestarted = got === 0;
    if (got > 0) this.text.skipTo(textStart);
    return got > 0;
  }

  #emptyText(format?: Format): TailText {
    const { handle } = this;
    const known = format ?? this.#detect(Buffer.alloc(0));
    const start = { name: handle.name, offset: 0, head: Buffer.alloc(0), format: known };
    return new TailText({ ...start, ...textOptions(this.#options) });
  }

  async #skipToEnd(sizeBytes: number): Promise<void> {
    const encoding = await readEncoding(this.handle);
    if (encoding) return this.#skipUtf16(sizeBytes, encoding);
    const from = Math.max(0, sizeBytes - SAMPLE_BYTES);
    const ending = await this.#lend(from, sizeBytes);
    try {
      const { bytes } = ending;
      // It was truncated just now and has a hole where its end was: all of its new text is still to come.
      if (bytes.at(-1) === 0) return;
      // An incomplete last line is not skipped: it is emitted when it is complete.
      const lineStart = bytes.lastIndexOf(10) + 1;
      const position = lineStart === 0 && from > 0 ? from + bytes.length : from + lineStart;
      const before = bytes.subarray(0, position - from);
      if (from === 0 && before[0] !== 0) return this.#beginAt(position, { before, sample: before, headFrom: 0 });
      const headFrom = await this.#findStart(position);
      const start = await this.#lend(headFrom, position);
      try {
        this.#beginAt(position, { before, sample: start.bytes, headFrom });
      } finally {
        start.release();
      }
    } finally {
      ending.release();
    }
  }

  /** Begins behind these bytes; `sample` is the start of the text. Both are copied as far as they are needed. */
  #beginAt(offset: number, { before, sample, headFrom }: { before: Buffer; sample: Buffer; headFrom: number }): void {
    const scrubber = this.#options.scrubber();
    const format = this.#detect(sample);
    const head = maskStart(
      Buffer.from(sample.subarray(0, HEAD_BYTES + (scrubber?.rightBytes ?? 0))),
      HEAD_BYTES,
      scrubber,
    );
    const start = { name: this.handle.name, offset, format, before, head, headFrom };
    this.text = new TailText({ ...start, ...textOptions(this.#options) });
    this.text.firstTimeMs = findFirstTime(sample, format);
    this.#sampleBytes = sample.length;
    this.#before = Buffer.from(before.subarray(-BEFORE_BYTES));
  }

  /** All of it is transcoded to know the offset in the text. */
  async #skipUtf16(sizeBytes: number, encoding: Utf16): Promise<void> {
    const { decoder, ...end } = await findUtf16End(this.handle, sizeBytes, {
      encoding,
      sampleBytes: SAMPLE_BYTES,
      beforeBytes: BEFORE_BYTES,
    });
    const format = this.#detect(end.sample);
    const head = maskStart(Buffer.from(end.sample), HEAD_BYTES, this.#options.scrubber());
    const start = { name: this.handle.name, offset: end.textBytes, format, before: end.before, head };
    this.text = new TailText({ ...start, ...textOptions(this.#options) });
    this.text.firstTimeMs = findFirstTime(end.sample, format);
    this.#sampleBytes = end.sample.length;
    this.#utf16 = { encoding, decoder, position: end.position };
    this.#before = end.rawBefore;
  }

  /** As much of the file as is sampled, in memory that is reused: thousands of logs may be opened at once. */
  #lend(position: number, end: number): Promise<LentChunk> {
    const most = Math.min(SAMPLE_BYTES, end - position);
    return this.#options.reads.read(this.handle.fd, position, most, { packed: true });
  }

  /** Where the text starts, which identifies its format and the file: after a hole, if it starts with one. */
  async #findStart(end: number): Promise<number> {
    const first = Buffer.alloc(1);
    const got = await readFd(this.handle.fd, first, { position: 0, length: 1 });
    return got === 1 && first[0] === 0 ? findTextStart(this.handle.fd, end) : 0;
  }

  /** Detects the format from the file's start, and again when it has grown much or the year may have changed. */
  async #learnFormat(end: number, start: Buffer | undefined): Promise<void> {
    const nowMs = performance.now();
    const isOld = nowMs - this.formatMs > FORMAT_MS;
    const step = this.text.format.timed ? SAMPLE_STEP : UNTIMED_STEP;
    if (!isOld && (this.#sampleBytes >= SAMPLE_BYTES || end < this.#sampleBytes * step)) return;
    const position = this.#utf16 ? 0 : this.text.start;
    const length = Math.min(end - position, SAMPLE_BYTES);
    let sample = start?.subarray(0, length);
    if (!sample || sample.length < length) {
      sample = Buffer.alloc(length);
      const got = await readFd(this.handle.fd, sample, { position, length });
      sample = sample.subarray(0, got);
    }
    if (this.#utf16) sample = decodeUtf16(sample, this.#utf16.encoding);
    // After a hole; as long as there is only a hole, nothing can be detected.
    sample = sample.subarray(countNuls(sample));
    if (sample.length === 0) return;
    const { format: expected } = this.#options;
    if (!isOld && expected && findFirstTime(sample, expected) !== undefined) {
      this.#sampleBytes = SAMPLE_BYTES;
      this.text.format = expected;
      return;
    }
    this.#sampleBytes = Math.max(sample.length, 1);
    this.formatMs = nowMs;
    this.text.format = this.#detect(sample);
  }

  #detect(sample: Buffer): Format {
    const { zone, formats = BUILT_IN_FORMATS } = this.#options;
    return formats.detect(sample, { zone, writtenMs: Date.now() }); // clock: the year of timestamps that have none
  }
}

const TRUNCATED: ReadStep = { entries: [], truncated: true, bytes: 0 };

function startsWith(data: Buffer, start: Buffer): boolean {
  return data.subarray(0, start.length).equals(start);
}

function textOptions({
  holdMs,
  idleMs,
  scrubber,
}: TailFileOptions): AssemblerTimes & Pick<TailFileOptions, 'scrubber'> {
  return { holdMs, idleMs, scrubber };
}

/** Time of the first record in the sample that has one. */
export function findFirstTime(sample: Buffer, format: Format): number | undefined {
  const head = { timeMs: Number.NaN, rank: 0 };
  let start = 0;
  for (let newline = sample.indexOf(10); newline >= 0; newline = sample.indexOf(10, start)) {
    if (format.readHead(sample, start, newline + 1, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
    start = newline + 1;
  }
  return undefined;
}

/** Identifies a file while it is open: no other file can get its inode number until it is closed. */
export async function readFileId(handle: LogHandle): Promise<string> {
  const { dev, ino } = await statFd(handle.fd);
  return `${dev}:${ino}`;
}
