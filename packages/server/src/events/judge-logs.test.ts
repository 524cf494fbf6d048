import type { FoundRecord } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { LogJudge, LogTally, MINUTE_MS, SLICE_MS, tailLogP } from './log-tallies.ts';

const START_MS = Date.parse('2026-11-17T00:00:00Z');
const HOUR_MS = 60 * MINUTE_MS;
const DAYS = 7;

/** Deterministic, uniform in [0, 1). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function poisson(mean: number, random: () => number): number {
  let count = -1;
  for (let rest = 1; rest > Math.exp(-mean); rest *= random()) count++;
  return count;
}

const exponential = (random: () => number) => -Math.log(1 - random());

/** Errors of each slice of five seconds of logs that are as usual, whatever they look like. */
const QUIET_LOGS: Record<string, (random: () => number) => (timeMs: number) => number> = {
  'hardly any': (random) => () => poisson(0.01 / 12, random),
  'a few': (random) => () => poisson(3 / 12, random),
  many: (random) => () => poisson(50 / 12, random),
  'minutes that differ much': (random) => {
    let rate = 0;
    // A sum of squares of normal variables: most minutes have none, some have many.
    return (timeMs) => {
      if (timeMs % MINUTE_MS === 0) rate = exponential(random) * (random() < 0.3 ? 15 : 0.5);
      return poisson(rate / 12, random);
    };
  },
  'clusters of about 15': (random) => {
    let left = 0;
    return () => {
      if (random() < 6 / 720) left += 15 * exponential(random);
      const now = Math.min(left, 1 + left / 4);
      left -= now;
      return Math.round(now);
    };
  },
  'a job every ten minutes': (random) => (timeMs) => (timeMs % (10 * MINUTE_MS) < 20_000 ? poisson(15, random) : 0),
  'a job every hour, not exactly': (random) => {
    let nextMs = START_MS;
    return (timeMs) => {
      if (timeMs >= nextMs + 30_000) nextMs += HOUR_MS + Math.round((random() - 0.5) * 40_000);
      return timeMs >= nextMs ? poisson(35, random) : 0;
    };
  },
  'more by day': (random) => (timeMs) =>
    poisson((20 * (1 + Math.sin((timeMs / HOUR_MS / 24) * 2 * Math.PI))) / 12, random),
  'an unreachable peer now and then': (random) => {
    let isOn = false;
    return () => {
      if (random() < (isOn ? 1 / 24 : 1 / 240)) isOn = !isOn;
      return isOn ? poisson(30 / 12, random) : 0;
    };
  },
  'a rate that drifts': (random) => {
    let log = 1;
    return () => {
      log += (1 - log) / 720 + (random() - 0.5) * 0.06;
      return poisson(Math.exp(log) / 12, random);
    };
  },
};

class SimulatedLog {
  readonly tally = new LogTally('a.log', START_MS);
  readonly judge = new LogJudge(this.tally);
  nowMs = START_MS;
  readonly bursts: number[] = [];

  /** Errors at the rates of the slices, and whether a burst is noticed at its end. */
  run(forMs: number, errorsAt: (timeMs: number) => number): void {
    for (const endMs = this.nowMs + forMs; this.nowMs < endMs; ) {
      const count = errorsAt(this.nowMs);
      for (let error = 0; error < count; error++) {
        this.tally.add('ERROR', 1, this.nowMs);
        this.tally.addError({ message: String(this.nowMs) } as FoundRecord, this.nowMs);
      }
      this.nowMs += SLICE_MS;
      if (this.judge.burst(this.nowMs)) this.bursts.push(this.nowMs);
    }
  }
}

