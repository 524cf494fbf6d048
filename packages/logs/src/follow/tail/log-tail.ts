import { Condition } from '../../condition.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { statFd } from '../../fs-calls.ts';
import { isFileFailure, undefinedIfUnreadable } from '../../log-error.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { NO_WORK, owned } from '../../shared.ts';
import { RecordRing, RingWriter } from '../ring/record-ring.ts';
import {
  type FirstPosition,
  KnownFiles,
  listMembers,
  type SeenMember,
  type TailDeps,
  type TailTarget,
} from './family-files.ts';
import { acquireListed, OpenFiles } from './open-files.ts';
import { LINGER_MS, RotatedFiles, Rotation } from './rotation.ts';
import { readFileId, type TailFile } from './tail-file.ts';
import { type TailPosition, tailPosition } from './tail-reader.ts';
import {
  type FoundFile,
  ReplacementCount,
  type TailAction,
  type TailEvent,
  type TailState,
  transition,
  unreadableEvent,
} from './tail-state.ts';
import type { TailText } from './tail-text.ts';

/**
 * Reads one log as it grows, for all its followers. Polls find out what happened to the live file; what follows from it
 * is in the table of `tail-state.ts`, whose actions are executed here.
 */
export class LogTail {
  readonly target: TailTarget;
  readonly deps: TailDeps;
  readonly ring: RecordRing;
  readonly writer: RingWriter;
  readonly open: OpenFiles;
  readonly rotated: RotatedFiles;
  /** Whether the ring starts with the first record of the log. */
  readonly fromStart: boolean;
  /** Where the ring begins. */
  begun: TailPosition | undefined;
  readonly #known = new KnownFiles();
  readonly #rotation: Rotation;
  readonly #replacements = new ReplacementCount();
  readonly #polls = new PollLoop();
  #state: TailState = 'starting';
  #file: TailFile | undefined;
  #name: string;
  #first: FirstPosition;
  /** When the first of the latest polls in a row found no readable file. */
  #unreadableSinceMs: number | undefined;
  #pollRotated = false;
  #polling = NO_WORK;
  #failure: { error: unknown } | undefined;

