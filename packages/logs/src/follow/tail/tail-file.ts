import { HEAD_BYTES } from '../../cursor/cursor.ts';
import { readFd, statFd } from '../../file/fs-calls.ts';
import type { LogHandle } from '../../file/log-handle.ts';
import { countNuls, findTextStart, maskStart } from '../../file/read-start.ts';
import { detectFormat } from '../../parse/detect-format.ts';
import type { Format } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { RecordEntry } from '../ring/ring-entry.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { TailText } from './tail-text.ts';

/** One read. More at once would hold up other logs, and what is read stays in memory while the ring holds it. */
export const READ_BYTES = 256 * 1024;

/** Bytes before the position that every read compares: they differ when the file was cut and has grown again. */
export const BEFORE_BYTES = 64;

/** The format is told by the start of the file; what is less than this is looked at again when there is more. */
export const SAMPLE_BYTES = 64 * 1024;

/** It is looked at again when there is so much more. Telling the format of 64 KiB takes milliseconds. */
const SAMPLE_STEP = 16;

/** The same while no timestamps are known: a follow of all logs waits for the first. Some hundred times in all. */
const UNTIMED_STEP = 1.1;

/** Formats without a year take it from when they were told; a file may be written to for years. */
const FORMAT_MS = 24 * 3_600_000;

export interface TailFileOptions extends AssemblerTimes {
  zone: Zone;
  /** What masks secrets at the moment. */
  scrubber(): Scrubber | undefined;
  /** Of the file before it in the same log, and when it was told: taken over if it can read this one, too. */
  format?: Format | undefined;
  formatMs?: number | undefined;
  /** Counts the reads: how many an append costs is promised. */
  onRead?(): void;
}

export interface ReadStep {
  entries: RecordEntry[];
  /** The bytes before the position are not what they were: the file was cut. */
  truncated: boolean;
  /** Bytes read on. */
  bytes: number;
}

/** An open file that is being read on. The identity of what it has open never changes; its name may. */
export class TailFile {
  handle: LogHandle;
  readonly id: string;
  #options: TailFileOptions;
  text: TailText;
  /** Modification time at the last look that found nothing new. */
  quietNs = -1n;
  /** When it stopped being the live file. */
  rotatedMs = 0;
  /** When the format was told. */
  formatMs: number;
  #before: Buffer = Buffer.alloc(0);
  #sampleBytes = 0;
  #expected: Buffer = Buffer.alloc(0);
  /** Its text has begun anew, and nothing of it was looked at. */
  isRestarted = false;

  private constructor(handle: LogHandle, id: string, options: TailFileOptions) {
    this.handle = handle;
    this.id = id;
    this.#options = options;
    this.formatMs = options.formatMs ?? performance.now();
    this.text = this.#emptyText(options.format);
  }

  /** Takes the handle over. From its start, or from the start of its last line. */
  static async open(handle: LogHandle, from: 'start' | 'end', options: TailFileOptions): Promise<TailFile> {
    const file = new TailFile(handle, await readFileId(handle), options);
    if (from === 'end' && handle.sizeBytes > 0) await file.#skipToEnd(handle.sizeBytes);
    return file;
  }

  get name(): string {
    return this.text.name;
  }

  get position(): number {
    return this.text.position;
  }

  get before(): Buffer {
    return this.#before;
  }

