import { LogError, truncated } from '../log-error.ts';
import { type Checkpoint, PackedCheckpoints } from './checkpoints.ts';
import type { GzMap } from './gz-map.ts';
import { GzStream } from './gz-stream.ts';

/** Small reads in a row are served from what one step of this size left at hand. */
const LEAST_STEP_BYTES = 32 * 1024;

export interface GzTextOptions {
  /** What errors call the file. */
  name?: string;
}

/** The text of a gzip file, readable anywhere by way of its map. The descriptor stays its owner's. */
export class GzText {
  readonly sizeBytes: number;
  readonly #stream: GzStream;
  readonly #checkpoints: PackedCheckpoints;
  readonly #name: string;
  #last: { index: number; checkpoint: Checkpoint } | undefined;

  /** `sizeBytes` is that of the packed file, as it was when the map was made. */
  constructor(fd: number, sizeBytes: number, map: GzMap, { name = '.gz' }: GzTextOptions = {}) {
    this.sizeBytes = map.textBytes;
    this.#stream = new GzStream(fd, sizeBytes);
    this.#checkpoints = new PackedCheckpoints(map.shared);
    this.#name = name;
  }

  /** Copies text `[position, position + length)` to `target` at `at`. Returns how much, less only at the text's end. */
  read(target: Buffer, at: number, position: number, length: number): number {
    const end = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (position >= end) return 0;
    this.#approach(position, end);
    const stream = this.#stream;
    let got = stream.copyText(target, at, position, end);
    while (position + got < end) {
      const goesOn = stream.step(Math.max(end - stream.textAt, LEAST_STEP_BYTES));
      got += stream.copyText(target, at + got, position + got, end);
      if (!goesOn && position + got < end) throw this.#changed();
    }
    return got;
  }

  /** Stays where unpacking stands when it leads to the text, unless a checkpoint is nearer. */
  #approach(position: number, end: number): void {
    const { textFrom, textAt, isStopped } = this.#stream;
    if (position >= textFrom && end <= textAt) return;
    const index = this.#checkpoints.indexBefore(position);
    const isNearer = position < textFrom || (position > textAt && this.#checkpoints.textAt(index) > textAt);
    if (!isNearer && !isStopped) return;
    // Reading backwards comes to the same checkpoint several times.
    if (this.#last?.index !== index) this.#last = { index, checkpoint: this.#checkpoints.at(index) };
    const { window, ...resumePoint } = this.#last.checkpoint;
    if (!this.#stream.restore(resumePoint, window)) throw this.#changed();
  }

  /** The map was made of the same file: whatever is in the way of its text came later. */
  #changed(): LogError {
    const { fault } = this.#stream;
    if (fault === undefined || fault.kind === 'cut') return truncated(this.#name);
    return new LogError('LOG_FILE_CORRUPT', `${JSON.stringify(this.#name)} changed while it was read: ${fault.detail}`);
  }
}
