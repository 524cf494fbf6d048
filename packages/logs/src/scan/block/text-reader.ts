import { fstatSync, readSync } from 'node:fs';
import { fnv1a } from '../../cursor/cursor.ts';
import { statsStamp } from '../../file/file-stamp.ts';
import { GzText } from '../../gzip/gz-text.ts';
import { truncated, unreadable } from '../../log-error.ts';
import type { CleanParts } from '../../scrub/clean-parts.ts';
import type { CleanReads } from '../../scrub/clean-ranges.ts';
import { ScrubbedText, type ScrubbedTextOptions } from '../../scrub/scrubbed-text.ts';
import type { Scrubber, ScrubRules } from '../../scrub/scrubber.ts';
import type { ScanFile } from '../jobs.ts';

const NEWLINE = 10;

/** The text of a file, uncompressed, read where a thread may wait. */
export interface TextReader {
  readonly sizeBytes: number;
  /** Where the text begins; absent: at 0. What stands before it is a hole, read as one line. */
  readonly start?: number;
  /** Reads `[position, position + length)` to `target` from `at` on. */
  read(target: Buffer, at: number, position: number, length: number): number;
  /** The same without secrets masked, where they are. Only for telling what need not be looked at. */
  readonly unscrubbed?: TextReader;
}

/** Has one scrubber for all files with the same rules: the memory it works on is costly to make. */
export interface ScrubberSource {
  scrubberFor(rules: ScrubRules): Scrubber;
  /** Where nothing is masked; nothing is remembered unless given. */
  clean?: CleanReads;
  cleanParts?: CleanParts;
  memoryAround?: ScrubbedTextOptions['memoryAround'];
}

/** Secrets are masked in what it reads. */
export function openTextReader(file: ScanFile, source: ScrubberSource): TextReader {
  const text = openUnscrubbed(file);
  if (!file.scrub) return text;
  const scrubber = source.scrubberFor(file.scrub);
  return new ScrubbedText(text, scrubber, { ...knownClean(file, source), memoryAround: source.memoryAround });
}

function knownClean({ key, stamp, scrub }: ScanFile, { clean, cleanParts }: ScrubberSource): ScrubbedTextOptions {
  if (key === undefined) return {};
  if (stamp === undefined) return { hashed: cleanParts?.of(`${key}:${scrub?.id}`) };
  return { clean: clean?.of(`${key}:${scrub?.id}:${stamp}`) };
}

/** Whether the file is what it was when it was opened. */
export function hasStamp({ name, fd, stamp }: ScanFile): boolean {
  try {
    return statsStamp(fstatSync(fd, { bigint: true })) === stamp;
  } catch (error) {
    throw unreadable(name, error);
  }
}

function openUnscrubbed(file: ScanFile): TextReader {
  const text = openWithHole(file);
  return file.textStart > 0 ? new TextBehindHole(text, file.textStart) : text;
}

/** A text that begins with a hole. The hole is read as a line of its own, so that the first line of the text is one, too. */
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
 * Throws where the file was truncated since it was opened. One that has grown again since reads like any other: as NULs
 * where its writer does not append, or as another text.
 */
export function assertNotTruncated({ name, fd, textStart, start }: ScanFile): void {
  if (!start || start.bytes === 0) return;
  const bytes = Buffer.allocUnsafe(start.bytes);
  let filled = 0;
  for (let got = -1; got !== 0 && filled < start.bytes; filled += got)
    got = readSome(name, fd, bytes, filled, start.bytes - filled, textStart + filled);
  if (filled < start.bytes || fnv1a(bytes, 0, filled) !== start.hash) throw truncated(name);
}

function openWithHole({ name, fd, sizeBytes, textBytes, gzMap }: ScanFile): TextReader {
  if (gzMap) return new GzText(fd, sizeBytes, gzMap, { name });
  return {
    sizeBytes: textBytes,
    read(target, at, position, length) {
      for (let filled = 0; filled < length; ) {
        const got = readSome(name, fd, target, at + filled, length - filled, position + filled);
        // The size was seen when the file was opened: it has been cut since.
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
