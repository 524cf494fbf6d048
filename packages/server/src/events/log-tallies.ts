import { type FoundRecord, type Histogram, type Level, mergeShapes, messageShape } from '@porthole/logs';

type MinuteCounts = Histogram['buckets'];
type LevelName = Level | 'NONE';

export const MINUTE_MS = 60_000;

/** What happens every hour is in it, whatever the minute. */
const KEPT_MINUTES = 128;

/** Logs that are counted; those that write least recently are forgotten. */
const MAX_LOGS = 2000;

/** Kinds of errors that are remembered; 1,000 shapes of one length are merged within 60 ms. */
export const MAX_PATTERNS = 1000;

/** New ones that wait for a judgement, which is made every few seconds. */
const MAX_PENDING = 200;

/** The last minute is counted in parts, so that a burst is noticed while it begins. */
export const SLICE_MS = 5000;
const SLICES = MINUTE_MS / SLICE_MS;

/** A record this much older than its arrival is not news: somebody has copied a log, or it was written late. */
const LATE_MS = 10 * MINUTE_MS;

/** Clocks of other machines, whose logs are collected, are ahead by less. */
const EARLY_MS = MINUTE_MS;

/** Offsets of time zones are multiples of it. */
const ZONE_STEP_MS = 15 * MINUTE_MS;
const MAX_ZONE_MS = 14 * 60 * MINUTE_MS;

/** How exactly the time of a record in another zone is that of its arrival. */
const ZONE_EXACT_MS = 10_000;

const HOUR_MS = 60 * MINUTE_MS;
const GAP_HOURS = 24;

/**
 * When a record was written by the clock of this node; `undefined`: long ago. A time that is off by the offset of a zone is
 * that of a log whose zone is not known.
 */
function writtenMs(timeMs: number | undefined, nowMs: number, exactMs = ZONE_EXACT_MS): number | undefined {
  if (timeMs === undefined || Number.isNaN(timeMs)) return nowMs;
  const lagMs = nowMs - timeMs;
  if (lagMs < LATE_MS && lagMs > -EARLY_MS) return Math.min(timeMs, nowMs);
  const zoneMs = Math.round(lagMs / ZONE_STEP_MS) * ZONE_STEP_MS;
  const isZone = Math.abs(lagMs) <= MAX_ZONE_MS && Math.abs(lagMs - zoneMs) < exactMs;
  return isZone || lagMs < 0 ? nowMs : undefined;
}

/** How many records a log has, by level and minute, and when it was silent. */
export class LogTally {
  readonly name: string;
  /** Since the node has started. */
  readonly totals: Partial<Record<LevelName, number>> = {};
  /** From when on the counts are complete. */
  sinceMs: number;
  /** When it was last written to; `undefined`: not since `sinceMs`. */
  lastMs: number | undefined;
  readonly #minutes = new Map<LevelName, { counts: Uint32Array; newest: number }>();
  readonly #slices: { start: number; count: number; first: FoundRecord }[] = [];
  readonly #gaps: { hour: number; longestMs: number }[] = [];

  constructor(name: string, sinceMs: number) {
    this.name = name;
    this.sinceMs = sinceMs;
  }

  /** Counts records of a minute; those of the future and of long ago are in the totals only. */
  add(level: LevelName, count: number, timeMs: number): void {
    const minute = Math.floor(timeMs / MINUTE_MS);
    let ring = this.#minutes.get(level);
    if (!ring) {
      ring = { counts: new Uint32Array(KEPT_MINUTES), newest: minute };
      this.#minutes.set(level, ring);
    }
    const { counts } = ring;
    if (minute <= ring.newest - KEPT_MINUTES) return;
    if (minute - ring.newest >= KEPT_MINUTES) counts.fill(0);
    else for (let next = ring.newest + 1; next <= minute; next++) counts[next % KEPT_MINUTES] = 0;
    ring.newest = Math.max(ring.newest, minute);
    counts[minute % KEPT_MINUTES] = (counts[minute % KEPT_MINUTES] ?? 0) + count;
  }

  /** Records of a level in the minute that contains this time. */
  countAt(level: LevelName, timeMs: number): number {
    const minute = Math.floor(timeMs / MINUTE_MS);
    const ring = this.#minutes.get(level);
    if (!ring || minute > ring.newest || minute <= ring.newest - KEPT_MINUTES) return 0;
    return ring.counts[minute % KEPT_MINUTES] ?? 0;
  }

