import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '@porthole/contract';
import { pause } from '@porthole/logs';
import { type Owned, owned } from '@porthole/logs/shared';
import type { Logger } from '../own-log/own-log.ts';
import { RotatingLog } from '../own-log/rotating-log.ts';
import { type EntryLine, EntrySplitter, noticeLine } from './entry-line.ts';
import { explainFiles, findJournalFiles, readLastCursor } from './journal-files.ts';
import {
  isJournalCursor,
  JournalError,
  type JournalRange,
  type JournalSelection,
  journalctlArgs,
  runJournalctl,
} from './journalctl.ts';

/** Files of a log, the one being written included: the oldest eighth is removed at a time. */
const FILES = 8;

/** An entry with its fields, in bytes: about as many are read at first as can be kept. */
const ENTRY_BYTES = 1024;

/** More than one chunk of output can be: it is written before the next one is read. */
const QUEUE_BYTES = 16 * 1024 ** 2;

/** Between two attempts to run `journalctl`; doubled each time. */
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 60_000;

export interface JournalSpoolOptions {
  dir: string;
  fileName: string;
  selection: JournalSelection;
  /** The limit of all its files together. */
  maxBytes: number;
  /** What is read first if nothing was before. The newest that fit by default. */
  range?: JournalRange;
  log?: Pick<Logger, 'info' | 'warn'> | undefined;
  retryMs?: number;
}

/** `behind`: older entries are still being read. `failed`: retried until it works. */
export interface JournalStatus {
  state: 'behind' | 'live' | 'failed';
  detail: string;
  /** Entries that this user may not read, while others are read. */
  incomplete: string | undefined;
}

/**
 * Copies entries of the journal into a rotating file of JSON lines. Where it stopped is the cursor in the last line, so
 * nothing is lost or repeated by a restart or a crash, as long as the journal still has the entries.
 */
export class JournalSpool {
  readonly #options: JournalSpoolOptions;
  readonly #log: RotatingLog;
  readonly #stop = new AbortController();
  #running: Owned | undefined;
  #cursor: string | undefined;
  #status: JournalStatus = { state: 'behind', detail: 'the journal is being read', incomplete: undefined };
  #entries = 0;
  #bytes = 0;

  private constructor(options: JournalSpoolOptions, log: RotatingLog, cursor: string | undefined) {
    this.#options = options;
    this.#log = log;
    this.#cursor = cursor;
  }

  static async open(options: JournalSpoolOptions): Promise<JournalSpool> {
    const { dir, fileName, maxBytes } = options;
    const cursor = await readLastCursor(dir, fileName);
    const log = await RotatingLog.open({
      dir,
      fileName,
      maxFileBytes: Math.floor(maxBytes / FILES),
      keepFiles: FILES - 1,
      maxFileAgeMs: 0,
      keepAgeMs: 0,
      gzip: false,
      maxQueueBytes: QUEUE_BYTES,
      now: Date.now, // clock: names of rotated files
      parseTime: () => undefined,
      // clock: timestamps of entries
      describeDrops: (dropped) => noticeLine(`${dropped} entries are missing here`, `${Date.now()}000`),
    });
    return new JournalSpool(options, log, cursor !== undefined && isJournalCursor(cursor) ? cursor : undefined);
  }

  get status(): JournalStatus {
    return this.#status;
  }

  /** Entries read since it was opened. */
  get entries(): number {
    return this.#entries;
  }

  /** Whether older entries may have been removed for newer ones. */
  get isTrimmed(): boolean {
    return this.#bytes > (this.#options.maxBytes / FILES) * (FILES - 1);
  }

  /** Reads what the journal has now. Throws a `JournalError` if that is not possible. */
  async catchUp(signal: AbortSignal = this.#stop.signal): Promise<void> {
    const { selection } = this.#options;
    const files = await findJournalFiles(selection.directory);
    const missing = explainFiles(files, selection.directory);
    try {
      await this.#read(false, signal);
    } catch (error) {
      if (error instanceof JournalError && missing !== undefined && files.unreadable > 0)
        throw new JournalError(missing);
      throw error;
    }
    // The program ends well and without output where there are no files, which must not look like a quiet journal.
    if (files.files === 0) throw new JournalError(missing ?? 'no journal files');
    this.#status = { ...this.#status, incomplete: missing };
  }

