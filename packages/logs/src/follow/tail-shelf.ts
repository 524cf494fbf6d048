import type { Scrubber } from '../scrub/scrubber.ts';
import { LogTail, type TailParts, type TailTarget } from './log-tail.ts';

/** A log nobody follows is read a little longer: whoever reconnects at once finds it going on. */
const KEEP_MS = 1000;

export interface ShelfParts extends TailParts {
  /** The last one was stopped. */
  onEmpty(): void;
}

interface Shelved {
  tail: LogTail;
  started: Promise<void>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** The logs being read: each once, from its first follower until shortly after its last. */
export class TailShelf {
  readonly #parts: ShelfParts;
  readonly #tails = new Map<string, Shelved>();

  constructor(parts: ShelfParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#tails.size;
  }

  get openFiles(): number {
    return [...this.#tails.values()].reduce((sum, { tail }) => sum + tail.open.size, 0);
  }

  /** Whether a live file may come under a name other than that of its log. */
  get hasMovingNames(): boolean {
    return [...this.#tails.values()].some(({ tail }) => tail.name !== tail.family || !tail.current);
  }

  /** A log being read, also while its file is missing for a moment: between the deletion of one and the next. */
  targetOf(wanted: TailTarget): TailTarget | undefined {
    return this.#tails.get(keyOf(wanted))?.tail.target;
  }

  async take(target: TailTarget, { fromStart }: { fromStart: boolean }): Promise<LogTail> {
    const key = keyOf(target);
    let shelved = this.#tails.get(key);
    if (!shelved) {
      const tail = new LogTail(target, this.#parts, { fromStart });
      shelved = { tail, started: tail.start(), users: 0, timer: undefined };
      this.#tails.set(key, shelved);
      for (const other of this.#tails.values()) other.tail.ring.trim();
    }
    shelved.users++;
    clearTimeout(shelved.timer);
    await shelved.started;
    return shelved.tail;
  }

  leave(tail: LogTail): void {
    const key = keyOf(tail.target);
    const shelved = this.#tails.get(key);
    if (shelved?.tail !== tail) return;
    shelved.users--;
    if (shelved.users > 0) return;
    shelved.timer = setTimeout(() => void this.#stop(key, shelved), KEEP_MS);
    // Nobody waits for it: a process that wants to end may.
    shelved.timer.unref();
  }

  /** Something happened to this name, or to one that is not known. */
  wake(name: string | undefined, { entries = false } = {}): void {
    for (const { tail } of this.#tails.values()) {
      if (entries && tail.name === name) tail.noteNameEvent();
      if (name === undefined || tail.name === name) tail.wake();
      else if (tail.left.all.length > 0) tail.wake({ all: true });
    }
  }

  wakeAll(): void {
    for (const { tail } of this.#tails.values()) tail.wake({ all: true });
  }

  rescrub(scrubber: Scrubber): void {
    for (const { tail } of this.#tails.values()) tail.rescrub(scrubber);
  }

  /** Which name leads to the live file of each log now. */
  rename(targets: readonly TailTarget[]): void {
    for (const { family, name } of targets) {
      const tail = this.#tails.get(keyOf({ family, name }))?.tail;
      if (tail && (tail.name !== family || name === family || !tail.current)) tail.name = name;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#tails, ([key, shelved]) => this.#stop(key, shelved)));
  }

  async #stop(key: string, { tail, started, timer }: Shelved): Promise<void> {
    clearTimeout(timer);
    this.#tails.delete(key);
    if (this.#tails.size === 0) this.#parts.onEmpty();
    await started;
    await tail.stop();
  }
}

function keyOf({ name, family }: TailTarget): string {
  return family === undefined ? `file ${name}` : `family ${family}`;
}
