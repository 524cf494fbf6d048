import { fstatSync, readSync } from 'node:fs';
import { fnv1a } from '../../cursor/cursor.ts';
import { statsStamp } from '../../file/file-stamp.ts';
import { GzText } from '../../gzip/gz-map.ts';
import { truncated, unreadable } from '../../log-error.ts';
import { ChunkText } from '../../packed/chunk-map.ts';
import { Utf16Text } from '../../packed/utf16-map.ts';
import type { CleanParts, CleanReads } from '../../scrub/clean-ranges.ts';
import { ScrubbedText, type ScrubbedTextOptions } from '../../scrub/scrubbed-text.ts';
import type { Scrubber, ScrubRules } from '../../scrub/scrubber.ts';
import type { ScanFile } from '../jobs.ts';
import { type HoleOptions, TextWithHoles } from './nul-holes.ts';

const NEWLINE = 10;

/** The uncompressed text of a file, read synchronously by a thread that may block. */
export interface TextReader {
  readonly sizeBytes: number;
  /** Where the text begins; absent: at 0. A hole precedes it, read as one line. */
  readonly start?: number;
  /** Reads `[position, position + length)` to `target` from `at` on. */
  read(target: Buffer, at: number, position: number, length: number): number;
  /** The same with secrets unmasked. Only for deciding what need not be scanned. */
  readonly unscrubbed?: TextReader;
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
export function openTextReader(file: ScanFile, source: ScrubberSource): TextReader {
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

function openUnscrubbed(file: ScanFile, options: HoleOptions): TextReader {
  const stored = openWithHole(file);
  // What has no known format may be binary: there, NULs are what was written.
  const text = file.format === 'text' ? stored : new TextWithHoles(stored, options);
  return file.textStart > 0 ? new TextBehindHole(text, file.textStart) : text;
}

/**
 * A text that begins with a hole. The hole is read as a separate line, so that the first line of the text is a line of
 * its own.
 */
class TextBehindHole implements TextReader {
  readonly sizeBytes: number;
  readonly start: number;
  readonly #text: TextReader;

  constructor(text: TextReader, start: number) {
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

function openWithHole({ name, fd, sizeBytes, textBytes, packedMap }: ScanFile): TextReader {
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
