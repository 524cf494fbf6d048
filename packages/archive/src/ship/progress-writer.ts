import { errorMessage } from '@porthole/contract';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import { ArchiveError } from '../archive-error.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';

import { quote } from '../clickhouse/quote.ts';
import { PROGRESS, RECORDS } from '../schema/schema.ts';
import type { ShipProblem } from './sink.ts';

/**
 * How often progress is written, unless records are sent much more often than usual, or even less often: what other nodes
 * know of this one is at most so old, and a few seconds more.
 */
const WRITE_MS = 5000;

/** Times that records are sent before progress is written again. */
const SENDS = 5;

/** An archive that takes longer for a few rows does not respond. */
const TIMEOUT_MS = 10_000;

/** What closing waits for the archive. */
const CLOSE_MS = 1000;

/** A record is written a little after its time: it may not have been there when files were listed. */
const UNSEEN_MS = 1000;

/** What is shipped of a log, as the shipper knows it. */
export interface LogProgress {
  log: string;
  /** When its files were last listed: with many logs, that may be a while ago. */
  lookedMs: number;
  /** 0: everything is stored that was seen at the last look. */
  lagBytes: number;
  shippedRecords: number;
  /** Time of the newest record that is stored. */
  shippedToMs: number | null;
  lostBytes: number;
  losses: number;
  /** Files that are no longer on disk, and the time of the newest of their records that were shipped. */
  gone: { count: number; toMs: number };
  /** The oldest time on disk. */
  diskFromMs: number | null;
  /** By how much times of records went back at most, and how many records have none. */
  disorderMs: number;
  untimed: number;
}

export interface ProgressWriterOptions {
  clickhouse: ClickHouse;
  cluster: string;
  node: string;
  role: string;
  labels?: Readonly<Record<string, string>>;
  progress(): readonly LogProgress[];
  /** How often records are sent. */
  intervalMs?(): number;
  /** Called with a new problem, and with `undefined` when progress is written again. */
  report?(problem: ShipProblem | undefined): void;
  now?(): number;
}

/** Writes how far a node has shipped each of its logs: how other nodes learn what the archive has of it. */
export class ProgressWriter {
  readonly #options: ProgressWriterOptions;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();
  /** Time of the oldest record of a log in the archive, once known. */
  readonly #firstTimes = new Map<string, number>();
  #writing = NO_WORK;
  #isClosed = false;
  #problem: (ShipProblem & { sinceMs: number }) | undefined;

  constructor(options: ProgressWriterOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now; // clock: up to when records were shipped
    this.#schedule();
  }

  /** Why progress cannot be written: other nodes do not learn what the archive has of this one. */
  get problem(): (ShipProblem & { sinceMs: number }) | undefined {
    return this.#problem;
  }

  /** Writes once more, so that what was shipped last is known. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#stopping.abort(), CLOSE_MS);
    await this.#writing;
    await this.#tryWrite();
    clearTimeout(timer);
  }

  async write(): Promise<void> {
    const { clickhouse, cluster, node, role, labels = {}, progress } = this.#options;
    const { signal } = this.#stopping;
    const nowMs = this.#now();
    const rows: object[] = [];
    for (const log of progress()) {
      if (log.shippedRecords === 0) continue;
      const { lostBytes: lost_bytes, losses, untimed } = log;
      rows.push({
        ...{ cluster, node, role, log: log.log, labels: JSON.stringify(labels) },
        ...(await this.#times(log)),
        records: log.shippedRecords,
        ...{ lost_bytes, losses, untimed, written_ms: nowMs },
        gone_files: log.gone.count,
        gone_to_ms: Math.round(log.gone.toMs),
        disk_from_ms: Math.round(log.diskFromMs ?? 0),
        disorder_ms: Math.round(log.disorderMs),
      });
    }
    if (rows.length === 0) return;
    const body = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
    await clickhouse.insert(`INSERT INTO ${PROGRESS} FORMAT JSONEachRow`, { body, signal, timeoutMs: TIMEOUT_MS });
  }

  /** One at a time: an archive that is slow must not be sent more and more. */
  #schedule(): void {
    if (this.#isClosed) return;
    const { intervalMs = () => WRITE_MS } = this.#options;
    const waitMs = Math.max(intervalMs(), Math.min(WRITE_MS, SENDS * intervalMs()));
    this.#timer = setTimeout(() => {
      this.#writing = this.#tryWrite();
    }, waitMs).unref();
  }

  /** What fails is a problem until the next turn, which writes what is missing. */
  #tryWrite(): Owned {
    const writing = this.write().then(() => this.#note(undefined));
    return owned(
      writing.finally(() => this.#schedule()),
      (error) =>
        this.#note({ code: error instanceof ArchiveError ? error.code : 'INTERNAL', detail: errorMessage(error) }),
    );
  }

  #note(problem: ShipProblem | undefined): void {
    const isKnown = problem?.code === this.#problem?.code && problem?.detail === this.#problem?.detail;
    this.#problem = problem && { ...problem, sinceMs: this.#problem?.sinceMs ?? this.#now() };
    if (!isKnown) this.#options.report?.(problem);
  }

  /** Times of what is shipped; 0 if no record has one. */
  async #times(log: LogProgress): Promise<{ from_ms: number; last_ms: number; shipped_to_ms: number }> {
    const { shippedToMs, lookedMs, lagBytes } = log;
    if (shippedToMs === null) return { from_ms: 0, last_ms: 0, shipped_to_ms: 0 };
    const reachedMs = lagBytes === 0 ? Math.max(lookedMs - UNSEEN_MS, shippedToMs) : shippedToMs;
    return {
      from_ms: await this.#firstTime(log),
      last_ms: Math.round(shippedToMs),
      shipped_to_ms: Math.round(reachedMs),
    };
  }

  async #firstTime({ log, shippedToMs }: LogProgress): Promise<number> {
    const known = this.#firstTimes.get(log);
    if (known !== undefined) return known;
    const { clickhouse, cluster, node } = this.#options;
    const { signal } = this.#stopping;
    const own = `cluster = ${quote(cluster)} AND node = ${quote(node)} AND log = ${quote(log)} AND has_time = 1`;
    // By day first: a server reads only the day it needs.
    const sql = `SELECT min(time_ms) AS first FROM ${RECORDS} WHERE ${own}
AND day = (SELECT min(day) FROM ${RECORDS} WHERE ${own})`;
    const [row] = await clickhouse.query<{ first: number }>(sql, { signal, timeoutMs: TIMEOUT_MS });
    const first = row?.first ? row.first : (shippedToMs ?? 0);
    this.#firstTimes.set(log, first);
    return first;
  }
}
