import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { countNuls } from '../../file/read-range.ts';
import { readFd } from '../../fs-calls.ts';
import { type Utf16, Utf16Decoder } from '../../packed/utf16.ts';
import type { Format } from '../../parse/format.ts';
import { ScrubFeed } from '../../scrub/scrub-feed.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { CursorMaker, type EntrySource, type Piece, RecordEntry, type SourceRef } from '../ring/ring-entry.ts';
import { type AssemblerTimes, IDLE_MS, RecordAssembler } from './record-assembler.ts';

interface TailTextOptions extends AssemblerTimes {
  name: string;
  /** Offset of the first byte to be pushed. */
  offset: number;
  /** The first bytes of the text as far as known; the rest of them is taken from what is pushed. */
  head: Buffer;
  /** Their offset: after the hole, if the file starts with one. */
  headFrom?: number;
  format: Format;
  /** The current masking of secrets. */
  scrubber(): Scrubber | undefined;
  /** The unmasked bytes before the first byte to be pushed: a secret may have started there. */
  before?: Buffer;
}

/**
 * Turns the text of a plain file or an unpacked archive into records. It is pushed unmasked and emitted with secrets
 * masked; what may be the start of a secret is buffered like an incomplete line.
 */
export class TailText implements EntrySource {
  readonly #assembler: RecordAssembler;
  readonly #feed: ScrubFeed;
  readonly #idleMs: number;
  /** When the feed last buffered something. */
  #heldMs = 0;
  #head: Buffer;
  #headFrom: number;
  #name: string;
  #mark: FileMark | undefined;
  #ref: SourceRef | undefined;
  /** Offset of the first byte that the feed has not returned yet. */
  #settled: number;
  /** The record that the next lines may continue. */
  #first: RecordEntry | undefined;
  /** Time of its first record; `undefined` until a record has one, or if the text was not read from its start. */
  firstTimeMs: number | undefined;

  constructor({ name, offset, head, headFrom = 0, format, scrubber, before, ...times }: TailTextOptions) {
    this.#name = name;
    // A copy: a part of a buffer keeps all of it in memory, for each of thousands of logs.
    this.#head = Buffer.from(head.subarray(0, HEAD_BYTES));
    this.#headFrom = headFrom;
    this.#settled = offset;
    this.#feed = new ScrubFeed(scrubber, before);
    this.#idleMs = times.idleMs ?? IDLE_MS;
    this.#assembler = new RecordAssembler(format, offset, { ...times, continues: offset > headFrom });
  }

  get name(): string {
    return this.#name;
  }

  /** The file was renamed. */
  set name(name: string) {
    this.#name = name;
    this.#ref = undefined;
  }

  get ref(): SourceRef {
    const isIdentified = this.#head.length >= HEAD_BYTES;
    this.#ref ??= { name: this.#name, isIdentified, cursors: new CursorMaker(this.mark, this.#name) };
    return this.#ref;
  }

  get head(): Buffer {
    return this.#head;
  }

  /** Where the text starts: after the hole, if the file starts with one. */
  get start(): number {
    return this.#headFrom;
  }

  /** Nothing of it was read yet. */
  get isUnread(): boolean {
    return this.#head.length === 0 && this.position === this.#headFrom;
  }

  /** Nothing of it was emitted yet. */
  get isUnemitted(): boolean {
    return this.emittedOffset <= this.#headFrom;
  }

  /** Skips the hole that the file starts with. */
  skipTo(start: number): void {
    this.#assembler.skip(start - this.#settled);
    this.#settled = start;
    this.#headFrom = start;
  }

  get mark(): FileMark {
    this.#mark ??= markFile(this.#head);
    return this.#mark;
  }

  get format(): Format {
    return this.#assembler.format;
  }

  set format(format: Format) {
    this.#assembler.format = format;
  }

  /** Offset of the next byte to read. */
  get position(): number {
    return this.#settled + this.#feed.heldBytes;
  }

  get emittedOffset(): number {
    return this.#assembler.emittedOffset;
  }

