import { setImmediate } from 'node:timers/promises';
import type { LogHandle } from '../../file/log-handle.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { RecordRing } from '../ring/record-ring.ts';
import { RingWriter } from '../ring/ring-writer.ts';
import { scrubRing } from '../ring/scrub-ring.ts';
import { type FamilyDeps, familyMembers, type SeenMember } from './family-files.ts';
import { KnownFiles } from './known-files.ts';
import { OpenFiles } from './open-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { LINGER_MS, RotatedFiles } from './rotated-files.ts';
import { followReplacement, followTruncation, followUnseenTruncations } from './rotation.ts';
import { readFileId, type TailFile } from './tail-file.ts';

/** A name is missing for a moment in every rotation by rename; only one that stays so is told. */
const MISSING_MS = 500;

export interface TailDeps extends FamilyDeps {
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
  readonly deps: TailDeps;
  readonly ring: RecordRing;
  readonly writer: RingWriter;
  readonly known = new KnownFiles();
  readonly open: OpenFiles;
  readonly rotated: RotatedFiles;
  /** Whether the first record of the log is the first one of the ring's. */
  readonly fromStart: boolean;
  /** The live file. Its descriptor is given back when it is gone for long. */
  current: TailFile | undefined;
  #name: string;
  #missingSinceMs: number | undefined;
  #missingReported = false;
  #awake: Promise<void> | undefined;
  /** Comings and goings of the name that the system told of, and replacements of the file that account for them. */
  #nameEvents = 0;
  #replacements = 0;
  #pollAgain = false;
  #pollRotated = false;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #stopped = false;

