import { familySource } from '@porthole/contract';
import { type LogDir, LogError, type LogFileDetails } from '@porthole/logs';
import { toLines } from '@porthole/records';
import type { BatchBuilder } from './batch-sender.ts';
import { type FileEntry, LogFiles, unread } from './log-files.ts';
import { type LineFile, LogPass, readLineFile } from './log-pass.ts';
import {
  emptyState,
  type LogCheckpoint,
  type PendingLog,
  type PositionFile,
  type ShippedState,
  withNewFiles,
} from './positions.ts';
import type { KnownFile, Sink } from './sink.ts';

/** Everything, in order. */
const QUERY = { order: 'oldest', limit: Number.MAX_SAFE_INTEGER, before: 0, after: 0 } as const;

const NEWLINE = 10;

/** As many points in time as are remembered to know the lag; with more, every second one is forgotten. */
const MAX_MARKS = 64;

export interface LogReaderDeps {
  logs: LogDir;
  log: string;
  /** Whose logs are shipped. */
  node: { cluster: string; node: string; role: string };
  position: PositionFile;
  query: Sink['query'];
  now(): number;
  /** The last record of a log is shipped once it has been the same for so long: more lines may follow. */
  settleMs: number;
  /** Files of which the sink has records. */
  knownFiles(): Promise<KnownFile[]>;
}

/** What a turn of reading may use. */
export interface ReadTurn {
  builder: BatchBuilder;
  signal: AbortSignal;
  /** Called when the builder is full: whether there is room for more. */
  flush(): Promise<boolean>;
  /** When others should have their turn. */
  isOver(): boolean;
}

/** Reads one log in order, from where it was shipped to, and adds the rows of its records to a batch. */
export class LogReader {
  readonly log: string;
  readonly #deps: LogReaderDeps;
  readonly #lag = new LagClock();
  #files = new LogFiles();
  #saved: ShippedState;
  #details: readonly LogFileDetails[] = [];
  /** What was read, including what is not stored yet. */
  #read: Omit<PendingLog, 'files' | 'forgotten'>;
  #readBytes = 0;
  #storedBytes = 0;
  /** The last record, which may get more lines, and since when it is as it is. */
  #last: { key: string; sinceMs: number } | undefined;
  problem: string | null = null;
  /** When its files were last listed. */
  #lookedMs = 0;

  private constructor(
    deps: LogReaderDeps,
    saved: ShippedState,
    { files, read }: { files: LogFiles; read: PendingLog },
  ) {
    this.#deps = deps;
    this.log = deps.log;
    this.#saved = saved;
    this.#files = files;
    const { log, records, toMs, shippedMs, untimed, disorderMs } = read;
    this.#read = { log, records, toMs, shippedMs, untimed, disorderMs };
  }

  /** `pending`: of a batch of which it is not known whether it was stored. Reading goes on behind it. */
  static async open(deps: LogReaderDeps, pending?: PendingLog): Promise<LogReader> {
    const saved = await deps.position.read();
    const read = pending ?? saved;
    const empty = emptyState(deps.log);
    if (!read) {
      const files = LogFiles.fromKnown(await deps.knownFiles());
      return new LogReader(deps, empty, { files, read: empty });
    }
    const files = new LogFiles(structuredClone(read.files), read.forgotten);
    const reader = new LogReader(deps, saved ?? empty, { files, read });
    const ends = new Map(saved?.files.map(({ id, end }) => [id, end]));
    reader.#readBytes = read.files.reduce((sum, { id, end }) => sum + Math.max(0, end - (ends.get(id) ?? 0)), 0);
    return reader;
  }