  /** Reads one chunk of what stands before `end`, which is the file's size at a look. */
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
    // Truncated while it was read, a file ends early, or has a hole where its text was.
    const isDoubtful = got < buffer.length || data.includes(0);
    if (isDoubtful && !(await this.#hasBefore(position))) return TRUNCATED;
    if (data.length === 0) return { entries: [], truncated: false, bytes: 0 };
    await this.#learnFormat(position + data.length, position === this.text.start ? data : undefined);
    const entries = this.text.push(data, performance.now());
    // Before a text that begins with a hole there is nothing to compare.
    if (!this.text.isUnread) this.#before = Buffer.from(buffer.subarray(Math.max(0, got - BEFORE_BYTES), got));
    return { entries, truncated: false, bytes: data.length };
  }

  /** Whether what stands before the position is still there. */
  async #hasBefore(position: number): Promise<boolean> {
    const { length } = this.#before;
    const bytes = Buffer.alloc(length);
    const got = await readFd(this.handle.fd, bytes, { position: position - length, length });
    return got === length && bytes.equals(this.#before);
  }

  /** The file was cut: its text begins anew. */
  restart(): void {
    const { name, format } = this.text;
    this.#options = { ...this.#options, format };
    this.text = this.#emptyText(format);
    this.text.name = name;
    this.#before = Buffer.alloc(0);
    this.#sampleBytes = 0;
    this.quietNs = -1n;
    this.#expected = Buffer.alloc(0);
    this.isRestarted = true;
  }

  /** Remembers how the text begins now: it is read only if it still does. Whether it has begun. */
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
    const { zone } = this.#options;
    const known = format ?? detectFormat(Buffer.alloc(0), { zone, writtenMs: Date.now() });
    const start = { name: handle.name, offset: 0, head: Buffer.alloc(0), format: known };
    return new TailText({ ...start, ...textOptions(this.#options) });
  }

  async #skipToEnd(sizeBytes: number): Promise<void> {
    const { fd } = this.handle;
    const ending = Buffer.alloc(Math.min(SAMPLE_BYTES, sizeBytes));
    const from = sizeBytes - ending.length;
    const got = await readFd(fd, ending, { position: from, length: ending.length });
    // It was truncated just now, and there is a hole where its end was: all of its new text is still to come.
    if (ending[got - 1] === 0) return;
    // A last line without end is not passed over: it will be told when it is whole.
    const lineStart = ending.subarray(0, got).lastIndexOf(10) + 1;
    const position = lineStart === 0 && from > 0 ? from + got : from + lineStart;
    const { sample, headFrom } = await this.#readSample(position);
    const scrubber = this.#options.scrubber();
    const format = detectFormat(sample, { zone: this.#options.zone, writtenMs: Date.now() });
    const firstTimeMs = findFirstTime(sample, format);
    this.#sampleBytes = sample.length;
    const before = ending.subarray(0, position - from);
    const head = maskStart(sample, HEAD_BYTES, scrubber);
    const start = { name: this.handle.name, offset: position, format, before, head, headFrom };
    this.text = new TailText({ ...start, ...textOptions(this.#options) });
    this.text.firstTimeMs = firstTimeMs;
    this.#before = Buffer.from(before.subarray(-BEFORE_BYTES));
  }

  /** The start of the text, by which its format and the file are known, and where it stands: behind a hole. */
  async #readSample(end: number): Promise<{ sample: Buffer; headFrom: number }> {
    const read = async (position: number) => {
      const bytes = Buffer.alloc(Math.min(SAMPLE_BYTES, end - position));
      return bytes.subarray(0, await readFd(this.handle.fd, bytes, { position, length: bytes.length }));
    };
    const sample = await read(0);
    if (sample[0] !== 0) return { sample, headFrom: 0 };
    const headFrom = await findTextStart(this.handle.fd, end);
    return { sample: await read(headFrom), headFrom };
  }

  /** The format by the file's start, again when there is much more of it, and when the year may be another. */
  async #learnFormat(end: number, start: Buffer | undefined): Promise<void> {
    const nowMs = performance.now();
    const isOld = nowMs - this.formatMs > FORMAT_MS;
    const step = this.text.format.timed ? SAMPLE_STEP : UNTIMED_STEP;
    if (!isOld && (this.#sampleBytes >= SAMPLE_BYTES || end < this.#sampleBytes * step)) return;
    const position = this.text.start;
    const length = Math.min(end - position, SAMPLE_BYTES);
    let sample = start?.subarray(0, length);
    if (!sample || sample.length < length) {
      sample = Buffer.alloc(length);
      const got = await readFd(this.handle.fd, sample, { position, length });
      sample = sample.subarray(0, got);
    }
    // Behind a hole; as long as there is nothing but a hole, nothing is known.
    sample = sample.subarray(countNuls(sample));
    if (sample.length === 0) return;
    const { zone, format: expected } = this.#options;
    if (!isOld && expected && findFirstTime(sample, expected) !== undefined) {
      this.#sampleBytes = SAMPLE_BYTES;
      this.text.format = expected;
      return;
    }
    this.#sampleBytes = Math.max(sample.length, 1);
    this.formatMs = nowMs;
    this.text.format = detectFormat(sample, { zone, writtenMs: Date.now() });
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

/** Time of the first record that has one, as far as the sample goes. */
export function findFirstTime(sample: Buffer, format: Format): number | undefined {
  const head = { timeMs: Number.NaN, rank: 0 };
  let start = 0;
  for (let newline = sample.indexOf(10); newline >= 0; newline = sample.indexOf(10, start)) {
    if (format.readHead(sample, start, newline + 1, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
    start = newline + 1;
  }
  return undefined;
}

/** Names a file as long as it exists: while we have it open, no other can be given its number. */
export async function readFileId(handle: LogHandle): Promise<string> {
  const { dev, ino } = await statFd(handle.fd);
  return `${dev}:${ino}`;
}
