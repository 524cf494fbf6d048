import { fstatSync, readSync } from 'node:fs';
import { fnv1a } from '../../cursor/cursor.ts';
import { statsStamp } from '../../file/file-stamp.ts';
import { GzText } from '../../gzip/gz-map.ts';
import { truncated, unreadable } from '../../log-error.ts';
import { ChunkText } from '../../packed/chunk-map.ts';
import { Utf16Text } from '../../packed/utf16.ts';
import { formatName } from '../../parse/format.ts';
import type { CleanParts, CleanReads, CleanText, HashedParts } from '../../scrub/clean-ranges.ts';
import type { Scrubber, ScrubRules } from '../../scrub/scrubber.ts';
import { type HoleOptions, TextWithHoles } from './nul-holes.ts';
import type { ScanFile } from './scan-file.ts';

const NEWLINE = 10;

/** The uncompressed text of a file, read synchronously by a thread that may block. */
export interface FileText {
  readonly sizeBytes: number;
  /** Where the text begins; absent: at 0. A hole precedes it, read as one line. */
  readonly start?: number;
  /** Reads `[position, position + length)` to `target` from `at` on. */
  read(target: Buffer, at: number, position: number, length: number): number;
  /** The same with secrets unmasked. Only for deciding what need not be scanned. */
  readonly unscrubbed?: FileText;
}

/** Provides one scrubber for all files with the same rules: its memory is expensive to create. */
export interface ScrubberSource extends HoleOptions {
  scrubberFor(rules: ScrubRules): Scrubber;
  /** Ranges without secrets; nothing is cached if absent. */
  clean?: CleanReads;
  cleanParts?: CleanParts;
  memoryAround?: ScrubbedTextOptions['memoryAround'];
}

/** Secrets are masked in what it reads. */
export function openFileText(file: ScanFile, source: ScrubberSource): FileText {
  const text = openUnscrubbed(file, source);
  if (!file.scrub) return text;
  const scrubber = source.scrubberFor(file.scrub);
  return new ScrubbedText(text, scrubber, { ...knownClean(file, source), memoryAround: source.memoryAround });
}

function knownClean({ key, stamp, scrub }: ScanFile, { clean, cleanParts }: ScrubberSource): ScrubbedTextOptions {
  if (key === undefined) return {};
  if (stamp === undefined) return { hashed: cleanParts?.of(`${key}:${scrub?.id}`) };
  return { clean: clean?.of(`${key}:${scrub?.id}:${stamp}`) };
}

/** Whether the file has not changed since it was opened. */
export function hasStamp({ name, fd, stamp }: ScanFile): boolean {
  try {
    return statsStamp(fstatSync(fd, { bigint: true })) === stamp;
  } catch (error) {
    throw unreadable(name, error);
  }
}

function openUnscrubbed(file: ScanFile, options: HoleOptions): FileText {
  const stored = openWithHole(file);
  // What has no known format may be binary: there, NULs are what was written.
  const text = formatName(file.format) === 'text' ? stored : new TextWithHoles(stored, options);
  return file.textStart > 0 ? new TextBehindHole(text, file.textStart) : text;
}

/**
 * A text that begins with a hole. The hole is read as a separate line, so that the first line of the text is a line of
 * its own.
 */
class TextBehindHole implements FileText {
  readonly sizeBytes: number;
  readonly start: number;
  readonly #text: FileText;

  constructor(text: FileText, start: number) {
    this.sizeBytes = text.sizeBytes;
    this.start = start;
    this.#text = text;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const got = this.#text.read(target, at, position, length);
    const end = this.start - 1 - position;
    if (end >= 0 && end < got) target[at + end] = NEWLINE;
    return got;
  }
}

/**
 * Throws if the file was truncated since it was opened. One that has grown again since reads like any other: as NULs if
 * its writer does not append, or as another text.
 */
export function assertNotTruncated({ name, fd, textStart, start }: ScanFile): void {
  if (!start || start.bytes === 0) return;
  const bytes = Buffer.allocUnsafe(start.bytes);
  let filled = 0;
  for (let got = -1; got !== 0 && filled < start.bytes; filled += got)
    got = readSome(name, fd, bytes, filled, start.bytes - filled, textStart + filled);
  if (filled < start.bytes || fnv1a(bytes, 0, filled) !== start.hash) throw truncated(name);
}

function openWithHole({ name, fd, sizeBytes, textBytes, packedMap }: ScanFile): FileText {
  if (packedMap?.kind === 'chunks') return new ChunkText(packedMap);
  if (packedMap?.kind === 'utf-16') return new Utf16Text(fd, packedMap, { name });
  if (packedMap) return new GzText(fd, sizeBytes, packedMap, { name });
  return {
    sizeBytes: textBytes,
    read(target, at, position, length) {
      for (let filled = 0; filled < length; ) {
        const got = readSome(name, fd, target, at + filled, length - filled, position + filled);
        // The size was determined when the file was opened: it has been truncated since.
        if (got === 0) throw truncated(name);
        filled += got;
      }
      return length;
    },
  };
}

