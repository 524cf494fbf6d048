import { setImmediate } from 'node:timers/promises';
import type { LogHandle } from '../../file/log-handle.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { RecordRing } from '../ring/record-ring.ts';
import { RingWriter } from '../ring/ring-writer.ts';
import { type FamilyDeps, familyMembers, type SeenMember } from './family-files.ts';
import { KnownFiles } from './known-files.ts';
import { OpenFiles } from './open-files.ts';
import type { AssemblerTimes } from './record-assembler.ts';
import { LINGER_MS, RotatedFiles } from './rotated-files.ts';
import { followReplacement, followTruncation, followUnseenTruncations } from './rotation.ts';
import { readFileId, type TailFile } from './tail-file.ts';

/** A rotation by rename leaves the name missing for a moment; it is reported only if it stays missing. */
const MISSING_MS = 500;

export interface TailDeps extends FamilyDeps {
  times: AssemblerTimes & { missingMs?: number | undefined; lingerMs?: number | undefined };
  limitBytes(): number;
  onRead(): void;
}

export interface TailTarget {
  /** The file name followed. */
  name: string;
  /** The family searched for successors at a rotation; `undefined` to follow only this name. */
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
  /** Whether the ring starts with the first record of the log. */
  readonly fromStart: boolean;
  /** The live file. Its descriptor is released if the name stays missing. */
  current: TailFile | undefined;
  #name: string;
  #missingSinceMs: number | undefined;
  #missingReported = false;
  #awake: Promise<void> | undefined;
  /** File system events for the name, and the replacements of the file that account for them. */
  #nameEvents = 0;
  #replacements = 0;
  #pollAgain = false;
  #pollRotated = false;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #stopped = false;
  #failure: { error: unknown } | undefined;

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

  /** The present name of the live file. */
  get name(): string {
    return this.#name;
  }

  set name(name: string) {
    if (name === this.#name) return;
    this.#name = name;
    this.wake();
  }

  /** Missing for so long that its descriptor was released. */
  get isGone(): boolean {
    return !this.current || !this.open.has(this.current);
  }

  /** Waits for a file that is missing or unreadable. `members`: the family's files, if they were listed just now. */
  async start(members?: readonly SeenMember[]): Promise<void> {
    const { family } = this.target;
    if (family !== undefined) this.known.remember(members ?? (await this.#listMembers(family)));
    try {
      const handle = await this.deps.handles.acquire(this.#name);
      this.current = await this.open.open(handle, this.fromStart ? 'start' : 'end');
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      this.#missingSinceMs = performance.now();
    }
    this.#started = true;
    this.wake();
  }

  async #listMembers(family: string): Promise<SeenMember[]> {
    const files = await this.deps.list(family).catch(undefinedIfUnreadable);
    return familyMembers(files ?? [], family);
  }

  /** The error that ended reading, if it was neither a missing nor an unreadable file. */
  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  /** Whether the live file is known to have timestamps; if not, older files still may. */
  get isTimed(): boolean {
    const text = this.current?.text;
    return text !== undefined && (text.format.timed || text.firstTimeMs !== undefined);
  }

  /** Cursor of the position (not the record) at which the ring's next entry begins. */
  get positionCursor(): string | undefined {
    const text = this.current?.text;
    if (!text || text.head.length === 0) return undefined;
    return text.ref.cursors.at(text.emittedOffset, Buffer.alloc(0));
  }

  /** Polls the file now, or again after the poll in progress. `all`: the rotated files, too. */
  wake({ all = false } = {}): void {
    if (this.#stopped || !this.#started) return;
    this.#pollAgain = true;
    this.#pollRotated ||= all;
    this.#awake ??= this.#pollUntilIdle().finally(() => {
      this.#awake = undefined;
    });
  }

  /** A file system event: the name was created, renamed or deleted. */
  noteNameEvent(): void {
    this.#nameEvents++;
  }

  /** The secrets have changed: masks them in everything buffered, emitted or not. */
  rescrub(scrubber: Scrubber): void {
    this.ring.rescrub(scrubber);
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
      } catch (error) {
        if (!isFileFailure(error)) return this.#fail(error);
        await this.#onUnreadable();
      }
      this.#arm();
    }
  }

  /** A defect: the followers get the error, and the log is not read on. */
  #fail(error: unknown): void {
    this.#failure = { error };
    this.#stopped = true;
    this.ring.notify();
  }

  async #poll(): Promise<void> {
    const handle = await this.deps.handles.acquire(this.#name);
    let isTaken = false;
    try {
      if (!this.current || !(await this.#isCurrent(handle, this.current))) {
        isTaken = true;
        // Events of what happened to the name before may still be queued: after two turns they have been delivered.
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
    // Either the file has returned, or a new one got its inode number: the next read finds out.
    const reopened = await this.deps.handles.acquire(this.#name);
    if ((await readFileId(reopened)) === file.id) {
      this.open.reopen(file, reopened);
      return true;
    }
    reopened.release();
    return false;
  }

  /**
   * The name belongs to another file than before. Each replacement causes two events, or one if it is atomic: more of
   * them mean that files came and went between two polls.
   */
  async #switchTo(handle: LogHandle, nameEvents: number): Promise<void> {
    const known = this.rotated.takeBack(await readFileId(handle));
    if (known) handle.release();
    const next = known ?? (await this.open.open(handle, 'start', this.current));
    // The file exists, so an odd event means that the second one of its pair is still to come.
    const reportedReplacements = Math.ceil(nameEvents / 2);
    if (this.current)
      await followReplacement(this, this.current, { next, atLeast: reportedReplacements - this.#replacements });
    this.#replacements = reportedReplacements;
    this.current = next;
  }

  async #readNew(file: TailFile, { sizeBytes, modifiedNs }: LogHandle): Promise<void> {
    // What the writer appended to the old file before the first line of this one is complete by now: it comes first.
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

  /** The name is missing or unreadable: the open file is drained, and the next poll tries the name again. */
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

  /** One timer for whatever has to be flushed next. */
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