  constructor(target: TailTarget, deps: TailDeps, { fromStart }: { fromStart: boolean }) {
    const { zone, times, scrubber, limitBytes, onRead } = deps;
    const { lingerMs = LINGER_MS } = times;
    this.target = target;
    this.deps = deps;
    this.fromStart = fromStart;
    this.#name = target.name;
    this.ring = new RecordRing({ limitBytes });
    this.writer = new RingWriter(this.ring, limitBytes);
    this.open = new OpenFiles({ zone, times, scrubber, writer: this.writer, onRead });
    this.rotated = new RotatedFiles({ open: this.open, writer: this.writer, known: this.known, lingerMs });
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
      this.known.remember(members ?? (await familyMembers(await this.deps.list(family).catch(() => []), family)));
    try {
      const handle = await this.deps.handles.acquire(this.#name);
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
  get positionCursor(): string | undefined {
    const text = this.current?.text;
    if (!text || text.head.length === 0) return undefined;
    return text.ref.cursors.at(text.emittedOffset, Buffer.alloc(0));
  }

  /** Looks at the file now, or again after the look under way. `all`: at those renamed away, too. */
  wake({ all = false } = {}): void {
    if (this.#stopped || !this.#started) return;
    this.#pollAgain = true;
    this.#pollRotated ||= all;
    this.#awake ??= this.#pollUntilIdle().finally(() => {
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
    for (const { text } of this.rotated.all) text.rescrub(scrubber);
    this.current?.text.rescrub(scrubber);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.open.stop();
    clearTimeout(this.#timer);
    await this.#awake;
    this.open.close();
  }

  async #pollUntilIdle(): Promise<void> {
    while (this.#pollAgain && !this.#stopped) {
      this.#pollAgain = false;
      const all = this.#pollRotated;
      this.#pollRotated = false;
      try {
        if (all) await this.rotated.drainAll();
        await this.#poll();
      } catch {
        await this.#onUnreadable();
      }
      this.#arm();
    }
  }

  async #poll(): Promise<void> {
    const handle = await this.deps.handles.acquire(this.#name);
    let isTaken = false;
    try {
      if (!this.current || !(await this.#isCurrent(handle, this.current))) {
        isTaken = true;
        // What happened to the name before we looked may still wait to be told: with the second turn it has been.
        await setImmediate();
        await setImmediate();
        await this.#switchTo(handle, this.#nameEvents);
      }
      this.#missingSinceMs = undefined;
      this.#missingReported = false;
      if (this.current) await this.#readNew(this.current, handle);
    } finally {
      if (!isTaken) handle.release();
    }
  }

  async #isCurrent(handle: LogHandle, file: TailFile): Promise<boolean> {
    const isOpen = this.open.has(file);
    if (isOpen && handle.fd === file.handle.fd) return true;
    if ((await readFileId(handle)) !== file.id) return false;
    if (isOpen) return true;
    // It was gone for long and has come back, or another one has been given its number: the next read tells.
    const reopened = await this.deps.handles.acquire(this.#name);
    if ((await readFileId(reopened)) === file.id) {
      this.open.reopen(file, reopened);
      return true;
    }
    reopened.release();
    return false;
  }

  /**
   * The name leads to another file than before. Each file that took the place of another made two events, or one if it
   * did so at once: more of them mean files that came and went between two looks.
   */
  async #switchTo(handle: LogHandle, nameEvents: number): Promise<void> {
    const known = this.rotated.takeBack(await readFileId(handle));
    if (known) handle.release();
    const next = known ?? (await this.open.open(handle, 'start', this.current));
    // The file is there: an event without its twin means that the other one is still to come.
    const reportedReplacements = Math.ceil(nameEvents / 2);
    if (this.current)
      await followReplacement(this, this.current, { next, atLeast: reportedReplacements - this.#replacements });
    this.#replacements = reportedReplacements;
    this.current = next;
  }

  async #readNew(file: TailFile, { sizeBytes, modifiedNs }: LogHandle): Promise<void> {
    // Whatever the writer wrote to the old file before the first line of this one is there by now: it comes first.
    if (file.text.isUnread && sizeBytes > 0) {
      await this.rotated.drainAll();
      if (file.isRestarted) {
        if (!(await file.expectStart())) return;
        await followUnseenTruncations(this, file);
      }
    }
    if (sizeBytes < file.position) return this.#onTruncated(file);
    if (sizeBytes === file.position && modifiedNs === file.quietNs) return;
    do {
      const { entries, truncated, bytes } = await file.readNext(sizeBytes);
      if (truncated) return this.#onTruncated(file);
      await this.writer.writeAll(entries);
      if (bytes === 0) break;
    } while (file.position < sizeBytes && !this.#stopped);
    file.quietNs = modifiedNs;
  }

  async #onTruncated(file: TailFile): Promise<void> {
    await followTruncation(this, file);
    this.#pollAgain = true;
  }

  /** Not there, or not readable: what is open is read on, and the name is tried again at the next poll. */
  async #onUnreadable(): Promise<void> {
    const nowMs = performance.now();
    const { missingMs = MISSING_MS, lingerMs = LINGER_MS } = this.deps.times;
    if (this.current) await this.open.drain(this.current);
    this.#missingSinceMs ??= nowMs;
    const missingForMs = nowMs - this.#missingSinceMs;
    if (!this.current || missingForMs < missingMs) return;
    if (!this.#missingReported) {
      this.writer.write(this.current.text.flushLines());
      this.writer.writeEvent({ type: 'missing', family: this.family });
      this.#missingReported = true;
    }
    if (missingForMs >= lingerMs) this.open.release(this.current);
  }

  /** One timer for whatever is due next. */
  #arm(): void {
    clearTimeout(this.#timer);
    const files = this.current ? [...this.rotated.all, this.current] : this.rotated.all;
    const dueMs = Math.min(Infinity, ...files.map(({ text }) => text.dueMs));
    if (dueMs === Infinity || this.#stopped) return;
    const flush = () => {
      if (!this.writer.isBusy) for (const { text } of files) this.writer.write(text.flush(performance.now()));
      this.#arm();
    };
    this.#timer = setTimeout(flush, Math.max(1, dueMs - performance.now()));
  }
}
