import { mkdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type LogDir, type LogFileDetails, pause } from '@porthole/logs';
import { NO_WORK, owned } from '@porthole/logs/shared';
import { BatchBuilder, BatchSender } from './batch-sender.ts';
import { LogReader, type ReadTurn } from './log-reader.ts';
import { dropGonePositions, PendingBatch, type PendingLog, PositionFile } from './positions.ts';
import { type Refusal, type ShipProblem, type Sink, toProblem } from './sink.ts';

export interface ShipperOptions {
  /** Masked as the API shows it. */
  logs: LogDir;
  sink: Sink;
  /** Where positions are kept; created if missing. */
  positionsDir: string;
  cluster: string;
  node: string;
  role: string;
  /** Which logs are shipped; default: all. */
  isShipped?(log: string): boolean;
  /** Called when the problem changes; `undefined`: there is none any more. */
  report?(problem: ShipProblem | undefined): void;
  /** Called when records are not stored, and will not be sent again. */
  onRefused?(refusal: Refusal): void;
  /** Epoch ms. */
  now?(): number;
  /** How often files are listed, and what is new is sent; asked before each time. */
  intervalMs?(): number;
  /** How long a last record must be unchanged before it is complete. */
  settleMs?: number;
  /** How long one log is read before it is the turn of the next one. */
  turnMs?: number;
  /** Rows of a batch at most. */
  batchRows?: number;
  /** For tests that cannot wait. */
  sleep?(ms: number, signal: AbortSignal): Promise<unknown>;
}

export interface ShipperStatus {
  /** Why nothing is shipped now. */
  problem: (ShipProblem & { sinceMs: number }) | null;
  shippedRecords: number;
  shippedBytes: number;
  batches: number;
  retries: number;
  /** Records that were not stored, and are not sent again. */
  refusedRecords: number;
  /** Deleted by rotation before they were shipped: how often, and how many bytes at least. */
  lostBytes: number;
  losses: number;
  logs: LogReader['status'][];
}

/** Data is shipped within a few seconds, and small inserts are what a server minds most. */
const INTERVAL_MS = 1000;

/** What is appended to a record comes soon after it. */
const SETTLE_MS = 1000;

/** No log keeps the others waiting for longer. */
const TURN_MS = 3000;

/** Files are not held open for longer than this while the archive takes nothing. */
const ROOM_MS = 2000;

/** What closing waits for the batch in flight: what it does not end is sent again by the next run. */
const CLOSE_MS = 1500;

/** How often positions of logs that are gone are looked for. */
const DROP_MS = 86_400_000;

/** Ships the records of a node's logs, in the background. */
export class LogShipper {
  readonly #options: ShipperOptions;
  readonly #now: () => number;
  readonly #sleep: NonNullable<ShipperOptions['sleep']>;
  readonly #readers = new Map<string, LogReader>();
  readonly #builder: BatchBuilder;
  readonly #sender: BatchSender;
  readonly #pending: PendingBatch;
  /** Ends reading; and later, if need be, sending. */
  readonly #reading = new AbortController();
  readonly #sending = new AbortController();
  #problem: ShipperStatus['problem'] = null;
  /** Problems of sending and of reading: the first one counts. */
  #problems: { sending?: ShipProblem | undefined; reading?: ShipProblem | undefined } = {};
  #isResumed = false;
  #droppedMs = -Infinity;
  /** Whether the last round ended before everything was read. */
  #isBehind = false;
  #running = NO_WORK;

