import { createHash } from 'node:crypto';
import { type FileMark, HEAD_BYTES } from '../cursor/cursor.ts';
import { markFile } from '../cursor/file-mark.ts';
import { isSettledForWriters, stampOf } from '../file/file-stamp.ts';
import { readFd } from '../file/fs-calls.ts';
import { gunzipRange, packedHead } from '../file/gunzip.ts';
import type { HandleCache } from '../file/handle-cache.ts';
import type { LogHandle } from '../file/log-handle.ts';
import { findTextStart, readStart } from '../file/read-start.ts';
import type { SharedReads } from '../file/shared-reads.ts';
import { isGzipName } from '../file/text-source.ts';
import { LogError } from '../log-error.ts';
import { createFormat, detectFormat } from '../parse/detect-format.ts';
import type { FormatName, LineHead } from '../parse/format.ts';
import type { Zone } from '../parse/zone.ts';
import type { ReadOptions } from '../types.ts';
import { CopyFinder } from './same-text.ts';

/** The start of a text that tells its format. */
const SAMPLE_BYTES = 64 * 1024;

/** Files whose facts are remembered. */
const MAX_REMEMBERED = 4096;

/** What the start of a file tells, and stays true while it grows. */
export interface FileFacts {
  mark: FileMark;
  format: FormatName;
  timed: boolean;
  /** Epoch ms of the first time in it; `null`: none near its start. */
  firstMs: number | null;
}

/** A file held open for a question. Whoever opened it releases it. */
export interface OpenFile extends FileFacts {
  name: string;
  handle: LogHandle;
  compressed: boolean;
  /** The first bytes of its text. */
  head: Buffer;
  /** Names the very file, for what is remembered of it. */
  key: string;
}

/** What was found out about a file. */
interface KnownFacts {
  facts: FileFacts;
  /** Of the file when its start was read; `undefined` where a later change need not show in it. */
  stamp: string | undefined;
  /** Hash of the bytes that decided. */
  sample: string;
}

/** Opens files and tells what their first bytes say; remembers it for files whose first bytes are the same. */
export class FileOpener {
  /** Tells which of the files it opened hold the same text. */
  readonly copies = new CopyFinder();
  readonly #handles: HandleCache;
  readonly #reads: SharedReads;
  readonly #zone: Zone;
  readonly #known = new Map<string, KnownFacts>();

  constructor(parts: { handles: HandleCache; reads: SharedReads; zone: Zone }) {
    this.#handles = parts.handles;
    this.#reads = parts.reads;
    this.#zone = parts.zone;
  }

  async open(name: string, options: ReadOptions = {}): Promise<OpenFile> {
    const handle = await this.#handles.acquire(name);
    try {
      const compressed = isGzipName(name);
      const head = await this.#headBehindHole(handle, compressed, options);
      const mark = markFile(head);
      const facts = await this.#facts(handle, compressed, mark, options);
      return {
        name,
        handle,
        compressed,
        head,
        key: this.#keyOf(handle, facts.mark, compressed),
        ...facts,
        mark,
      };
    } catch (error) {
      handle.release();
      throw error;
    }
  }

  /** Of a file in which other secrets are masked now, nothing is known yet. */
  #keyOf({ dev, ino }: LogHandle, { headHash }: FileMark, compressed: boolean): string {
    return `${dev}:${ino}:${headHash}:${compressed}:${this.#reads.scrubber?.id ?? ''}`;
  }

  async #facts(handle: LogHandle, compressed: boolean, mark: FileMark, options: ReadOptions): Promise<FileFacts> {
    const key = this.#keyOf(handle, mark, compressed);
    const known = this.#known.get(key);
    const stamp = isSettledForWriters(handle) ? stampOf(handle) : undefined;
    if (known && stamp !== undefined && known.stamp === stamp) return known.facts;
    const start = await this.#head(handle, compressed, SAMPLE_BYTES, options);
    const isHole = !compressed && start.length === SAMPLE_BYTES && start.every((byte) => byte === 0);
    // A file that was cut under a writer who goes on where he was starts with a hole: its end tells more.
    const bytes = isHole ? await this.#end(handle) : start;
    const sample = createHash('sha256').update(bytes).digest('base64');
    const clock = { zone: this.#zone, writtenMs: Number(handle.modifiedNs / 1_000_000n) };
    // Telling the format takes milliseconds; the same bytes have the same one.
    const format = known?.sample === sample ? createFormat(known.facts.format, clock) : detectFormat(bytes, clock);
    const firstMs = isHole ? null : firstTime(bytes, format.readHead);
    const facts = { mark, format: format.name, timed: format.timed, firstMs };
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(key, { facts, stamp, sample });
    return facts;
  }

  /** The last whole lines of a plain file. */
  async #end(handle: LogHandle): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(SAMPLE_BYTES);
    const position = handle.sizeBytes - buffer.length;
    const end = buffer.subarray(0, await readFd(handle.fd, buffer, { position, length: buffer.length }));
    return end.subarray(end.indexOf(10) + 1);
  }

  /** The first bytes of the text: behind the hole where the file starts with one. */
  async #headBehindHole(handle: LogHandle, compressed: boolean, options: ReadOptions): Promise<Buffer> {
    const start = await this.#head(handle, compressed, HEAD_BYTES, options);
    if (start[0] !== 0) return start;
    if (compressed) return packedHead({ handle, reads: this.#reads }, HEAD_BYTES, options);
    const from = await findTextStart(handle.fd, handle.sizeBytes);
    return readStart(handle.fd, Math.min(HEAD_BYTES, handle.sizeBytes - from), this.#reads.scrubber, from);
  }

  async #head(handle: LogHandle, compressed: boolean, most: number, options: ReadOptions): Promise<Buffer> {
    if (!compressed) return readStart(handle.fd, Math.min(most, handle.sizeBytes), this.#reads.scrubber);
    const parts: Buffer[] = [];
    try {
      const text = gunzipRange({ handle, reads: this.#reads }, 0, most, options);
      for await (const chunk of text) parts.push(Buffer.from(chunk));
    } catch (error) {
      // What stands before the damage can be read; the scan will tell of it.
      if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
    }
    return Buffer.concat(parts);
  }
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
