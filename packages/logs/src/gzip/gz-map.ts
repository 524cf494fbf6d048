import { type Checkpoint, packCheckpoints } from './checkpoints.ts';
import { GzStream } from './gz-stream.ts';

/** A random read decompresses half of this in vain on average, which takes about 1 ms. */
const SPACING_BYTES = 1024 * 1024;

/** With a window of 32 KiB each, a map takes at most 6 MiB. */
const MAX_CHECKPOINTS = 192;

/** Text decompressed between two checks for cancellation. */
const STEP_BYTES = 256 * 1024;

/** Why only a part of a file can be read. */
export interface GzProblem {
  code: 'LOG_FILE_CORRUPT';
  detail: string;
}

/** Checkpoints from which the text of a gzip file can be decompressed. Plain data that threads share without copies. */
export interface GzMap {
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