  private constructor(options: ShipperOptions) {
    this.#options = options;
    const { now = Date.now } = options; // clock: versions of rows, and ages of records
    this.#now = () => Math.floor(now());
    this.#sleep = options.sleep ?? ((ms, signal) => pause(ms, signal, { ref: false }));
    this.#builder = new BatchBuilder(options.sink, options.batchRows);
    this.#pending = new PendingBatch(options.positionsDir);
    this.#sender = new BatchSender({
      sink: options.sink,
      pending: this.#pending,
      signal: this.#sending.signal,
      sleep: this.#sleep,
      onProblem: (sending) => this.#report({ sending }),
      onRefused: (refusal) => options.onRefused?.(refusal),
    });
  }

  /** Starts in the background. An archive that is away, or a disk without room, is a problem of the status. */
  static open(options: ShipperOptions): LogShipper {
    const shipper = new LogShipper(options);
    shipper.#running = owned(shipper.#run(), (error) => shipper.#report({ reading: toProblem(error, options.sink) }));
    return shipper;
  }

  status(): ShipperStatus {
    const logs = [...this.#readers.values()].map(({ status }) => status);
    const sum = (count: (log: LogReader['status']) => number) => logs.reduce((total, log) => total + count(log), 0);
    const { sentRows, sentBytes, batches, retries, refusedRows } = this.#sender;
    return {
      problem: this.#problem,
      shippedRecords: sentRows,
      shippedBytes: sentBytes,
      batches,
      retries,
      refusedRecords: refusedRows,
      lostBytes: sum(({ lostBytes }) => lostBytes),
      losses: sum(({ losses }) => losses),
      logs,
    };
  }

  /** Lets the batch in flight end, if it does so soon. */
  async close(): Promise<void> {
    this.#reading.abort();
    const timer = setTimeout(() => this.#sending.abort(), CLOSE_MS);
    await this.#running;
    await this.#sender.idle();
    clearTimeout(timer);
    this.#sending.abort();
  }

  /** Sends the batch again that was in flight when the process before this one ended. */
  async #resume(): Promise<void> {
    const { sink, isShipped = () => true } = this.#options;
    const kept = await this.#pending.read();
    // Rows of a log that may not be shipped any more, or in a format of another version: they are made anew.
    if (kept?.format !== sink.format || !kept.logs.every(({ log }) => isShipped(log))) return;
    const { packed, rows, bytes } = kept;
    const readers = await Promise.all(kept.logs.map((state) => this.#openReader(state.log, state)));
    const logs = readers.map((reader) => reader.checkpoint());
    this.#sender.submit({ packed, isKept: true, rows, bytes, logs });
  }

  async #run(): Promise<void> {
    const { signal } = this.#reading;
    while (!signal.aborted) {
      try {
        await this.#round();
        this.#report({ reading: undefined });
      } catch (error) {
        this.#isBehind = false;
        if (!signal.aborted) this.#report({ reading: toProblem(error, this.#options.sink) });
      }
      const { intervalMs = () => INTERVAL_MS } = this.#options;
      // There is more to read: only others' work goes first.
      if (this.#isBehind) await setImmediate();
      // Not all nodes at the same moment.
      else await this.#sleep(intervalMs() * (0.9 + Math.random() / 5), signal);
    }
  }

  /** Lists all logs once, and ships what is new of each, for a while. */
  async #round(): Promise<void> {
    const { logs, positionsDir, isShipped = () => true } = this.#options;
    const { signal } = this.#reading;
    await mkdir(positionsDir, { recursive: true, mode: 0o700 });
    if (!this.#isResumed) await this.#resume();
    this.#isResumed = true;
    const families = new Map<string, LogFileDetails[]>();
    const lookedMs = this.#now();
    for (const file of await logs.details({ signal })) {
      if (!isShipped(file.family)) continue;
      const files = families.get(file.family);
      if (files) files.push(file);
      else families.set(file.family, [file]);
    }
    let hasRoom = true;
    this.#isBehind = false;
    for (const name of new Set([...families.keys(), ...this.#readers.keys()])) {
      signal.throwIfAborted();
      const files = families.get(name) ?? [];
      if (!this.#readers.has(name) && files.every(({ format }) => format === 'binary' || format === 'empty')) continue;
      const reader = this.#readers.get(name) ?? (await this.#openReader(name));
      const hasMore = await reader.observe(files, { lookedMs, signal });
      // Waits once in a round: logs are watched also while the archive is away.
      hasRoom &&= !hasMore || (await this.#sender.room(ROOM_MS));
      if (hasMore && hasRoom) await reader.read(this.#turn());
    }
    if (hasRoom) await this.#flush();
    if (lookedMs - this.#droppedMs < DROP_MS) return;
    this.#droppedMs = lookedMs;
    await dropGonePositions(positionsDir, families.keys(), lookedMs);
  }

  async #openReader(log: string, pending?: PendingLog): Promise<LogReader> {
    const { logs, sink, positionsDir, cluster, node, role, settleMs = SETTLE_MS } = this.#options;
    const { signal } = this.#reading;
    const knownFiles = async () => {
      await sink.prepare();
      return sink.knownFiles({ cluster, node, log }, signal);
    };
    const position = new PositionFile(positionsDir, log);
    const own = { cluster, node, role };
    const { query } = sink;
    const deps = { logs, log, node: own, position, query, now: this.#now, settleMs, knownFiles };
    const reader = await LogReader.open(deps, pending);
    this.#readers.set(log, reader);
    return reader;
  }

  #turn(): ReadTurn {
    const { turnMs = TURN_MS } = this.#options;
    const endAt = performance.now() + turnMs;
    return {
      builder: this.#builder,
      signal: this.#reading.signal,
      flush: async () => {
        const isSent = await this.#flush();
        // A batch was full: there is more than an interval brings. An archive that takes nothing is waited for.
        this.#isBehind ||= isSent;
        return isSent;
      },
      isOver: () => performance.now() > endAt,
    };
  }

  /** Whether what was collected is on its way. */
  async #flush(): Promise<boolean> {
    if (!(await this.#sender.room(ROOM_MS))) return false;
    const batch = await this.#builder.take();
    if (batch) this.#sender.submit(batch);
    return true;
  }

  #report(changed: { sending?: ShipProblem | undefined; reading?: ShipProblem | undefined }): void {
    this.#problems = { ...this.#problems, ...changed };
    const problem = this.#problems.sending ?? this.#problems.reading;
    if (problem?.code === this.#problem?.code && problem?.detail === this.#problem?.detail) return;
    // It is stuck since then, whatever the reason is now.
    this.#problem = problem ? { ...problem, sinceMs: this.#problem?.sinceMs ?? this.#now() } : null;
    this.#options.report?.(problem);
  }
}
