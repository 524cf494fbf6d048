import { createHash } from 'node:crypto';
import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { isPackedName, refuseUndecoded } from '../../file/compression.ts';
import { fileStamp, isSettledForWriters } from '../../file/file-stamp.ts';
import type { HandleCache, LogHandle } from '../../file/handle-cache.ts';
import { findTextStart, maskStart, readStart } from '../../file/read-range.ts';
import type { SharedReads } from '../../file/shared-reads.ts';
import { packedHead, unpackRange } from '../../file/unpack.ts';
import { readFd, statFd } from '../../fs-calls.ts';
import { LogError } from '../../log-error.ts';
import { decodeUtf16, detectUtf16, type Utf16 } from '../../packed/utf16.ts';
import { BUILT_IN_FORMATS, type FormatSet } from '../../parse/detect-format.ts';
import type { FormatName, LineHead } from '../../parse/format.ts';
import { joinSamples, SAMPLED_START_BYTES, samplePlaces } from '../../parse/formats/sample-lines.ts';
import type { Zone } from '../../parse/zone.ts';
import type { ReadOptions } from '../../types.ts';
import { CopyFinder } from './same-text.ts';

/** Files whose facts are cached. */
const MAX_REMEMBERED = 4096;

/** What the start of a file shows, which stays true while it grows. */
export interface FileFacts {
  mark: FileMark;
  format: FormatName;
  timed: boolean;
  /** Epoch ms of the first time in it; `null`: none near its start. */
  firstMs: number | null;
  /** Hash of the start of its text, from which the format is detected. */
  startHash: string;
}

/** A file held open for a query. Released by whoever opened it. */
export interface OpenFile extends FileFacts {
  name: string;
  handle: LogHandle;
  compressed: boolean;
  /** If it is UTF-16: its text is transcoded to UTF-8, and offsets count in that. */
  encoding: Utf16 | undefined;
  /** The first bytes of its text. */
  head: Buffer;
  /** Where its text begins: after a hole, if the file was truncated under a writer without O_APPEND. */
  textStart: number;
  /** For a plain file: its first bytes, unmasked. If they differ later, the file was truncated since. */
  firstBytes: Buffer;
  /** Cache key that identifies the very file. */
  key: string;
}

/** Cached facts of a file. */
interface KnownFacts {
  facts: FileFacts;
  /** The stamp of the file when its start was read; `undefined` if a later change need not show in it. */
  stamp: string | undefined;
  /** Hash of the bytes the facts were derived from. */
  sample: string;
}

/** Opens files and determines what their first bytes show; caches it for files whose first bytes are the same. */
export class FileOpener {
  /** Determines which of the files it opened have the same text. */
  readonly copies = new CopyFinder();
  readonly #handles: HandleCache;
  readonly #reads: SharedReads;
  readonly #zone: Zone;
  readonly #formats: FormatSet;
  readonly #known = new Map<string, KnownFacts>();

  constructor(parts: { handles: HandleCache; reads: SharedReads; zone: Zone; formats?: FormatSet }) {
    this.#handles = parts.handles;
    this.#reads = parts.reads;
    this.#zone = parts.zone;
    this.#formats = parts.formats ?? BUILT_IN_FORMATS;
  }

  async open(name: string, options: ReadOptions = {}): Promise<OpenFile> {
    const handle = await this.#handles.acquire(name);
    try {
      refuseUndecoded(handle);
      const compressed = isPackedName(name);
      const { head, textStart, firstBytes, encoding } = await this.#start(handle, compressed, options);
      const mark = markFile(head);
      const facts = await this.#facts({ handle, compressed, encoding, mark, textStart }, options);
      return {
        name,
        handle,
        compressed,
        encoding,
        head,
        textStart,
        firstBytes,
        key: this.#fileKey(handle, facts.mark, compressed),
        ...facts,
        mark,
      };
    } catch (error) {
      handle.release();
      throw error;
    }
  }

