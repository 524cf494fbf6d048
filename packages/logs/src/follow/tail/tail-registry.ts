import type { Scrubber } from '../../scrub/scrubber.ts';
import type { SeenMember, TailDeps, TailTarget } from './family-files.ts';
import { LogTail } from './log-tail.ts';
import { type TailPosition, tailPosition } from './tail-reader.ts';

/** A log is read a little longer after its last follower has left, so that a quick reconnect can continue. */
const KEEP_MS = 1000;

/** Logs polled at a time, in turns, to bound the cost of many logs. */
const MAX_POLLED = 256;

/** How long they are looked at in one turn. Most are at rest, which takes 5 us to see, and a poll 25 and 8 KB of garbage. */
const MOST_LOOK_MS = 2;

export interface TailRegistryDeps extends TailDeps {
  /** Logs that may be read at the same time. */
  maxLogs: number;
  /** Called when the last tail was stopped. */
  onEmpty(): void;
}

interface RegisteredTail {
  tail: LogTail;
  started: Promise<void>; // kept: LogTail.start() keeps its failure instead of rejecting
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** The tails in use: one per log, from its first follower until shortly after its last. */
export class TailRegistry {
  readonly #deps: TailRegistryDeps;
  readonly #tails = new Map<string, RegisteredTail>();
  /** By the name of the live file; rebuilt when one of them changes. */
  #byName: Map<string, LogTail[]> | undefined;
  /** The files of logs that are about to be read, as they were listed: whoever begins to read one begins there. */
  readonly #listed = new Map<string, readonly SeenMember[]>();
  #trimming: NodeJS.Immediate | undefined;
  #polled = 0;

  constructor(deps: TailRegistryDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#tails.size;
  }

  get openFiles(): number {
    return [...this.#tails.values()].reduce((sum, { tail }) => sum + tail.open.size, 0);
  }

  /** Whether a live file may have another name than its log. */
  get hasMovingNames(): boolean {
    return [...this.#tails.values()].some(({ tail }) => tail.name !== tail.family || !tail.current);
  }

  /** A log being read, even while its file is missing between a deletion and the next file. */
  findTarget(wanted: TailTarget): TailTarget | undefined {
    return this.#tails.get(tailKey(wanted))?.tail.target;
  }

  /** The position in all that are read now. */
  positions(): Map<LogTail, TailPosition> {
    return new Map(Array.from(this.#tails.values(), ({ tail }) => [tail, tailPosition(tail)]));
  }

  /** Logs that were listed just now and will be acquired. Returns what ends that. */
  expect(targets: readonly TailTarget[], listing: ReadonlyMap<string, readonly SeenMember[]>): () => void {
    const keys: string[] = [];
    for (const target of targets) {
      const key = tailKey(target);
      const members = listing.get(target.family ?? target.name);
      if (!members || this.#tails.has(key) || this.#listed.has(key)) continue;
      this.#listed.set(key, members);
      keys.push(key);
    }
    return () => {
      for (const key of keys) this.#listed.delete(key);
    };
  }

  /** `undefined` if the limit is reached and the log is optional. */
  async acquire(
    target: TailTarget,
    {
      fromStart,
      members,
      isOptional,
    }: { fromStart: boolean; members?: readonly SeenMember[] | undefined; isOptional: boolean },
  ): Promise<LogTail | undefined> {
    const key = tailKey(target);
    let entry = this.#tails.get(key);
    if (entry?.tail.failure) {
      void this.#stop(key, entry);
      entry = undefined;
    }
    if (!entry) {
      if (isOptional && this.#tails.size >= this.#deps.maxLogs) return undefined;
      const tail = new LogTail(target, this.#deps, { fromStart });
      entry = { tail, started: tail.start(this.#listed.get(key) ?? members), users: 0, timer: undefined };
      this.#tails.set(key, entry);
      this.#byName = undefined;
      this.#trimSoon();
    }
    entry.users++;
    clearTimeout(entry.timer);
    await entry.started;
    return entry.tail;
  }

  /** Trims all rings, as one more log shares the memory budget. */
  #trimSoon(): void {
    this.#trimming ??= setImmediate(() => {
      this.#trimming = undefined;
      for (const { tail } of this.#tails.values()) tail.ring.trim();
    });
  }

  release(tail: LogTail): void {
    const key = tailKey(tail.target);
    const entry = this.#tails.get(key);
    if (entry?.tail !== tail) return;
    entry.users--;
    if (entry.users > 0) return;
    entry.timer = setTimeout(() => void this.#stop(key, entry), KEEP_MS);
    // Must not keep the process alive.
    entry.timer.unref();
  }

  /** Something happened to this name, or to an unknown one. */
  wake(name: string | undefined, { entries = false } = {}): void {
    const named = name === undefined ? undefined : this.#named(name);
    if (named) {
      for (const tail of named) {
        if (entries) tail.noteNameEvent();
        tail.wake();
      }
      return;
    }
    // Perhaps the name of a rotated file.
    for (const { tail } of this.#tails.values()) {
      if (name === undefined) tail.wake();
      else if (tail.rotated.all.length > 0) tail.wake({ all: true });
    }
  }

  #named(name: string): readonly LogTail[] | undefined {
    if (!this.#byName) {
      this.#byName = new Map();
      for (const { tail } of this.#tails.values())
        this.#byName.set(tail.name, [...(this.#byName.get(tail.name) ?? []), tail]);
    }
    return this.#byName.get(name);
  }

  /** Polls in case no event reports a change. */
  poll(): void {
    const tails = [...this.#tails.values()];
    const count = Math.min(MAX_POLLED, tails.length);
    const endMs = performance.now() + MOST_LOOK_MS;
    for (let step = 0; step < count; step++) {
      const { tail } = tails[(this.#polled + step) % tails.length] as RegisteredTail;
      if (performance.now() > endMs || !tail.isAtRest()) tail.wake({ all: true });
    }
    this.#polled = tails.length === 0 ? 0 : (this.#polled + count) % tails.length;
  }

  rescrub(scrubber: Scrubber): void {
    for (const { tail } of this.#tails.values()) tail.rescrub(scrubber);
  }

  /** Updates the name of each log's live file. */
  rename(targets: readonly TailTarget[]): void {
    for (const { family, name } of targets) {
      const tail = this.#tails.get(tailKey({ family, name }))?.tail;
      if (!tail || tail.name === name || (tail.name === family && name !== family && tail.current)) continue;
      tail.name = name;
      this.#byName = undefined;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#tails, ([key, entry]) => this.#stop(key, entry)));
  }

  async #stop(key: string, { tail, started, timer }: RegisteredTail): Promise<void> {
    clearTimeout(timer);
    this.#tails.delete(key);
    this.#byName = undefined;
    if (this.#tails.size === 0) this.#deps.onEmpty();
    await started;
    await tail.stop();
  }
}

function tailKey({ name, family }: TailTarget): string {
  return family === undefined ? `file ${name}` : `family ${family}`;
}
