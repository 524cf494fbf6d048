import { setImmediate } from 'node:timers/promises';
import type { LogHandle } from '../file/log-handle.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { type FamilyParts, membersOf, type SeenMember } from './family-files.ts';
import { KnownFiles } from './known-files.ts';
import { LeftFiles, LINGER_MS } from './left-files.ts';
import { OpenFiles } from './open-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { RecordRing } from './record-ring.ts';
import { RecordTeller } from './record-teller.ts';
import { passCut, passReplaced, passUnseenCuts } from './rotation.ts';
import { scrubRing } from './scrub-ring.ts';
import { idOf, type TailFile } from './tail-file.ts';

/** A name is missing for a moment in every rotation by rename; only one that stays so is told. */
const MISSING_MS = 500;

export interface TailParts extends FamilyParts {
  times: AssemblerTimes & { missingMs?: number | undefined; lingerMs?: number | undefined };
  limitBytes(): number;
  onRead(): void;
}

export interface TailTarget {
  /** The name followed. */
  name: string;
  /** Whose files are looked through at a rotation; without one, the name stands for itself. */
  family: string | undefined;
}

/** Reads one log as it grows, for all its followers. */
export class LogTail {
  readonly target: TailTarget;
  readonly parts: TailParts;
  readonly ring: RecordRing;
  readonly teller: RecordTeller;
  readonly known = new KnownFiles();
  readonly open: OpenFiles;
  readonly left: LeftFiles;
  /** Whether the first record of the log is the first one of the ring's. */
  readonly fromStart: boolean;
  /** The live file. Its descriptor is given back when it is gone for long. */
  current: TailFile | undefined;
  #name: string;
  #missingSinceMs: number | undefined;
  #missingTold = false;
  #awake: Promise<void> | undefined;
  /** Comings and goings of the name that the system told of, and replacements of the file that account for them. */
  #nameEvents = 0;
  #replacements = 0;
  #lookAgain = false;
  #lookAtAll = false;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #stopped = false;

  constructor(target: TailTarget, parts: TailParts, { fromStart }: { fromStart: boolean }) {
    const { zone, times, scrubber, limitBytes, onRead } = parts;
    const { lingerMs = LINGER_MS } = times;
    this.target = target;
    this.parts = parts;
    this.fromStart = fromStart;
    this.#name = target.name;
    this.ring = new RecordRing({ limitBytes });
    this.teller = new RecordTeller(this.ring, limitBytes);
    this.open = new OpenFiles({ zone, times, scrubber, teller: this.teller, onRead });
    this.left = new LeftFiles({ open: this.open, teller: this.teller, known: this.known, lingerMs });
  }

  get family(): string {
    return this.target.family ?? this.target.name;
  }

  /** The name that leads to the live file at the moment. */
  get name(): string {
    return this.#name;
  }