  /** Reads until it is closed, also entries that are written from now on. A failure is retried, and shown meanwhile. */
  start(): void {
    this.#running ??= owned(this.#run(), (error) => {
      this.#status = { ...this.#status, state: 'failed', detail: errorMessage(error) };
    });
  }

  /** Ends `journalctl` and waits for it. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#log.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { retryMs = RETRY_MIN_MS, log } = this.#options;
    let waitMs = retryMs;
    while (!signal.aborted) {
      try {
        await this.catchUp();
        if (signal.aborted) return;
        this.#noteLive();
        waitMs = retryMs;
        await this.#read(true, signal);
        if (!signal.aborted) throw new JournalError('journalctl ended by itself');
      } catch (error) {
        if (signal.aborted) return;
        const detail = errorMessage(error);
        if (detail !== this.#status.detail) log?.warn('journal', 'the journal cannot be read', { error: detail });
        this.#status = { ...this.#status, state: 'failed', detail };
        await pause(waitMs, signal);
        waitMs = Math.min(RETRY_MAX_MS, waitMs * 2);
      }
    }
  }

  #noteLive(): void {
    const { log, selection } = this.#options;
    const { unit } = selection;
    const isEmpty = this.#cursor === undefined;
    const what = unit === undefined ? 'the journal' : `the journal of ${unit}`;
    this.#status = {
      ...this.#status,
      state: 'live',
      detail: isEmpty ? `${what} has no entries yet` : `${what} is read`,
    };
    log?.info('journal', this.#status.detail, { entries: this.#entries });
    if (this.#status.incomplete !== undefined) log?.warn('journal', this.#status.incomplete);
  }

  async #read(isFollow: boolean, signal: AbortSignal): Promise<void> {
    const { selection, range, maxBytes } = this.#options;
    const known = this.#cursor;
    const first = range ?? { lines: Math.floor(maxBytes / ENTRY_BYTES) };
    // A journal without entries when it was read first: all that it gets are new.
    const from: JournalRange = known !== undefined ? { cursor: known } : isFollow ? 'all' : first;
    const splitter = new EntrySplitter();
    let isFirst = known !== undefined;
    for await (const chunk of runJournalctl(journalctlArgs(selection, from, isFollow), { signal })) {
      const entries = splitter.push(chunk);
      const [head] = entries;
      if (isFirst && head) {
        isFirst = false;
        // The entry of the cursor comes first, unless it was removed, and others after it with it.
        if (head.cursor === known) entries.shift();
        else this.#noteGap(head);
      }
      await this.#append(entries, signal);
    }
  }

  #noteGap({ time = '0' }: EntryLine): void {
    const message = 'entries may be missing here: the journal no longer has the last one that was read';
    this.#log.write(noticeLine(message, time));
    this.#options.log?.warn('journal', message);
  }

  /** Returns when the entries are written, however long the disk refuses them: `journalctl` waits as well. */
  async #append(entries: readonly EntryLine[], signal: AbortSignal): Promise<void> {
    for (const { line } of entries) {
      this.#log.write(line);
      this.#bytes += Buffer.byteLength(line);
    }
    await this.#log.flush();
    const before = this.#status;
    while (this.#log.stats().isFailing) {
      const detail = `the journal cannot be copied to ${this.#log.file}: ${this.#log.stats().lastError}`;
      this.#status = { ...this.#status, state: 'failed', detail };
      await delay(RETRY_MIN_MS, undefined, { signal });
      await this.#log.flush();
    }
    this.#status = before;
    this.#entries += entries.length;
    this.#cursor = entries.findLast(({ cursor }) => cursor !== undefined)?.cursor ?? this.#cursor;
  }
}