  /** With different secrets masked the file has another key: nothing is known of it yet. */
  #fileKey({ dev, ino }: LogHandle, { headHash }: FileMark, compressed: boolean): string {
    return `${dev}:${ino}:${headHash}:${compressed}:${this.#reads.scrubber?.id ?? ''}`;
  }

  async #facts(file: StartedFile, options: ReadOptions): Promise<FileFacts> {
    const { handle, compressed, mark } = file;
    const key = this.#fileKey(handle, mark, compressed);
    const known = this.#known.get(key);
    const stamp = isSettledForWriters(handle) ? fileStamp(handle) : undefined;
    if (known && stamp !== undefined && known.stamp === stamp) return known.facts;
    const { start, bytes } = await this.#sample(file, options);
    const sample = createHash('sha256').update(bytes).digest('base64');
    const startHash = start === bytes ? sample : createHash('sha256').update(start).digest('base64');
    const clock = { zone: this.#zone, writtenMs: Number(handle.modifiedNs / 1_000_000n) };
    // Detecting the format takes milliseconds; the same bytes have the same one.
    const format =
      known?.sample === sample ? this.#formats.create(known.facts.format, clock) : this.#formats.detect(bytes, clock);
    const firstMs = firstTime(bytes, format.readHead);
    const facts = { mark, format: format.spec, timed: format.timed, firstMs, startHash };
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(key, { facts, stamp, sample });
    return facts;
  }

  /** Where the text begins, and its first bytes: masked, and for a plain file also unmasked. */
  async #start(handle: LogHandle, compressed: boolean, options: ReadOptions): Promise<FileStart> {
    const { scrubber } = this.#reads;
    if (compressed) return this.#packedStart(handle, options);
    const most = HEAD_BYTES + (scrubber?.rightBytes ?? 0);
    let bytes = await readPart(handle, 0, most);
    const encoding = detectUtf16(bytes);
    if (encoding) {
      const text = decodeUtf16(await readPart(handle, 0, MAX_UTF16_BYTES * most), encoding);
      const firstBytes = Buffer.from(bytes.subarray(0, HEAD_BYTES));
      return { head: maskStart(text, HEAD_BYTES, scrubber), textStart: 0, firstBytes, encoding };
    }
    const textStart = bytes[0] === 0 ? await readTextStart(handle) : 0;
    if (textStart > 0) bytes = await readPart(handle, textStart, most);
    const firstBytes = Buffer.from(bytes.subarray(0, HEAD_BYTES));
    return { head: maskStart(bytes, HEAD_BYTES, scrubber), textStart, firstBytes, encoding: undefined };
  }

  async #packedStart(handle: LogHandle, options: ReadOptions): Promise<FileStart> {
    const raw = await this.#unpacked(handle, 0, HEAD_BYTES, options);
    const encoding = detectUtf16(raw);
    const start = { textStart: 0, firstBytes: NOTHING, encoding };
    if (encoding) {
      const { scrubber } = this.#reads;
      const most = HEAD_BYTES + (scrubber?.rightBytes ?? 0);
      const text = decodeUtf16(await this.#unpacked(handle, 0, MAX_UTF16_BYTES * most, options), encoding);
      return { ...start, head: maskStart(text, HEAD_BYTES, scrubber) };
    }
    if (raw[0] !== 0) return { ...start, head: raw };
    const behind = await packedHead({ handle, reads: this.#reads }, HEAD_BYTES, options);
    return { ...start, head: behind.head, textStart: behind.start };
  }

  /** The start of the text, and of a plain file parts of its rest, from which its format is detected. */
  async #sample({ handle, compressed, encoding, textStart }: StartedFile, options: ReadOptions): Promise<Sample> {
    const { scrubber } = this.#reads;
    if (encoding) {
      const raw = compressed
        ? await this.#unpacked(handle, 0, SAMPLED_START_BYTES, options)
        : await readPart(handle, 0, SAMPLED_START_BYTES);
      const text = maskStart(decodeUtf16(raw, encoding), SAMPLED_START_BYTES, scrubber);
      return { start: text, bytes: text };
    }
    if (compressed) {
      const text = await this.#unpacked(handle, textStart, textStart + SAMPLED_START_BYTES, options);
      return { start: text, bytes: text };
    }
    const textBytes = handle.sizeBytes - textStart;
    const start = await readStart(handle.fd, Math.min(SAMPLED_START_BYTES, textBytes), scrubber, textStart);
    const parts: Buffer[] = [];
    for (const place of samplePlaces(textBytes))
      parts.push(await readStart(handle.fd, place.length, scrubber, textStart + place.start));
    return { start, bytes: joinSamples(start, parts) };
  }

  async #unpacked(handle: LogHandle, start: number, end: number, options: ReadOptions): Promise<Buffer> {
    const parts: Buffer[] = [];
    try {
      const text = unpackRange({ handle, reads: this.#reads }, start, end, options);
      for await (const chunk of text) parts.push(Buffer.from(chunk));
    } catch (error) {
      // What precedes the damage can be read; the scan reports it.
      if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
    }
    return Buffer.concat(parts);
  }
}

const NOTHING = Buffer.alloc(0);

/** Bytes of UTF-16 of which at least one byte of UTF-8 is made, byte order mark included. */
const MAX_UTF16_BYTES = 3;

/** What a format is detected from. */
interface Sample {
  start: Buffer;
  /** With parts of the rest. */
  bytes: Buffer;
}

type FileStart = Pick<OpenFile, 'head' | 'textStart' | 'firstBytes' | 'encoding'>;
type StartedFile = Pick<OpenFile, 'handle' | 'compressed' | 'encoding' | 'mark' | 'textStart'>;

/**
 * A file of nothing but NULs is not a truncated log, and is read as it is; unless it has grown: then its text begins
 * after what was seen of it.
 */
async function readTextStart({ fd, sizeBytes }: LogHandle): Promise<number> {
  const start = await findTextStart(fd, sizeBytes);
  if (start < sizeBytes) return start;
  return (await statFd(fd)).size > sizeBytes ? sizeBytes : 0;
}

/** Reads a plain file, up to its size when it was opened. */
async function readPart({ fd, sizeBytes }: LogHandle, position: number, most: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(most, sizeBytes - position)));
  return buffer.subarray(0, await readFd(fd, buffer, { position, length: buffer.length }));
}

type ReadHead = (bytes: Buffer, start: number, end: number, head: LineHead) => boolean;

function firstTime(sample: Buffer, readHead: ReadHead): number | null {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (let start = 0; start < sample.length; ) {
    const newline = sample.indexOf(10, start);
    const end = newline < 0 ? sample.length : newline + 1;
    if (readHead(sample, start, end, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
    start = end;
  }
  return null;
}