function readSome(name: string, fd: number, target: Buffer, at: number, length: number, position: number): number {
  try {
    return readSync(fd, target, at, length, position);
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Longer parts are masked in place; shorter ones are copied together with their surroundings. */
const MIN_IN_PLACE_BYTES = 64 * 1024;

/** A part of a text. */
interface Part {
  position: number;
  stop: number;
}

interface ScrubbedTextOptions {
  /** Ranges without secrets. The caller checks the stamp of the file afterwards: see `CleanReads`. */
  clean?: CleanText | undefined;
  /** The same for a text that is still being written: by its hash. */
  hashed?: HashedParts | undefined;
  /** See `ScanKernel.memoryAround`. */
  memoryAround?: ((target: Buffer, at: number, around: Around) => Buffer | undefined) | undefined;
}

interface Around {
  /** Bytes before the position. */
  before: number;
  /** Bytes in all. */
  length: number;
}

/** A text whose secrets are masked wherever it is read, taking the surroundings of each read into account. */
class ScrubbedText implements FileText {
  readonly sizeBytes: number;
  readonly start: number;
  readonly unscrubbed: FileText;
  readonly #scrubber: Scrubber;
  readonly #options: ScrubbedTextOptions;
  #room: Buffer = Buffer.alloc(0);
  /** Whether the last read contained, or was next to, anything to mask. */
  #hadSecrets = false;

  constructor(text: FileText, scrubber: Scrubber, options: ScrubbedTextOptions = {}) {
    this.sizeBytes = text.sizeBytes;
    this.start = text.start ?? 0;
    this.unscrubbed = text;
    this.#scrubber = scrubber;
    this.#options = options;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const stop = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (stop <= position) return 0;
    if (stop - position < MIN_IN_PLACE_BYTES) return this.#readCopy(target, at, { position, stop });
    const { clean } = this.#options;
    if (clean?.covers(position, stop)) return this.unscrubbed.read(target, at, position, stop - position);
    const got = this.#readInPlace(target, at, { position, stop });
    if (!this.#hadSecrets) clean?.add(position, stop);
    return got;
  }

  #readInPlace(target: Buffer, at: number, part: Part): number {
    const { position } = part;
    const { start, end } = this.#withSurroundings(part);
    const around = { before: position - start, length: end - start };
    const memory = this.#options.memoryAround?.(target, at, around);
    if (memory) {
      const { from, to } = this.#readMasked(memory, part);
      return to - from;
    }
    const got = this.unscrubbed.read(target, at, position, part.stop - position);
    this.#hadSecrets = this.#scrubber.mask(target.subarray(at, at + got), { atEnd: part.stop >= this.sizeBytes });
    this.#maskEnds(target, at, part);
    return got;
  }

  /** A secret may begin before a part, or end after it. */
  #maskEnds(target: Buffer, at: number, { position, stop }: Part): void {
    const { leftBytes, rightBytes } = this.#scrubber;
    let hadSecrets = this.#hadSecrets;
    if (position > 0) {
      this.#readCopy(target, at, { position, stop: Math.min(position + leftBytes, stop) });
      hadSecrets ||= this.#hadSecrets;
    }
    if (stop < this.sizeBytes) {
      const last = Math.max(position, stop - rightBytes);
      this.#readCopy(target, at + (last - position), { position: last, stop });
      hadSecrets ||= this.#hadSecrets;
    }
    this.#hadSecrets = hadSecrets;
  }

  #readCopy(target: Buffer, at: number, part: Part): number {
    const { start, end } = this.#withSurroundings(part);
    if (this.#room.length < end - start) this.#room = Buffer.allocUnsafeSlow(end - start);
    const { from, to } = this.#readMasked(this.#room, part);
    return this.#room.copy(target, at, from, to);
  }

  /** Reads a part and its surroundings to the start of a buffer, and masks the part. Returns where it is. */
  #readMasked(buffer: Buffer, part: Part): { from: number; to: number } {
    const { start, end } = this.#withSurroundings(part);
    const bytes = buffer.subarray(0, this.unscrubbed.read(buffer, 0, start, end - start));
    const range = { from: part.position - start, to: Math.min(part.stop - start, bytes.length) };
    const atEnd = start + bytes.length >= this.sizeBytes;
    const { hashed } = this.#options;
    const hash = atEnd ? undefined : hashed?.hash(bytes);
    if (hash !== undefined && hashed?.has(start, hash)) {
      this.#hadSecrets = false;
      return range;
    }
    this.#hadSecrets = this.#scrubber.mask(bytes, { ...range, atEnd });
    if (hash !== undefined && !this.#hadSecrets) hashed?.add(start, hash);
    return range;
  }

  #withSurroundings({ position, stop }: Part): { start: number; end: number } {
    const { leftBytes, rightBytes } = this.#scrubber;
    return { start: Math.max(0, position - leftBytes), end: Math.min(stop + rightBytes, this.sizeBytes) };
  }
}
