import { LogError, truncated } from '../log-error.ts';
import { type Checkpoint, type GzMap, PackedCheckpoints } from './gz-map.ts';
import { GzStream } from './gz-stream.ts';

/** Small sequential reads are served from the text available after one step of this size. */
const LEAST_STEP_BYTES = 32 * 1024;

export interface GzTextOptions {
  /** The name of the file in errors. */
  name?: string;
}

/** The text of a gzip file, readable at any offset by means of its map. The caller owns the descriptor. */
export class GzText {
  readonly sizeBytes: number;
  readonly #stream: GzStream;
  readonly #checkpoints: PackedCheckpoints;
  readonly #name: string;
  #last: { index: number; checkpoint: Checkpoint } | undefined;

  /** `sizeBytes` is the size of the compressed file when the map was built. */
  constructor(fd: number, sizeBytes: number, map: GzMap, { name = '.gz' }: GzTextOptions = {}) {
    this.sizeBytes = map.textBytes;
    this.#stream = new GzStream(fd, sizeBytes);
    this.#checkpoints = new PackedCheckpoints(map.shared);
    this.#name = name;
  }

  /**
   * Copies text `[position, position + length)` to `target` at `at`. Returns the number of bytes, fewer only at the end
   * of the text.
   */
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

  /** Continues from the current position if that leads to the text, unless a checkpoint is nearer. */
  #approach(position: number, end: number): void {
    const { textFrom, textAt, isStopped } = this.#stream;
    if (position >= textFrom && end <= textAt) return;
    const index = this.#checkpoints.indexBefore(position);
    const isNearer = position < textFrom || (position > textAt && this.#checkpoints.textAt(index) > textAt);
    if (!isNearer && !isStopped) return;
    // Reading backwards uses the same checkpoint several times.
    if (this.#last?.index !== index) this.#last = { index, checkpoint: this.#checkpoints.at(index) };
    const { window, ...resumePoint } = this.#last.checkpoint;
    if (!this.#stream.restore(resumePoint, window)) throw this.#changed();
  }

  /** The map was built from the same file, so a fault means the file changed afterwards. */
  #changed(): LogError {
    const { fault } = this.#stream;
    if (fault === undefined || fault.kind === 'cut') return truncated(this.#name);
    return new LogError('LOG_FILE_CORRUPT', `${JSON.stringify(this.#name)} changed while it was read: ${fault.detail}`);
  }
}
