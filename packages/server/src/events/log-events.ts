import { errorMessage, familySource } from '@porthole/contract';
import { type CountedItem, type FoundRecord, type LogDir, pause } from '@porthole/logs';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import type { Logger } from '../own-log/own-log.ts';
import type { EventLog, EventText } from './event-log.ts';
import {
  type FoundPattern,
  LogJudge,
  LogTallies,
  type LogTally,
  MAX_PATTERNS,
  MINUTE_MS,
  type Pattern,
  SLICE_MS,
} from './log-tallies.ts';

/** A node that starts has better things to do first. */
const START_AFTER_MS = 500;

/** Waits after a failure, doubled each time up to the other. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Time for reading back; what is not read by then is not known. */
const READ_BACK_MS = 60_000;

/** Logs that are read back, those written last first. */
const MAX_READ_BACK = 200;

/** A pattern is new only if at least so much of the past is known. */
const KNOWN_MS = 10 * MINUTE_MS;

/** A clock that has jumped, or a machine that was asleep: nothing was counted meanwhile. */
const PAUSE_MS = MINUTE_MS;

/** Events of one kind within so long; how many more there were is one event after that. */
const MAX_EVENTS = 20;
const PERIOD_MS = 10 * MINUTE_MS;

/** Searches return times that are out of order by up to a minute. */
const MAX_BACK_MS = 55_000;

const MESSAGE_CHARACTERS = 200;
const MAX_CAUSE = 300;

/** Files with these problems are neither followed nor read back. */
const UNFOLLOWED: ReadonlySet<string> = new Set([
  ...['LOG_FILE_UNREADABLE', 'LOG_FILE_UNSUPPORTED', 'NO_TIMES', 'LEFT_OUT', 'NUL_BYTES'],
]);

export interface LogEventsDeps {
  logs: LogDir;
  log: EventLog;
  /** How much of the past is read at the start. */
  lookbackMs: number;
  ownLog: Logger;
  now?: () => number;
}

/** Follows the logs of the node to count their records, and writes what is unusual about them. */
export class LogEvents {
  readonly tallies: LogTallies;
  readonly #deps: LogEventsDeps;
  readonly #now: () => number;
  readonly #judges = new WeakMap<LogTally, LogJudge>();
  readonly #limits = new Map<EventText['kind'], { fromMs: number; written: number; more: number }>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #following: Owned = NO_WORK;
  #reading: Owned = NO_WORK;
  #isReading = false;
  readonly #startedMs: number;
  /** Up to when everything was counted. */
  #countedMs: number;
  #tickMs: number;
  /** Why records are not counted now. */
  problem: string | undefined;

  constructor(deps: LogEventsDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now; // clock: compared with times of records
    const nowMs = this.#now();
    this.#startedMs = nowMs;
    this.#countedMs = nowMs - deps.lookbackMs;
    this.#tickMs = nowMs;
    this.tallies = new LogTallies(nowMs);
    for (const { kind, fields, timeMs } of deps.log.past) {
      const { log, level, source, shape } = (fields.pattern ?? fields) as Record<string, unknown>;
      if (kind === 'new-pattern' && (level === 'ERROR' || level === 'FATAL'))
        this.tallies.patterns.see(
          {
            level,
            source: typeof source === 'string' ? source : null,
            shape: typeof shape === 'string' ? shape : null,
          },
          { count: 0, firstMs: timeMs, lastMs: timeMs },
        );
      if (kind === 'log-burst' && typeof log === 'string' && timeMs > nowMs - 60 * MINUTE_MS)
        this.#judge(this.tallies.log(log)).resumeBurst(timeMs);
    }
  }

  /** Patterns are judged when the past has been read. */
  get isReading(): boolean {
    return this.#isReading;
  }

  start(): void {
    this.#following = owned(this.#run(), (error) => this.#report(error));
    this.#timer = setInterval(() => this.check(), SLICE_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#following;
    await this.#reading;
  }

