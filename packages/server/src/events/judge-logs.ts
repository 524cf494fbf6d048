import { KEPT_MINUTES, type LogTally, MINUTE_MS } from './log-tallies.ts';

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

export interface UsualErrors {
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
export interface Burst {
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