describe('bursts', () => {
  it(`are noticed at most once a day in ${Object.keys(QUIET_LOGS).length} logs that are as usual for ${DAYS} days`, () => {
    const found: Record<string, number> = {};
    for (const [name, create] of Object.entries(QUIET_LOGS)) {
      const log = new SimulatedLog();
      log.run(DAYS * 24 * HOUR_MS, create(createRandom(name.length)));
      // In the first two hours it is not yet known what is usual.
      found[name] = log.bursts.filter((timeMs) => timeMs > START_MS + 2 * HOUR_MS).length;
    }
    const all = Object.values(found).reduce((sum, count) => sum + count, 0);
    expect(all, JSON.stringify(found)).toBeLessThanOrEqual(DAYS);
  });

  it.each([
    ['no error before', 0, 1, 6],
    ['few before', 2 / 12, 4, 60],
    ['many before', 50 / 12, 20, 60],
    ['thousands', 100, 400, 60],
  ])('%s: a burst is noticed within a minute, once, and again when there is another', (_name, usual, high, withinS) => {
    const random = createRandom(3);
    const log = new SimulatedLog();
    const calm = () => poisson(usual, random);
    log.run(2 * HOUR_MS, calm);
    expect(log.bursts).toEqual([]);
    const begunMs = log.nowMs;
    log.run(20 * MINUTE_MS, () => (withinS === 6 ? 20 : poisson(high, random)));
    log.run(20 * MINUTE_MS, calm);
    expect(log.bursts).toHaveLength(1);
    expect((log.bursts[0] ?? 0) - begunMs).toBeLessThanOrEqual(withinS * 1000);
    expect(Number(log.tally.lastMinute(log.bursts[0] ?? 0).first?.message ?? begunMs)).toBeGreaterThanOrEqual(begunMs);
    // With a pause shorter than it takes to be over, it is the same one.
    for (let time = 0; time < 3; time++) {
      log.run(2 * MINUTE_MS, () => poisson(high + 10, random));
      log.run(2 * MINUTE_MS, calm);
    }
    expect(log.bursts).toHaveLength(2);
  });

  it('what lasts is usual from then on', () => {
    const log = new SimulatedLog();
    log.run(2 * HOUR_MS, () => 0);
    log.run(4 * HOUR_MS, () => 10);
    expect(log.bursts).toHaveLength(1);
    log.run(MINUTE_MS, () => 15);
    expect(log.bursts).toHaveLength(1);
  });

  it('nothing is said about a past that is hardly known, nor again about a burst of an earlier run', () => {
    const unknown = new SimulatedLog();
    unknown.run(5 * MINUTE_MS, () => 0);
    unknown.run(MINUTE_MS, () => 20);
    expect(unknown.bursts).toEqual([]);
    const resumed = new SimulatedLog();
    resumed.run(HOUR_MS, () => 0);
    resumed.judge.resumeBurst(resumed.nowMs);
    resumed.run(5 * MINUTE_MS, () => 20);
    expect(resumed.bursts).toEqual([]);
  });

  it('the bound of the probability is above the sum of the distribution', () => {
    for (const mean of [0.5, 5, 40]) {
      for (const count of [mean * 2, mean * 3, mean + 20].map(Math.ceil)) {
        let term = Math.exp(-mean);
        let below = 0;
        for (let value = 0; value < count; value++) {
          below += term;
          term *= mean / (value + 1);
        }
        const bound = tailLogP(count, { minutes: 1e9, perMinute: mean, mostPerMinute: 0, variance: 0 });
        expect(Math.exp(bound)).toBeGreaterThanOrEqual(1 - below - 1e-12);
        // A log whose minutes vary more has more of them.
        const varied = tailLogP(count, { minutes: 1e9, perMinute: mean, mostPerMinute: 0, variance: mean * 4 });
        expect(varied).toBeGreaterThan(bound);
      }
    }
  });
});

describe('silence', () => {
  /** Records at these times after the start, judged every five seconds until the end. */
  function judge(writes: readonly number[], untilMs: number) {
    const tally = new LogTally('a.log', START_MS);
    const judged = new LogJudge(tally);
    const silences: { atMs: number; longestGapMs: number }[] = [];
    let next = 0;
    for (let atMs = 0; atMs <= untilMs; atMs += SLICE_MS) {
      for (; (writes[next] ?? Number.POSITIVE_INFINITY) <= atMs; next++) {
        tally.add('INFO', 1, START_MS + (writes[next] ?? 0));
        tally.noteWritten(START_MS + (writes[next] ?? 0));
      }
      const silence = judged.silence(START_MS + atMs);
      if (silence) silences.push({ atMs, longestGapMs: silence.longestGapMs });
    }
    return silences;
  }
  const every = (stepMs: number, forMs: number) =>
    Array.from({ length: Math.floor(forMs / stepMs) }, (_, index) => index * stepMs);

  it('of a busy log is noticed within minutes, once, with its usual gap', () => {
    const found = judge(every(1000, 2 * HOUR_MS), 5 * HOUR_MS);
    expect(found).toHaveLength(1);
    expect((found[0]?.atMs ?? 0) - 2 * HOUR_MS).toBeLessThanOrEqual(2 * MINUTE_MS + SLICE_MS);
    expect(found[0]?.longestGapMs).toBe(1000);
  });

  it('is judged by what is usual for the log', () => {
    expect(judge(every(5 * MINUTE_MS, 3 * HOUR_MS), 3.5 * HOUR_MS)).toEqual([]);
    expect(judge(every(5 * MINUTE_MS, 3 * HOUR_MS), 5 * HOUR_MS)).toHaveLength(1);
    // Not regular, and not known for long.
    expect(judge(every(20 * MINUTE_MS, 3 * HOUR_MS), 24 * HOUR_MS)).toEqual([]);
    expect(judge(every(1000, HOUR_MS / 2), 24 * HOUR_MS)).toEqual([]);
  });

  it('a gap that was reported is usual for a day', () => {
    const writes = [0, 3, 6, 9].flatMap((hour) => every(1000, 2 * HOUR_MS).map((timeMs) => hour * HOUR_MS + timeMs));
    expect(judge(writes, 11 * HOUR_MS)).toHaveLength(1);
  });

  it('is not noticed more than once a day in logs that write at random', () => {
    let found = 0;
    for (const [index, meanMs] of [500, 5000, 30_000, 120_000, 300_000].entries()) {
      const random = createRandom(index);
      const writes: number[] = [];
      const untilMs = DAYS * 24 * HOUR_MS;
      const byDay = (timeMs: number) => 1 + 0.9 * Math.sin((timeMs / HOUR_MS / 24) * 2 * Math.PI);
      for (let atMs = 0; atMs < untilMs && writes.length < 500_000; writes.push(atMs))
        atMs += (exponential(random) * meanMs) / byDay(atMs);
      found += judge(writes, Math.min(untilMs, writes.at(-1) ?? 0)).length;
    }
    expect(found).toBeLessThanOrEqual(1);
  });
});
