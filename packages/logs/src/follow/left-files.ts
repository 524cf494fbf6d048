import type { KnownFiles } from './known-files.ts';
import type { OpenFiles } from './open-files.ts';
import type { RecordTeller } from './record-teller.ts';
import type { TailFile } from './tail-file.ts';

/** A writer notices late that its file was renamed: for so long it is looked at. Then its disk space is given back. */
export const LINGER_MS = 5000;

/** Files renamed away that are still looked at; with more, rotation is so quick that the oldest are surely left. */
const MAX_LEFT = 8;

export interface LeftFilesParts {
  open: OpenFiles;
  teller: RecordTeller;
  known: KnownFiles;
  lingerMs: number;
}

/** Files that were live and may still be written to, oldest first. */
export class LeftFiles {
  readonly #parts: LeftFilesParts;
  readonly #files: TailFile[] = [];

  constructor(parts: LeftFilesParts) {
    this.#parts = parts;
  }

  get all(): readonly TailFile[] {
    return this.#files;
  }

  add(file: TailFile): void {
    file.leftMs = performance.now();
    this.#files.push(file);
    while (this.#files.length > MAX_LEFT) this.#retireOldest();
  }

  /** One that is live again. */
  takeBack(id: string): TailFile | undefined {
    const index = this.#files.findIndex((file) => file.id === id);
    return index < 0 ? undefined : this.#files.splice(index, 1)[0];
  }

  /** Tells what was added to them. */
  async look(): Promise<void> {
    const { open, teller, lingerMs } = this.#parts;
    for (const file of this.#files) {
      await open.drain(file);
      teller.tell(file.text.flushLines());
    }
    while (this.#files[0] && performance.now() - this.#files[0].leftMs >= lingerMs) this.#retireOldest();
  }

  #retireOldest(): void {
    const { open, teller, known } = this.#parts;
    const file = this.#files.shift();
    if (!file) return;
    teller.tell(file.text.flushAll());
    known.addMark(file.text.mark);
    open.giveBack(file);
  }
}
