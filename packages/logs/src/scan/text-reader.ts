import { readSync } from 'node:fs';
import { GzText } from '../gzip/gz-text.ts';
import { truncated, unreadable } from '../log-error.ts';
import { ScrubbedText } from '../scrub/scrubbed-text.ts';
import type { Scrubber, ScrubRules } from '../scrub/scrubber.ts';
import type { ScanFile } from './jobs.ts';

/** The text of a file, uncompressed, read where a thread may wait. */
export interface TextReader {
  readonly sizeBytes: number;
  /** Reads `[position, position + length)` to `target` from `at` on. */
  read(target: Buffer, at: number, position: number, length: number): number;
  /** The same without secrets masked, where they are. Only for telling what need not be looked at. */
  readonly unscrubbed?: TextReader;
}

/** Has one scrubber for all files with the same rules: the memory it works on is costly to make. */
export interface ScrubberSource {
  scrubberOf(rules: ScrubRules): Scrubber;
}

/** Secrets are masked in what it reads. */
export function openTextReader(file: ScanFile, { scrubberOf }: ScrubberSource): TextReader {
  const text = openUnscrubbed(file);
  return file.scrub ? new ScrubbedText(text, scrubberOf(file.scrub)) : text;
}

function openUnscrubbed({ name, fd, sizeBytes, textBytes, gzMap }: ScanFile): TextReader {
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