  constructor(target: TailTarget, deps: TailDeps, { fromStart }: { fromStart: boolean }) {
    const { zone, reads, formats, times, scrubber, limitBytes, onRead } = deps;
    const { lingerMs = LINGER_MS } = times;
    this.target = target;
    this.deps = deps;
    this.fromStart = fromStart;
    this.#name = target.name;
    this.#first = fromStart ? 'start' : 'end';
    this.ring = new RecordRing({ limitBytes });
    this.writer = new RingWriter(this.ring, limitBytes);
    this.open = new OpenFiles({ zone, reads, formats, times, scrubber, writer: this.writer, onRead });
    this.rotated = new RotatedFiles({ open: this.open, writer: this.writer, known: this.#known, lingerMs });
    const { ring, writer, open, rotated, family: name } = this;
    const files = { ...deps, listMs: times.listMs };
    const shared = { ring, writer, open, rotated, known: this.#known, files, liveName: () => this.#name };
    this.#rotation = new Rotation({ name, family: target.family, ...shared });
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

  /** The live file, or the last one while the name is missing. */
  get current(): TailFile | undefined {
    return this.#file;
  }

  /** Has no open live file: there was none yet, or it has been missing for long. */
  get isGone(): boolean {
    return !this.#file || !this.open.has(this.#file);
  }

  /** The error that ended reading, if it was neither a missing nor an unreadable file. */
  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  /** Whether the live file is known to have timestamps; if not, older files still may. */
  get isTimed(): boolean {
    const text = this.#file?.text;
    return text?.format.timed === true || text?.firstTimeMs !== undefined;
  }

  /** The text that is being written to the ring: in the middle of a rotation not that of the live file. */
  get text(): TailText | undefined {
    return this.#rotation.emitting ?? this.#file?.text;
  }

  get isRotating(): boolean {
    return this.#rotation.emitting !== undefined;
  }

  /** Cursor of the position (not the record) at which the ring's next entry begins. */
  get positionCursor(): string | undefined {
    const { text } = this;
    if (!text || text.head.length === 0) return undefined;
    return text.ref.cursors.at(text.emittedOffset, Buffer.alloc(0));
  }

  /**
   * Opens the live file if there is a readable one. `members`: the family's files as they were listed; what was written since
   * then is read.
   */
  async start(members?: readonly SeenMember[]): Promise<void> {
    try {
      const { family } = this.target;
      const listed = family === undefined ? [] : (members ?? (await listMembers(family, this.deps)));
      this.#known.remember(listed);
      await this.#whileReadable(async () => {
        const { handle, from } = await acquireListed({ name: this.#name, family: this.family, members, ...this.deps });
        if (!this.fromStart) this.#first = from;
        await this.#dispatch('other-file', { handle, replacements: 0 });
      });
      if (family !== undefined && !this.fromStart)
        await this.rotated.addLeft(this.#file, { family, listed, ...this.deps });
    } catch (error) {
      await this.#fail(error);
    }
    this.begun = tailPosition(this);
    if (!this.#isEnded)
      this.#polling = owned(this.#pollWhenWoken(), (error) => {
        this.#failure = { error };
      });
    this.wake();
  }

  /** Whether a poll would find nothing new, as far as stats that are read on this thread show it. */
  isAtRest(): boolean {
    const { count } = this.#replacements;
    const isReading = this.#state === 'reading' && this.rotated.all.length === 0;
    const stats = isReading ? this.deps.handles.statNow(this.#name) : undefined;
    if (!stats || !this.#file?.isAtRest(stats)) return false;
    this.#replacements.settle(count);
    return true;
  }

  /** Polls the file now, or again after the poll in progress. `all`: the rotated files, too. */
  wake({ all = false } = {}): void {
    this.#pollRotated ||= all;
    this.#polls.wake();
  }

  /** Resolves when everything that was written before the call was read, even if no poll had noticed it yet. */
  async catchUp(): Promise<void> {
    this.#pollRotated = true;
    if (!this.#isEnded) await this.#polls.pollNow();
  }

  /** Bytes of the live file that were not read yet. */
  async unreadBytes(): Promise<number> {
    const file = this.#file;
    if (!file || this.isGone) return 0;
    const stats = await statFd(file.handle.fd).catch(undefinedIfUnreadable);
    return stats ? Math.max(0, Number(stats.size) - file.position) : 0;
  }

  /** A file system event: the name was created, renamed or deleted. */
  noteNameEvent(): void {
    this.#replacements.noteEvent();
  }

  /** The secrets have changed: masks them in everything buffered, emitted or not. */
  rescrub(scrubber: Scrubber): void {
    this.ring.rescrub(scrubber);
    for (const { text } of this.rotated.all) text.rescrub(scrubber);
    this.#file?.text.rescrub(scrubber);
  }

  async stop(): Promise<void> {
    this.#state = transition(this.#state, 'stop').next;
    this.open.stop();
    this.writer.stopFlushing();
    this.wake();
    await this.#polling;
    this.open.close();
  }

  /** Executes the actions of an event. `found` is what the name leads to, if the event is about that. */
  async #dispatch(event: TailEvent, found?: FoundFile): Promise<void> {
    const { next, actions } = transition(this.#state, event);
    for (const action of actions) await this.#execute(action, found);
    // A stop meanwhile wins.
    if (this.#state !== 'stopped') this.#state = next;
    if (this.#state === 'reading') this.#unreadableSinceMs = undefined;
  }

  async #execute(action: TailAction, found?: FoundFile): Promise<void> {
    switch (action) {
      case 'open-first':
        this.#file = await this.open.open(given(found).handle, this.#first);
        return;
      case 'open-created':
      case 'replace':
        return this.#switchTo(given(found));
      case 'reopen':
        return this.open.reopen(given(this.#file), given(found).handle);
      case 'drain':
        return this.open.drain(given(this.#file));
      case 'report-missing':
        return this.#reportMissing(given(this.#file));
      case 'release':
        return this.open.release(given(this.#file));
      case 'restart':
        return this.#rotation.followTruncation(given(this.#file));
      case 'poll-again':
        return this.wake();
      case 'fail':
        return this.ring.notify();
    }
  }

  /** Runs until the tail is stopped, or a defect ends it. */
  async #pollWhenWoken(): Promise<void> {
    try {
      await this.#polls.run(async () => {
        if (!this.#isEnded) await this.#whileReadable(() => this.#poll());
        if (this.#isEnded) return false;
        this.writer.flushWhenDue(() => (this.#file ? [...this.rotated.all, this.#file] : this.rotated.all));
        return true;
      });
    } catch (error) {
      await this.#fail(error);
    }
  }

  get #isEnded(): boolean {
    return this.#state === 'stopped' || this.#state === 'failed';
  }

  /** A missing or unreadable file is an event; any other error is thrown. */
  async #whileReadable(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      const nowMs = performance.now();
      this.#unreadableSinceMs ??= nowMs;
      const { missingMs, lingerMs = LINGER_MS } = this.deps.times;
      await this.#dispatch(unreadableEvent(this.#state, nowMs - this.#unreadableSinceMs, { missingMs, lingerMs }));
    }
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = { error };
    await this.#dispatch('defect');
  }

  async #poll(): Promise<void> {
    const all = this.#pollRotated;
    this.#pollRotated = false;
    if (all) await this.rotated.drainAll();
    const replacements = this.#replacements.count;
    const handle = await this.deps.handles.acquire(this.#name);
    try {
      if (this.#file && (await this.open.isSameFile(this.#file, handle))) {
        this.#replacements.settle(replacements);
        await this.#dispatch('same-file', { handle, replacements });
      } else {
        const counted = (await this.#replacements.countUpTo(handle, this.deps.handles)) ?? replacements;
        await this.#dispatch('other-file', { handle, replacements: counted });
      }
      if (this.#state === 'reading' && this.#file) await this.#readNew(this.#file, handle);
    } finally {
      if (!this.open.holds(handle)) handle.release();
    }
  }

  /** The name belongs to another file than before. */
  async #switchTo({ handle, replacements }: FoundFile): Promise<void> {
    const old = this.#file;
    const next = this.rotated.takeBack(await readFileId(handle)) ?? (await this.open.open(handle, 'start', old));
    const atLeast = this.#replacements.unfollowed(replacements);
    const files = old ? await this.#rotation.followReplacement(old, { next, atLeast }) : 1;
    this.#replacements.follow(files, replacements);
    this.#file = next;
    this.#rotation.settle();
  }

  async #readNew(file: TailFile, { sizeBytes, modifiedNs }: LogHandle): Promise<void> {
    // What the writer appended to the old file before the first line of this one is complete by now: it comes first.
    if (file.text.isUnread && sizeBytes > 0) {
      await this.rotated.drainAll();
      if (file.isRestarted) {
        if (!(await file.expectStart())) return;
        await this.#rotation.followUnseenTruncations(file);
      }
    }
    if (sizeBytes < file.position) return this.#dispatch('truncated');
    if (sizeBytes === file.position && modifiedNs === file.quietNs) return;
    do {
      const { entries, truncated, bytes } = await file.readNext(sizeBytes);
      if (truncated) return this.#dispatch('truncated');
      await this.writer.writeAll(entries);
      if (bytes === 0) break;
    } while (file.position < sizeBytes && this.#state === 'reading');
    file.quietNs = modifiedNs;
  }

  #reportMissing({ text }: TailFile): void {
    this.writer.write(text.flushLines());
    this.writer.writeEvent({ type: 'missing', family: this.family });
  }
}

/** The states that have an action also have what it needs. */
function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the state of the tail has no file for this action');
  return value;
}

/** Polls when woken, one poll after the other. */
class PollLoop {
  readonly #woken = new Condition();
  readonly #ended = new Condition();
  #begun = 0;
  #done = 0;

  /** Polls now, or again after the poll in progress. */
  wake(): void {
    this.#woken.notify();
  }

  /** Resolves when a poll that begins after this call has ended, or there are no more. */
  async pollNow(): Promise<void> {
    const wanted = this.#begun + 1;
    this.wake();
    while (this.#done < wanted) await this.#ended.wait();
  }

  /** Ends when `poll` returns false or throws. */
  async run(poll: () => Promise<boolean>): Promise<void> {
    try {
      for (let goesOn = true; goesOn; ) {
        await this.#woken.wait();
        this.#begun++;
        goesOn = await poll();
        this.#done = this.#begun;
        this.#ended.notify();
      }
    } finally {
      this.#done = Number.POSITIVE_INFINITY;
      this.#ended.notify();
    }
  }
}