  /** The records of any level in the 60 minutes before, and how many of these have some. */
  lastHour(nowMs: number): { records: number; minutes: number } {
    let [records, minutes] = [0, 0];
    for (let back = 1; back <= 60; back++) {
      let count = 0;
      for (const level of this.#minutes.keys()) count += this.countAt(level, nowMs - back * MINUTE_MS);
      records += count;
      if (count > 0) minutes++;
    }
    return { records, minutes };
  }

  addError(record: FoundRecord, timeMs: number): void {
    const start = Math.floor(timeMs / SLICE_MS) * SLICE_MS;
    const known = this.#slices.find((slice) => slice.start === start);
    if (known) known.count++;
    else this.#slices.push({ start, count: 1, first: record });
    if (this.#slices.length > SLICES + 2) this.#slices.shift();
  }

  /** The errors of the last minute, and the first of those that came in numbers. */
  lastMinute(nowMs: number): { count: number; first: FoundRecord | undefined } {
    const recent = this.#slices.filter(({ start }) => start > nowMs - MINUTE_MS - SLICE_MS && start <= nowMs);
    recent.sort((a, b) => a.start - b.start);
    const most = Math.max(0, ...recent.map(({ count }) => count));
    const count = recent.reduce((sum, slice) => sum + slice.count, 0);
    return { count, first: recent.find((slice) => slice.count >= most / 4)?.first };
  }

  noteWritten(timeMs: number): void {
    this.noteGap(timeMs);
    this.lastMs = Math.max(timeMs, this.lastMs ?? 0);
  }

  /** Remembers how long it was silent until then. */
  noteGap(timeMs: number): void {
    const gapMs = timeMs - (this.lastMs ?? this.sinceMs);
    const hour = Math.floor(timeMs / HOUR_MS);
    const last = this.#gaps.at(-1);
    if (last && last.hour >= hour) last.longestMs = Math.max(last.longestMs, gapMs);
    else this.#gaps.push({ hour, longestMs: gapMs });
    if (this.#gaps.length > GAP_HOURS) this.#gaps.shift();
  }

  /** Adds what was written before it was counted, and from when on that is complete. */
  addPast(minutes: MinuteCounts, { fromMs, toMs }: { fromMs: number; toMs: number }): void {
    let longestMs = 0;
    let endMs = fromMs;
    for (const { startMs, counts } of minutes) {
      for (const [level, count] of Object.entries(counts) as [LevelName, number][]) this.add(level, count, startMs);
      longestMs = Math.max(longestMs, startMs + MINUTE_MS - endMs);
      endMs = Math.min(startMs + MINUTE_MS, toMs);
    }
    this.#gaps.unshift({ hour: Math.floor(fromMs / HOUR_MS), longestMs });
    this.sinceMs = Math.min(this.sinceMs, fromMs);
    if (minutes.length > 0) this.lastMs ??= endMs;
  }

  /** The longest time without a record within the last 24 hours that are known. */
  get longestGapMs(): number {
    return Math.max(0, ...this.#gaps.map(({ longestMs }) => longestMs));
  }
}

/** What errors have in common, as a digest shows it: the level, and the source or else the shape of the message. */
export interface Pattern {
  level: Level;
  source: string | null;
  shape: string | null;
}

interface PatternTally extends Pattern {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** A pattern that was not known, and the first record of it. */
export interface FoundPattern {
  pattern: Pattern;
  record: FoundRecord;
  log: string;
  /** When it was written. */
  timeMs: number;
  count: number;
}

/** The kinds of errors. Whatever has occurred since `knownSinceMs` is known. */
export class PatternTallies {
  /** From when on all patterns are known. */
  knownSinceMs: number;
  /** The least recent first. */
  #known = new Map<string, PatternTally>();
  /** Shapes that turned out to be those of a known pattern. */
  readonly #variants = new Map<string, string>();
  readonly #pending = new Map<string, FoundPattern>();

  constructor(sinceMs: number) {
    this.knownSinceMs = sinceMs;
  }

  all(): Iterable<Readonly<PatternTally>> {
    return this.#known.values();
  }

  /** A pattern that is not news. */
  see(pattern: Pattern, { count, firstMs, lastMs }: { count: number; firstMs: number; lastMs: number }): void {
    const key = keyOf(pattern);
    const known = this.#known.get(this.#variants.get(key) ?? key);
    if (known) {
      this.#touch(known, count, lastMs);
      return;
    }
    this.#known.set(key, { ...pattern, count, firstMs, lastMs });
    for (const [oldest, { lastMs: forgottenMs }] of this.#known) {
      if (this.#known.size <= MAX_PATTERNS) break;
      this.#known.delete(oldest);
      // What is not in the table has not occurred since then.
      this.knownSinceMs = Math.max(this.knownSinceMs, forgottenMs);
    }
  }

  /** Counts an error; one of an unknown pattern waits for `takeNew`. */
  count(log: string, record: FoundRecord, timeMs: number): void {
    const { level = 'ERROR', source = null, message } = record;
    const pattern = { level, source, shape: source === null ? messageShape(message) : null };
    const key = keyOf(pattern);
    const known = this.#known.get(this.#variants.get(key) ?? key);
    if (known) {
      this.#touch(known, 1, timeMs);
      return;
    }
    const pending = this.#pending.get(key);
    if (pending) pending.count++;
    else if (this.#pending.size < MAX_PENDING) this.#pending.set(key, { pattern, record, log, timeMs, count: 1 });
    else this.see(pattern, { count: 1, firstMs: timeMs, lastMs: timeMs });
  }

  /** Those counted since the last call that are no variant of a known one. From then on they are known. */
  takeNew(): FoundPattern[] {
    if (this.#pending.size === 0) return [];
    const found = [...this.#pending.values()];
    this.#pending.clear();
    const merged = this.#mergeWith(found);
    const news: FoundPattern[] = [];
    for (const candidate of found) {
      const { pattern, timeMs, count } = candidate;
      const shape = pattern.shape === null ? null : (merged.get(pattern.shape) ?? pattern.shape);
      const general = { ...pattern, shape };
      const [key, generalKey] = [keyOf(pattern), keyOf(general)];
      if (!this.#known.has(generalKey)) news.push({ ...candidate, pattern: general });
      this.see(general, { count, firstMs: timeMs, lastMs: timeMs });
      if (key === generalKey) continue;
      if (this.#variants.size >= MAX_PATTERNS) this.#variants.clear();
      this.#variants.set(key, generalKey);
    }
    return news;
  }

  /** Merges the shapes that have as many words: what varies by position is the same pattern, as in a digest. */
  #mergeWith(found: readonly FoundPattern[]): ReadonlyMap<string, string> {
    const lengths = new Set(found.flatMap(({ pattern: { shape } }) => (shape === null ? [] : wordCount(shape))));
    const isAlike = ({ shape }: Pattern) => shape !== null && lengths.has(wordCount(shape));
    const patterns = [...this.#known.values(), ...found.map(({ pattern }) => pattern)].filter(isAlike);
    const merged = mergeShapes(patterns.flatMap(({ shape }) => shape ?? []));
    const known = [...this.#known.values()];
    if (known.every(({ shape }) => shape === null || (merged.get(shape) ?? shape) === shape)) return merged;
    this.#known = new Map();
    for (const tally of known) {
      const shape = tally.shape === null ? null : (merged.get(tally.shape) ?? tally.shape);
      const other = this.#known.get(keyOf({ ...tally, shape }));
      if (other) this.#touch(other, tally.count, tally.lastMs);
      else this.#known.set(keyOf({ ...tally, shape }), { ...tally, shape });
    }
    this.#variants.clear();
    return merged;
  }

  #touch(known: PatternTally, count: number, timeMs: number): void {
    known.count += count;
    // Its turn to be forgotten changes once a minute at most: there may be thousands of errors a second.
    const isMoved = timeMs > known.lastMs + MINUTE_MS;
    known.lastMs = Math.max(known.lastMs, timeMs);
    if (!isMoved) return;
    const key = keyOf(known);
    this.#known.delete(key);
    this.#known.set(key, known);
  }
}

function keyOf({ level, source, shape }: Pattern): string {
  return `${level} ${source === null ? `"${shape}` : source}`;
}

function wordCount(shape: string): number {
  return shape.split(' ').length;
}

/** What the node counts of its own logs while they are written, in bounded memory. */
export class LogTallies {
  readonly patterns: PatternTallies;
  readonly #logs = new Map<string, LogTally>();
  #sinceMs: number;
  /** The newest record of level FATAL. */
  lastFatal: { record: FoundRecord; log: string; timeMs: number } | undefined;

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
    this.patterns = new PatternTallies(sinceMs);
  }

  logs(): Iterable<LogTally> {
    return this.#logs.values();
  }

  /** The tally of a log, which begins to be counted now if it was not. */
  log(name: string): LogTally {
    const known = this.#logs.get(name);
    if (known) return known;
    if (this.#logs.size >= MAX_LOGS) this.#forgetQuietest();
    const tally = new LogTally(name, this.#sinceMs);
    this.#logs.set(name, tally);
    return tally;
  }

  /** All records since then are counted: logs without any had none. */
  knowSince(timeMs: number): void {
    this.#sinceMs = Math.min(this.#sinceMs, timeMs);
    for (const log of this.#logs.values()) log.sinceMs = Math.min(log.sinceMs, timeMs);
  }

  /** Counts records that are written now. */
  count(name: string, minutes: MinuteCounts, nowMs: number): void {
    const log = this.log(name);
    for (const { startMs, counts } of minutes) {
      // A minute is not yet over when its records are counted.
      const isNow = startMs <= nowMs && nowMs < startMs + MINUTE_MS;
      const timeMs = writtenMs(isNow ? nowMs : startMs, nowMs, MINUTE_MS + ZONE_EXACT_MS);
      for (const [level, count] of Object.entries(counts) as [LevelName, number][]) {
        log.totals[level] = (log.totals[level] ?? 0) + count;
        if (timeMs !== undefined) log.add(level, count, timeMs);
      }
      if (timeMs !== undefined) log.noteWritten(timeMs);
    }
  }

  /** Counts an error that is written now. */
  countError(name: string, record: FoundRecord, nowMs: number): void {
    const log = this.log(name);
    const { level = 'ERROR' } = record;
    log.totals[level] = (log.totals[level] ?? 0) + 1;
    const timeMs = writtenMs(record.timeMs, nowMs);
    if (timeMs === undefined) return;
    log.add(level, 1, timeMs);
    log.addError(record, timeMs);
    log.noteWritten(timeMs);
    this.patterns.count(name, record, timeMs);
    if (level === 'FATAL') this.lastFatal = { record, log: name, timeMs };
  }

  #forgetQuietest(): void {
    let quietest: LogTally | undefined;
    for (const log of this.#logs.values()) if (!quietest || (log.lastMs ?? 0) < (quietest.lastMs ?? 0)) quietest = log;
    if (quietest) this.#logs.delete(quietest.name);
  }
}

/** Fewer errors a minute are no burst, however unusual. */
const MIN_ERRORS = 20;

/** A burst has this many times as many errors as any minute before. */
const ABOVE_MOST = 2;

/**
 * How improbable as many errors are, as the natural logarithm: 1e-8. A log is judged 17,280 times a day, so a hundred logs
 * give a false alarm in two months, if their minutes are distributed as assumed.
 */
const BURST_LOG_P = Math.log(1e-8);

/** Less of the past says little about what is usual. */
const MIN_KNOWN_MINUTES = 10;

/** A burst is over when there were few errors for so long. */
const CALM_MS = 5 * MINUTE_MS;

/** What lasts longer is the usual rate from then on. */
const LONGEST_BURST_MS = 60 * MINUTE_MS;

/** A log is silent when it has written nothing for so many times its longest and its mean gap, and for so long. */
const LONGEST_GAPS = 4;
const MEAN_GAPS = 10;
const MIN_SILENCE_MS = 2 * MINUTE_MS;

/** A log that writes regularly has records in at least so many of 60 minutes, and was known for as long. */
const REGULAR_MINUTES = 10;
const REGULAR_AFTER_MS = 60 * MINUTE_MS;

interface UsualErrors {
  minutes: number;
  perMinute: number;
  mostPerMinute: number;
  variance: number;
}

/**
 * An upper bound (Chernoff) of the probability of at least so many errors in a minute, as its natural logarithm. The errors
 * of minutes are taken to be distributed negative binomially, with the mean and variance that they had, or like Poisson if
 * they vary less than that.
 */
export function tailLogP(count: number, { minutes, perMinute, variance }: UsualErrors): number {
  // As if there had been one more error: none in the past does not mean that there can be none.
  const mean = perMinute + 1 / minutes;
  if (count <= mean) return 0;
  const excess = count * Math.log(count / mean);
  if (variance <= mean) return -(excess - count + mean);
  const size = mean ** 2 / (variance - mean);
  return -(excess - (count + size) * Math.log((count + size) / (mean + size)));
}

/** A burst of errors that has begun. */
interface Burst {
  count: number;
  usual: UsualErrors;
}

/** Whether a log has a burst of errors, or is silent: each is reported once, when it begins. */
export class LogJudge {
  readonly #log: LogTally;
  /** Minutes of bursts say nothing about what is usual. */
  #bursts: { fromMs: number; toMs: number }[] = [];
  #isBurst = false;
  #silentSinceMs: number | undefined;

  constructor(log: LogTally) {
    this.#log = log;
  }

  /** Goes on with a burst that an earlier run of the node has reported. */
  resumeBurst(fromMs: number): void {
    this.#isBurst = true;
    this.#bursts.push({ fromMs, toMs: fromMs });
  }

  /** A burst that begins now. */
  burst(nowMs: number): Burst | undefined {
    const { count } = this.#log.lastMinute(nowMs);
    const last = this.#isBurst ? this.#bursts.at(-1) : undefined;
    if (last) {
      // It goes on while there are half as many errors as a burst has.
      if (count >= MIN_ERRORS / 2 && this.#usual(nowMs, count * 2)) last.toMs = nowMs;
      this.#isBurst = nowMs - last.toMs <= CALM_MS;
      if (nowMs - last.fromMs <= LONGEST_BURST_MS) return undefined;
      this.#isBurst = false;
      this.#bursts = [];
      return undefined;
    }
    const usual = count < MIN_ERRORS ? undefined : this.#usual(nowMs, count);
    if (!usual || usual.minutes < MIN_KNOWN_MINUTES || tailLogP(count, usual) > BURST_LOG_P) return undefined;
    this.#isBurst = true;
    this.#bursts = [...this.#bursts.slice(-9), { fromMs: nowMs - MINUTE_MS, toMs: nowMs }];
    return { count, usual };
  }

  /** Since when the log is silent, if that is noticed now, and its longest gap until then. */
  silence(nowMs: number): { sinceMs: number; longestGapMs: number } | undefined {
    const { lastMs, sinceMs, longestGapMs } = this.#log;
    if (lastMs === undefined || lastMs === this.#silentSinceMs) return undefined;
    const silentMs = nowMs - lastMs;
    if (silentMs < Math.max(MIN_SILENCE_MS, longestGapMs * LONGEST_GAPS)) return undefined;
    if (lastMs - sinceMs < REGULAR_AFTER_MS) return undefined;
    const { minutes, records } = this.#log.lastHour(lastMs);
    if (minutes < REGULAR_MINUTES || silentMs < (MEAN_GAPS * REGULAR_AFTER_MS) / records) return undefined;
    this.#silentSinceMs = lastMs;
    return { sinceMs: lastMs, longestGapMs };
  }

  /**
   * The errors of the full minutes before the last one, up to two hours of them. `undefined`: so many errors are not far
   * above those of one of the minutes.
   */
  #usual(nowMs: number, errors: number): UsualErrors | undefined {
    const end = Math.floor((nowMs - MINUTE_MS) / MINUTE_MS) * MINUTE_MS;
    let [minutes, sum, squares, mostPerMinute] = [0, 0, 0, 0];
    for (
      let at = end - MINUTE_MS;
      at >= this.#log.sinceMs && at > end - (KEPT_MINUTES - 4) * MINUTE_MS;
      at -= MINUTE_MS
    ) {
      if (this.#bursts.some(({ fromMs, toMs }) => at + MINUTE_MS > fromMs && at <= toMs + CALM_MS)) continue;
      const count = this.#log.countAt('ERROR', at) + this.#log.countAt('FATAL', at);
      if (errors < count * ABOVE_MOST) return undefined;
      minutes++;
      sum += count;
      squares += count ** 2;
      mostPerMinute = Math.max(mostPerMinute, count);
    }
    const perMinute = minutes === 0 ? 0 : sum / minutes;
    const variance = minutes < 2 ? 0 : (squares - sum * perMinute) / (minutes - 1);
    return { minutes, perMinute, mostPerMinute, variance };
  }
}