  get status() {
    const { records, toMs, untimed, disorderMs, lostBytes, losses } = this.#saved;
    const { log, problem } = this;
    return {
      ...{ log, problem, lostBytes, losses, disorderMs, untimed },
      lookedMs: this.#lookedMs,
      lagMs: this.#lag.lagMs(this.#deps.now()),
      lagBytes: this.#unreadBytes() + this.#readBytes - this.#storedBytes,
      shippedRecords: records,
      shippedToMs: toMs,
      gone: this.#files.gone(toMs),
      diskFromMs: oldestTime(this.#details),
    };
  }

  /** Takes note of the files of the log; returns whether there is something to read. */
  async observe(
    details: readonly LogFileDetails[],
    { lookedMs, signal }: { lookedMs: number; signal: AbortSignal },
  ): Promise<boolean> {
    const before = new Map(this.#details.map((file) => [file.name, file]));
    const hasNewNames = details.length !== before.size || details.some(({ name }) => !before.has(name));
    // Only the live file grows; anything else is a rotation.
    const isRotated = details.some(({ name, size, state }) => {
      const known = before.get(name)?.size ?? size;
      return size < known || (state === 'rotated' && size !== known);
    });
    this.#details = details;
    this.#lookedMs = lookedMs;
    if (hasNewNames || isRotated || this.#files.present.length === 0) await this.#refresh(signal);
    const sizes = new Map(details.map(({ name, size }) => [name, size]));
    for (const { head, entry } of this.#files.present) {
      if (!head.compressed) entry.size = Math.max(entry.size, sizes.get(head.name) ?? 0);
    }
    await this.#countLost();
    const unreadBytes = this.#unreadBytes();
    this.#lag.observe(this.#deps.now(), this.#readBytes + unreadBytes);
    // Not everything that was seen is part of a record.
    if (unreadBytes === 0 && this.#readBytes === this.#storedBytes) this.#lag.note(Infinity);
    return unreadBytes > 0 || this.#firstUnread() >= 0;
  }

  /** Reads on until there is no more, or no room. */
  async read(turn: ReadTurn): Promise<void> {
    const first = this.#firstUnread();
    if (first < 0) return;
    const from = this.#files.present.slice(0, first + 1).findLast(({ entry }) => entry.cursor !== null);
    try {
      await this.#readFrom(from?.entry.cursor ?? null, turn);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      this.problem = error.message;
      if (error.code !== 'CURSOR_GONE' && error.code !== 'CURSOR_INVALID') return;
      // Its file was deleted, or what is masked in it has changed: what was shipped is recognized by its position.
      await this.#refresh(turn.signal);
      await this.#readFrom(null, turn);
    }
  }

  /** What is read so far, to be kept once it is stored. */
  checkpoint(): LogCheckpoint {
    const files = structuredClone(this.#files.entries);
    const readBytes = this.#readBytes;
    const { shippedMs } = this.#read;
    const state = { ...this.#read, files, forgotten: this.#files.forgotten };
    return {
      state,
      prepare: () => this.#saveNewFiles(files, shippedMs),
      commit: async () => {
        await this.#save({ ...this.#saved, ...state });
        this.#storedBytes = readBytes;
        this.#lag.note(readBytes);
      },
    };
  }

  /** The identity of a file is kept before any of its rows is sent: after a crash it must be the same. */
  async #saveNewFiles(files: readonly FileEntry[], shippedMs: number): Promise<void> {
    const saved = new Set(this.#saved.files.map(({ id }) => id));
    if (!files.every(({ id }) => saved.has(id))) await this.#save(withNewFiles(this.#saved, files, shippedMs));
  }

  async #save(state: ShippedState): Promise<void> {
    await this.#deps.position.write(state);
    this.#saved = state;
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { logs, log, now } = this.#deps;
    try {
      this.#files.update(await logs.heads(log, { signal }), now());
    } catch (error) {
      // The last file of the log is gone.
      if (!(error instanceof LogError) || error.code !== 'LOG_FILE_NOT_FOUND') throw error;
      this.#files.update([], now());
    }
  }

  async #countLost(): Promise<void> {
    const lost = this.#files.takeLost(this.#deps.now(), this.#read.toMs);
    if (lost === 0) return;
    const { lostBytes, losses } = this.#saved;
    await this.#save({ ...this.#saved, lostBytes: lostBytes + lost, losses: losses + 1 });
  }

  #unreadBytes(): number {
    return this.#files.present.reduce((sum, { entry }) => sum + unread(entry), 0);
  }

  /** The oldest file with something to read: a rotated one may still be written to. */
  #firstUnread(): number {
    return this.#files.present.findIndex(
      ({ head, entry }) => unread(entry) > 0 || (head.compressed && entry.size === 0 && entry.seen === 0),
    );
  }

  async #readFrom(cursor: string | null, turn: ReadTurn): Promise<void> {
    const { logs, log, query } = this.#deps;
    const start = cursor === null ? {} : { start: { record: cursor } };
    const found = logs.search(
      { ...QUERY, ...query, src: [familySource(log)], ...start },
      { signal: turn.signal, reusesMemory: true },
    );
    const lines = toLines(found);
    const pass = new LogPass(turn.builder, this.#read.toMs, () => turn.builder.add(this));
    try {
      for await (const { buffer, byteOffset, length } of lines) {
        const chunk = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
        for (let at = 0; at < chunk.length; ) {
          at = pass.read(chunk, at);
          if (pass.state === 'file' && !(await this.#setFile(pass, readLineFile(chunk, at), turn))) return;
          if (pass.state === 'full' && !(await this.#makeRoom(pass, turn))) return;
        }
        if (pass.state === 'end') await this.#finish(pass, turn.signal);
        pass.keep();
      }
    } finally {
      this.#collect(pass);
    }
  }

  /** What a pass has read so far counts. */
  #collect(pass: LogPass): void {
    pass.keep();
    this.#read.records += pass.rows;
    this.#read.toMs = pass.toMs;
    this.#read.untimed += pass.untimed;
    this.#read.disorderMs = Math.max(this.#read.disorderMs, pass.disorderMs);
    this.#readBytes += pass.bytes;
    pass.rows = pass.bytes = pass.untimed = 0;
  }

  async #makeRoom(pass: LogPass, turn: ReadTurn): Promise<boolean> {
    this.#collect(pass);
    return (await turn.flush()) && !turn.isOver();
  }

  /** Finds out which file the next lines are of; `false` if its name refers to another one by now. */
  async #setFile(pass: LogPass, file: LineFile, turn: ReadTurn): Promise<boolean> {
    let found = this.#findFile(file);
    if (!found) {
      await this.#refresh(turn.signal);
      found = this.#findFile(file);
    }
    if (!found) return false;
    this.#read.shippedMs = Math.max(this.#deps.now(), this.#read.shippedMs + 1);
    const mark = `${file.mark.headHash}.${file.mark.headBytes.toString(36)}`;
    const shipped = { ...this.#deps.node, log: this.log, file: file.name, file_id: found.id, mark };
    turn.builder.writer.setFile(file.lineStart, shipped, this.#read.shippedMs);
    pass.setFile(found, file.name);
    return true;
  }

  #findFile({ name, mark }: LineFile): FileEntry | undefined {
    const same = this.#files.present.filter(({ head }) => head.isMarked(mark));
    return (same.length > 1 ? same.find(({ head }) => head.name === name) : same[0])?.entry;
  }

  /** Everything was read: what is left of the files is no record, except the last one, which may still grow. */
  async #finish(pass: LogPass, signal: AbortSignal): Promise<void> {
    if (pass.end?.reason !== 'exhausted') return;
    const { last } = pass;
    const isHeld = last !== undefined && !(await this.#isSettled(last, signal));
    if (!isHeld) {
      pass.addLast();
      this.#last = undefined;
    }
    const [problem] = pass.end.problems.filter(({ code }) => code !== 'CURSOR_GONE' && code !== 'NO_TIMES');
    this.problem = problem ? `${problem.file}: ${problem.detail}` : null;
    for (const { head, entry } of this.#files.present) {
      if (isHeld && entry === last.entry) continue;
      if (head.compressed && entry.size === 0) entry.size = Math.max(1, entry.end);
      entry.seen = Math.max(entry.seen, entry.size);
    }
  }

  /** Whether no lines will be added to the last record: nothing was for a while, and its last line is complete. */
  async #isSettled(last: { name: string; offset: number; end: number }, signal: AbortSignal): Promise<boolean> {
    const { now, settleMs, logs, log } = this.#deps;
    const key = `${last.name}:${last.offset}:${last.end}`;
    if (this.#last?.key !== key) this.#last = { key, sinceMs: now() };
    if (now() - this.#last.sinceMs < settleMs) return false;
    if (last.name !== log) return true;
    const file = await logs.open(last.name, { text: true, signal });
    try {
      for await (const byte of file.read(last.end - 1, last.end, { signal })) return byte[0] === NEWLINE;
      return false;
    } finally {
      await file.close();
    }
  }
}

/** How long ago what is not stored yet was seen first. Counts bytes read of one log, from the start of the process. */
class LagClock {
  readonly #marks: { atMs: number; bytes: number }[] = [];
  #seen = 0;

  /** So many bytes exist now, counted from where this process began. */
  observe(nowMs: number, bytes: number): void {
    if (bytes <= this.#seen) return;
    this.#seen = bytes;
    if (this.#marks.length >= MAX_MARKS) {
      // The oldest stays: it is the lag.
      for (let index = this.#marks.length - 2; index > 0; index -= 2) this.#marks.splice(index, 1);
    }
    this.#marks.push({ atMs: nowMs, bytes });
  }

  /** So many of them are stored. */
  note(bytes: number): void {
    while (this.#marks[0] && this.#marks[0].bytes <= bytes) this.#marks.shift();
  }

  lagMs(nowMs: number): number {
    const [oldest] = this.#marks;
    return oldest ? Math.max(0, nowMs - oldest.atMs) : 0;
  }
}

/** The oldest of the first records of files, as lists of files have it. */
function oldestTime(details: readonly LogFileDetails[]): number | null {
  const times = details.flatMap(({ format, firstTimeMs }) => (format === 'empty' ? [] : (firstTimeMs ?? [])));
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
}