  /** Judges what was counted. */
  check(): void {
    const nowMs = this.#now();
    const isPause = Math.abs(nowMs - this.#tickMs) > PAUSE_MS;
    this.#tickMs = nowMs;
    this.#endPeriods(nowMs);
    for (const log of this.tallies.logs()) {
      if (isPause && log.lastMs !== undefined) log.lastMs = nowMs;
      const judge = this.#judge(log);
      const burst = judge.burst(nowMs);
      const { first } = burst ? log.lastMinute(nowMs) : {};
      if (burst && first) {
        const { perMinute, mostPerMinute, minutes } = burst.usual;
        const usually = `usually ${round(perMinute)}, at most ${mostPerMinute}`;
        this.#write({
          kind: 'log-burst',
          timeMs: this.#timeOf(first),
          message: `${burst.count} errors in ${log.name} within a minute, ${usually}: ${shorten(first.message)}`,
          cause: `burst ${log.name} ${first.cursor}`,
          fields: {
            log: log.name,
            errors: burst.count,
            usualPerMinute: round(perMinute),
            mostPerMinute,
            knownMinutes: minutes,
            record: toSample(first),
          },
        });
      }
      // A follower that is not running sees no log.
      const silence = this.problem === undefined && !this.#isReading ? judge.silence(nowMs) : undefined;
      if (silence) {
        const { sinceMs, longestGapMs } = silence;
        this.#write({
          kind: 'log-silent',
          message: `${log.name} has written nothing for ${spell(nowMs - sinceMs)}; its longest gap was ${spell(longestGapMs)}`,
          cause: `silent ${log.name} ${Math.floor(sinceMs / MINUTE_MS)}`,
          fields: { log: log.name, lastMs: sinceMs, longestGapMs },
        });
      }
    }
    if (!this.#isReading) for (const found of this.tallies.patterns.takeNew()) this.#reportPattern(found, nowMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let waitMs = START_AFTER_MS;
    let retryMs = RETRY_MS;
    while (await pause(waitMs, signal, { ref: false })) {
      const startedMs = performance.now();
      try {
        if ((await this.#follow()) === 'stopping') return;
      } catch (error) {
        this.#report(error);
      }
      retryMs = performance.now() - startedMs > MAX_RETRY_MS ? RETRY_MS : Math.min(retryMs * 2, MAX_RETRY_MS);
      waitMs = retryMs;
    }
  }

  /** Counts what is written, until the follow ends. */
  async #follow(): Promise<'stopping' | undefined> {
    const { logs } = this.#deps;
    let isFirst = true;
    for await (const items of logs.followCounts({ start: 'end', minLevel: 'ERROR' }, { signal: this.#stop.signal })) {
      this.problem = undefined;
      if (isFirst) this.#readBack({ counts: true });
      isFirst = false;
      const isEnd = items.some((item) => item.type === 'end' && item.reason === 'stopping');
      this.#count(items);
      if (isEnd) return 'stopping';
      if (!this.#isReading) this.#countedMs = this.#now();
    }
    return undefined;
  }

  #count(items: readonly CountedItem[]): void {
    const nowMs = this.#now();
    let log = '';
    for (const item of items) {
      if (item.type === 'counted') {
        log = item.family;
        this.tallies.count(log, item.minutes, nowMs);
      } else if (item.type === 'record') {
        if (!item.continued && log !== '') this.tallies.countError(log, item, nowMs);
      } else if (item.type === 'rotated') {
        const { family, from: file } = item;
        this.#write({
          kind: 'log-rotated',
          message: `${family} was rotated${file === family ? '' : `: what it was until then is ${file}`}`,
          fields: { log: family, rotatedTo: file },
        });
      } else if (item.type === 'truncated') {
        const { file, lostBytes } = item;
        const lost = lostBytes ? `; ${lostBytes} bytes could not be read before` : '';
        this.#write({
          kind: 'log-rotated',
          message: `${file} was truncated${lost}`,
          fields: { log, isTruncated: true, lostBytes },
        });
      } else if (item.type === 'gap' && item.reason === 'slow') this.#readBack({ counts: false });
    }
  }

  /** Reads what was not counted, in the background; until then no pattern is new. `counts`: none of it was counted. */
  #readBack({ counts }: { counts: boolean }): void {
    if (this.#isReading) return;
    this.#isReading = true;
    const range = { fromMs: this.#countedMs, toMs: this.#now() };
    const read = async () => {
      try {
        await this.#readPatterns(range);
        if (counts) await this.#readCounts(range);
      } catch (error) {
        // What was missed is not known.
        this.tallies.patterns.knownSinceMs = this.#now();
        throw error;
      } finally {
        this.#isReading = false;
        this.#countedMs = this.#now();
      }
    };
    this.#reading = owned(read(), (error) => this.#warn('the past of the logs cannot be read', errorMessage(error)));
  }

  get #readOptions() {
    return { signal: this.#stop.signal, client: 'events', budgetMs: READ_BACK_MS };
  }

  async #readPatterns(range: { fromMs: number; toMs: number }): Promise<void> {
    const { patterns } = this.tallies;
    const query = { ...range, minLevel: 'ERROR', limit: MAX_PATTERNS } as const;
    // Reads all that this and the counts need, and what the first overview of the last hour asks for: none reads it again.
    await this.#deps.logs.digest({ ...range, minLevel: 'WARN', limit: 1 }, this.#readOptions);
    const digest = await this.#deps.logs.digest(query, this.#readOptions);
    // What has happened since the node started is news, although it was not counted.
    const newFromMs = Math.max(range.fromMs, this.#startedMs);
    for (const { level, source, shape, count, firstMs, lastMs, sample } of digest.groups.toReversed()) {
      const times = { firstMs: firstMs ?? range.fromMs, lastMs: lastMs ?? range.toMs };
      if (times.firstMs >= newFromMs) patterns.count(sample.file, sample, times.firstMs);
      else if (level) patterns.see({ level, source, shape }, { count, ...times });
    }
    const { end, ungrouped, totalGroups } = digest;
    const problems = end.problems.filter(({ code }) => !UNFOLLOWED.has(code));
    const isWhole = ungrouped === 0 && totalGroups <= digest.groups.length && problems.length === 0;
    const knownMs = end.reason === 'exhausted' && isWhole ? range.fromMs : (end.coveredFromMs ?? range.toMs);
    // What was known before is known still, unless something in between is missing.
    if (knownMs <= range.fromMs) patterns.knownSinceMs = Math.min(patterns.knownSinceMs, knownMs);
    else patterns.knownSinceMs = Math.max(isWhole ? knownMs : range.toMs, range.fromMs);
  }

  async #readCounts(range: { fromMs: number; toMs: number }): Promise<void> {
    const { logs } = this.#deps;
    const options = this.#readOptions;
    const details = (await logs.details(options)).filter(({ modifiedMs }) => modifiedMs >= range.fromMs);
    const families = new Set(details.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ family }) => family));
    let isWhole = families.size <= MAX_READ_BACK;
    for (const family of [...families].slice(0, MAX_READ_BACK)) {
      options.signal.throwIfAborted();
      const query = { ...range, src: [familySource(family)], bucketMs: MINUTE_MS, buckets: 60 };
      const { buckets, end: familyEnd } = await logs.histogram(query, options);
      if (familyEnd.reason === 'exhausted') this.tallies.log(family).addPast(buckets, range);
      else isWhole = false;
    }
    if (isWhole) this.tallies.knowSince(range.fromMs);
  }

  #reportPattern({ pattern, record, log, timeMs, count }: FoundPattern, nowMs: number): void {
    const { knownSinceMs } = this.tallies.patterns;
    if (nowMs - knownSinceMs < KNOWN_MS) return;
    const since = `${new Date(knownSinceMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const what = pattern.level === 'FATAL' ? 'fatal error' : 'error';
    this.#write({
      kind: 'new-pattern',
      timeMs: this.#timeOf({ timeMs }),
      message: `a new ${what} in ${log}, not seen since ${since}: ${shorten(record.message)}`,
      cause: `pattern ${pattern.level} ${(pattern.source ?? pattern.shape ?? '').slice(0, MAX_CAUSE)}`,
      fields: { log, pattern: toFields(pattern), count, knownSinceMs, record: toSample(record) },
    });
  }

  /** At most `MAX_EVENTS` of a kind within `PERIOD_MS`. */
  #write(event: EventText): void {
    const limit = this.#limits.get(event.kind) ?? { fromMs: this.#now(), written: 0, more: 0 };
    this.#limits.set(event.kind, limit);
    if (limit.written >= MAX_EVENTS) limit.more++;
    else if (this.#deps.log.write(event)) limit.written++;
  }

  #endPeriods(nowMs: number): void {
    for (const [kind, { fromMs, more }] of this.#limits) {
      if (nowMs - fromMs < PERIOD_MS) continue;
      this.#limits.delete(kind);
      if (more === 0) continue;
      const message = `${more} more events of this kind in ${spell(nowMs - fromMs)} are not listed`;
      this.#deps.log.write({ kind, message, fields: { more, fromMs } });
    }
  }

  /** The time of a record, as far back as an event may be. */
  #timeOf({ timeMs = Number.POSITIVE_INFINITY }: { timeMs?: number }): number {
    const nowMs = this.#now();
    return timeMs > nowMs || timeMs < nowMs - PERIOD_MS ? nowMs : Math.max(timeMs, nowMs - MAX_BACK_MS);
  }

  #judge(log: LogTally): LogJudge {
    const judge = this.#judges.get(log) ?? new LogJudge(log);
    this.#judges.set(log, judge);
    return judge;
  }

  /** Once for each problem: a node that watches its own log would report that it did. */
  #report(error: unknown): void {
    const problem = errorMessage(error);
    if (problem !== this.problem) this.#warn('logs cannot be watched; retrying', problem);
    this.problem = problem;
  }

  #warn(message: string, problem: string): void {
    if (!this.#stop.signal.aborted) this.#deps.ownLog.warn('events', message, { problem });
  }
}

function toFields({ level, source, shape }: Pattern): Record<string, string> {
  return { level, ...(source === null ? { shape: shape ?? '' } : { source }) };
}

/** The record an event is about, as others find it. */
function toSample({ cursor, file, timeMs, message }: FoundRecord): Record<string, unknown> {
  return { cursor, file, ...(timeMs !== undefined && { timeMs }), message: shorten(message) };
}

function shorten(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line.length > MESSAGE_CHARACTERS ? `${line.slice(0, MESSAGE_CHARACTERS)}…` : line;
}

function round(perMinute: number): number {
  return perMinute >= 10 ? Math.round(perMinute) : Math.round(perMinute * 10) / 10;
}

function spell(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