  set name(name: string) {
    if (name === this.#name) return;
    this.#name = name;
    this.wake();
  }

  /** Missing for so long that even its descriptor was given back. */
  get isGone(): boolean {
    return !this.current || !this.open.has(this.current);
  }

  /** A file that is not there, or cannot be read, is waited for. `members`: its files, where they were listed just now. */
  async start(members?: readonly SeenMember[]): Promise<void> {
    const { family } = this.target;
    if (family !== undefined)
      this.known.remember(members ?? (await membersOf(await this.parts.list(family).catch(() => []), family)));
    try {
      const handle = await this.parts.handles.acquire(this.#name);
      this.current = await this.open.open(handle, this.fromStart ? 'start' : 'end');
    } catch {
      this.#missingSinceMs = performance.now();
    }
    this.#started = true;
    this.wake();
  }

  /** Whether the live file is known to have timestamps: otherwise older ones may. */
  get isTimed(): boolean {
    const text = this.current?.text;
    return text !== undefined && (text.format.timed || text.firstTimeMs !== undefined);
  }

  /** Where the ring's next entry begins: a place, not a record. */
  get placeCursor(): string | undefined {
    const text = this.current?.text;
    if (!text || text.head.length === 0) return undefined;
    return text.place.cursors.at(text.toldOffset, Buffer.alloc(0));
  }

  /** Looks at the file now, or again after the look under way. `all`: at those renamed away, too. */
  wake({ all = false } = {}): void {
    if (this.#stopped || !this.#started) return;
    this.#lookAgain = true;
    this.#lookAtAll ||= all;
    this.#awake ??= this.#lookWhileAsked().finally(() => {
      this.#awake = undefined;
    });
  }

  /** The system told that the name came or went. */
  noteNameEvent(): void {
    this.#nameEvents++;
  }

  /** Other secrets are known now: masks them in what is kept, told or not. */
  rescrub(scrubber: Scrubber): void {
    scrubRing(this.ring, scrubber);
    for (const { text } of this.left.all) text.rescrub(scrubber);
    this.current?.text.rescrub(scrubber);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.open.stop();
    clearTimeout(this.#timer);
    await this.#awake;
    this.open.close();
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false;
      const all = this.#lookAtAll;
      this.#lookAtAll = false;
      try {
        if (all) await this.left.look();
        await this.#look();
      } catch {
        await this.#cannotRead();
      }
      this.#arm();
    }
  }

  async #look(): Promise<void> {
    const handle = await this.parts.handles.acquire(this.#name);
    let isTaken = false;
    try {
      if (!this.current || !(await this.#isCurrent(handle, this.current))) {
        isTaken = true;
        // What happened to the name before we looked may still wait to be told: with the second turn it has been.
        await setImmediate();
        await setImmediate();
        await this.#goTo(handle, this.#nameEvents);
      }
      this.#missingSinceMs = undefined;
      this.#missingTold = false;
      if (this.current) await this.#readOn(this.current, handle);
    } finally {
      if (!isTaken) handle.release();
    }
  }

  async #isCurrent(handle: LogHandle, file: TailFile): Promise<boolean> {
    const isOpen = this.open.has(file);
    if (isOpen && handle.fd === file.handle.fd) return true;
    if ((await idOf(handle)) !== file.id) return false;
    if (isOpen) return true;
    // It was gone for long and has come back, or another one has been given its number: the next read tells.
    const kept = await this.parts.handles.acquire(this.#name);
    if ((await idOf(kept)) === file.id) {
      this.open.reopen(file, kept);
      return true;
    }
    kept.release();
    return false;
  }

  /**
   * The name leads to another file than before. Each file that took the place of another made two events, or one if it
   * did so at once: more of them mean files that came and went between two looks.
   */
  async #goTo(handle: LogHandle, nameEvents: number): Promise<void> {
    const known = this.left.takeBack(await idOf(handle));
    if (known) handle.release();
    const next = known ?? (await this.open.open(handle, 'start', this.current));
    // The file is there: an event without its twin means that the other one is still to come.
    const told = Math.ceil(nameEvents / 2);
    if (this.current) await passReplaced(this, this.current, { next, atLeast: told - this.#replacements });
    this.#replacements = told;
    this.current = next;
  }

  async #readOn(file: TailFile, { sizeBytes, modifiedNs }: LogHandle): Promise<void> {
    // Whatever the writer wrote to the old file before the first line of this one is there by now: it comes first.
    if (file.text.isUnread && sizeBytes > 0) {
      await this.left.look();
      if (file.isRestarted) {
        if (!(await file.expectStart())) return;
        await passUnseenCuts(this, file);
      }
    }
    if (sizeBytes < file.position) return this.#cut(file);
    if (sizeBytes === file.position && modifiedNs === file.quietNs) return;
    do {
      const { entries, truncated, bytes } = await file.readOn(sizeBytes);
      if (truncated) return this.#cut(file);
      await this.teller.tellAll(entries);
      if (bytes === 0) break;
    } while (file.position < sizeBytes && !this.#stopped);
    file.quietNs = modifiedNs;
  }

  async #cut(file: TailFile): Promise<void> {
    await passCut(this, file);
    this.#lookAgain = true;
  }

  /** Not there, or not readable: what is open is read on, and the name is tried again at the next poll. */
  async #cannotRead(): Promise<void> {
    const nowMs = performance.now();
    const { missingMs = MISSING_MS, lingerMs = LINGER_MS } = this.parts.times;
    if (this.current) await this.open.drain(this.current);
    this.#missingSinceMs ??= nowMs;
    const missingForMs = nowMs - this.#missingSinceMs;
    if (!this.current || missingForMs < missingMs) return;
    if (!this.#missingTold) {
      this.teller.tell(this.current.text.flushLines());
      this.teller.tellEvent({ type: 'missing', family: this.family });
      this.#missingTold = true;
    }
    if (missingForMs >= lingerMs) this.open.giveBack(this.current);
  }

  /** One timer for whatever is due next. */
  #arm(): void {
    clearTimeout(this.#timer);
    const files = this.current ? [...this.left.all, this.current] : this.left.all;
    const dueMs = Math.min(Infinity, ...files.map(({ text }) => text.dueMs));
    if (dueMs === Infinity || this.#stopped) return;
    const flush = () => {
      if (!this.teller.isBusy) for (const { text } of files) this.teller.tell(text.flush(performance.now()));
      this.#arm();
    };
    this.#timer = setTimeout(flush, Math.max(1, dueMs - performance.now()));
  }
}