  get dueMs(): number {
    return Math.min(this.#assembler.dueMs, this.#feed.heldBytes > 0 ? this.#heldMs + this.#idleMs : Infinity);
  }

  push(data: Buffer, nowMs: number): RecordEntry[] {
    const nuls = this.isUnread ? countNuls(data) : 0;
    if (nuls > 0) this.skipTo(this.#settled + nuls);
    const settled = this.#feed.push(data.subarray(nuls));
    this.#heldMs = nowMs;
    return this.#entries(this.#take(settled, nowMs));
  }

  flush(nowMs: number): RecordEntry[] {
    const isDue = this.#feed.heldBytes > 0 && nowMs >= this.#heldMs + this.#idleMs;
    const held = isDue ? this.#take(this.#feed.end(), this.#heldMs) : [];
    return this.#entries([...held, ...this.#assembler.flush(nowMs)]);
  }

  flushLines(): RecordEntry[] {
    return this.#entries(this.#assembler.flushLines());
  }

  flushAll(): RecordEntry[] {
    return this.#entries([...this.#take(this.#feed.end(), this.#heldMs), ...this.#assembler.flushAll()]);
  }

  /** The secrets have changed: masks them in what was not emitted yet, and in the head that identifies the file. */
  rescrub(scrubber: Scrubber): void {
    this.#assembler.change((bytes) => scrubber.mask(bytes));
    const head = Buffer.from(this.#head);
    if (!scrubber.mask(head)) return;
    this.#head = head;
    this.#mark = undefined;
    this.#ref = undefined;
  }

  #take(settled: Buffer, nowMs: number): Piece[] {
    this.#extendHead(settled);
    this.#settled += settled.length;
    return this.#assembler.push(settled, nowMs);
  }

  #extendHead(data: Buffer): void {
    const known = this.#headFrom + this.#head.length;
    const isKnown = this.#head.length >= HEAD_BYTES || this.#settled + data.length <= known;
    if (isKnown || this.#settled > known) return;
    const more = data.subarray(known - this.#settled, this.#headFrom + HEAD_BYTES - this.#settled);
    this.#head = Buffer.concat([this.#head, more]);
    this.#mark = undefined;
    this.#ref = undefined;
  }

  #entries(pieces: readonly Piece[]): RecordEntry[] {
    return pieces.map((piece) => {
      const entry = new RecordEntry(piece, this, piece.continued ? this.#first : undefined);
      if (!piece.continued || !this.#first) this.#first = entry;
      if (!Number.isNaN(piece.head.timeMs)) this.firstTimeMs ??= piece.head.timeMs;
      return entry;
    });
  }
}

const READ_BYTES = 256 * 1024;

/** What is kept of the text before the position: more than a secret is long. */
const BEFORE_TEXT_BYTES = 64 * 1024;

const NEWLINE = 10;

/** The start of the last line of a UTF-16 file. */
interface Utf16End {
  /** Offset in the file, and in its text in UTF-8. */
  position: number;
  textBytes: number;
  /** What continues there. */
  decoder: Utf16Decoder;
  /** The start of the text, its end before the position, and the bytes of the file before it. */
  sample: Buffer;
  before: Buffer;
  rawBefore: Buffer;
}

/** Reads all of the file, since offsets in its text are not those in the file. An incomplete last line is not skipped. */
export async function findUtf16End(
  { fd }: LogHandle,
  sizeBytes: number,
  { encoding, sampleBytes, beforeBytes }: { encoding: Utf16; sampleBytes: number; beforeBytes: number },
): Promise<Utf16End> {
  const position = await findLineStart(fd, sizeBytes, encoding);
  const decoder = new Utf16Decoder(encoding);
  const buffer = Buffer.alloc(READ_BYTES);
  let sample: Buffer = Buffer.alloc(0);
  let before: Buffer = Buffer.alloc(0);
  let rawBefore: Buffer = Buffer.alloc(0);
  let textBytes = 0;
  for (let at = 0; at < position; ) {
    const got = await readFd(fd, buffer, { position: at, length: Math.min(buffer.length, position - at) });
    if (got === 0) break;
    const raw = buffer.subarray(0, got);
    const text = decoder.write(raw);
    if (sample.length < sampleBytes) sample = Buffer.concat([sample, text]).subarray(0, sampleBytes);
    before = Buffer.concat([before, text]).subarray(-BEFORE_TEXT_BYTES);
    rawBefore = Buffer.concat([rawBefore, raw]).subarray(-beforeBytes);
    textBytes += text.length;
    at += got;
  }
  return { position, textBytes, decoder, sample, before, rawBefore };
}

/** The offset behind the last newline; the end of the file if there is none nearby. */
async function findLineStart(fd: number, sizeBytes: number, encoding: Utf16): Promise<number> {
  const end = sizeBytes - (sizeBytes % 2);
  const buffer = Buffer.alloc(Math.min(READ_BYTES, end));
  const from = end - buffer.length;
  const got = await readFd(fd, buffer, { position: from, length: buffer.length });
  for (let at = got - (got % 2) - 2; at >= 0; at -= 2) {
    const unit = encoding === 'utf-16le' ? buffer.readUInt16LE(at) : buffer.readUInt16BE(at);
    if (unit === NEWLINE) return from + at + 2;
  }
  return from === 0 ? 0 : end;
}
