import type { FoundRecord } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { LogTallies, MAX_PATTERNS, MINUTE_MS, PatternTallies } from './log-tallies.ts';

const NOW_MS = Date.parse('2026-11-17T03:12:30Z');

function record(message: string, { timeMs = NOW_MS, ...more }: Partial<FoundRecord> = {}): FoundRecord {
  const position = { file: 'a.log', offset: 0, bytes: 1, cursor: `c${message}` };
  return { type: 'record', level: 'ERROR', timeMs, message, ...position, ...more };
}

describe('records', () => {
  it('are counted by log, level and minute, and in total', () => {
    const tallies = new LogTallies(NOW_MS);
    const startMs = NOW_MS - 30_000;
    tallies.count('a.log', [{ startMs, counts: { INFO: 5, NONE: 1 } }], NOW_MS);
    tallies.count('a.log', [{ startMs: startMs - MINUTE_MS, counts: { INFO: 2 } }], NOW_MS);
    tallies.countError('a.log', record('x'), NOW_MS);
    tallies.count('b.log', [{ startMs: Number.NaN, counts: { WARN: 1 } }], NOW_MS);
    const [a, b] = tallies.logs();
    expect(a?.totals).toEqual({ INFO: 7, NONE: 1, ERROR: 1 });
    expect([a?.countAt('INFO', NOW_MS), a?.countAt('INFO', NOW_MS - MINUTE_MS)]).toEqual([5, 2]);
    expect([a?.countAt('ERROR', NOW_MS), a?.countAt('FATAL', NOW_MS), b?.countAt('WARN', NOW_MS)]).toEqual([1, 0, 1]);
    expect(a?.lastHour(NOW_MS + MINUTE_MS)).toEqual({ records: 9, minutes: 2 });
  });

  it('are forgotten after two hours, but in the totals', () => {
    const tallies = new LogTallies(NOW_MS);
    const log = tallies.log('a.log');
    for (const back of [0, 200, 1, 199]) log.add('INFO', 1, NOW_MS + (200 - back) * MINUTE_MS);
    expect([0, 1, 199, 200].map((minute) => log.countAt('INFO', NOW_MS + minute * MINUTE_MS))).toEqual([0, 0, 1, 1]);
  });

  it.each([
    ['copied from yesterday', 86_400_000 + 123_456, 0],
    ['of a minute ago', MINUTE_MS, 1],
    ['of another time zone', 2 * 3_600_000 + 700, 1],
    ['of the future', -300_000, 1],
  ])('%s: whether they are news', (_name, lagMs, news) => {
    const tallies = new LogTallies(NOW_MS);
    tallies.countError('a.log', record('x', { timeMs: NOW_MS - lagMs }), NOW_MS);
    expect(tallies.patterns.takeNew()).toHaveLength(news);
    expect(tallies.log('a.log').totals.ERROR).toBe(1);
  });

  it('of more logs than fit: those that are silent for longest are forgotten', () => {
    const tallies = new LogTallies(NOW_MS);
    for (let log = 0; log < 2100; log++)
      tallies.count(`${log}.log`, [{ startMs: NOW_MS + log * 1000, counts: { INFO: 1 } }], NOW_MS + log * 1000);
    const names = Array.from(tallies.logs(), ({ name }) => name);
    expect(names).toHaveLength(2000);
    expect(names).not.toContain('5.log');
    expect(names).toContain('2099.log');
  });
});

describe('patterns', () => {
  const seen = (patterns: PatternTallies) => Array.from(patterns.all(), ({ shape, source }) => source ?? shape);
  const news = (patterns: PatternTallies) => patterns.takeNew().map(({ pattern }) => pattern.source ?? pattern.shape);

  it('are new once, and are those of a digest', () => {
    const patterns = new PatternTallies(NOW_MS);
    for (const message of ['disk 7 is full', 'disk 8 is full', 'cannot connect to 10.0.0.1:80'])
      patterns.count('a.log', record(message), NOW_MS);
    patterns.count('a.log', record('whatever', { source: 'a/b.go:7' }), NOW_MS);
    expect(news(patterns)).toEqual(['disk * is full', 'cannot connect to *', 'a/b.go:7']);
    patterns.count('b.log', record('disk 9 is full'), NOW_MS);
    expect(news(patterns)).toEqual([]);
    // The same words of another level are another pattern.
    patterns.count('b.log', record('disk 9 is full', { level: 'FATAL' }), NOW_MS);
    expect(news(patterns)).toEqual(['disk * is full']);
    expect([...patterns.all()][0]).toMatchObject({ shape: 'disk * is full', level: 'ERROR', count: 3 });
  });

  it('are not new if they differ from known ones in what varies by position', () => {
    const patterns = new PatternTallies(NOW_MS);
    const names = ['ann', 'bob', 'cy', 'dee', 'eve', 'flo', 'gus', 'hal'];
    for (const name of names) patterns.count('a.log', record(`lost peer ${name} of the zone`), NOW_MS);
    expect(news(patterns)).toEqual(['lost peer * of the zone']);
    patterns.count('a.log', record('lost peer zoe of the zone'), NOW_MS);
    expect(news(patterns)).toEqual([]);
    expect(seen(patterns)).toEqual(['lost peer * of the zone']);
  });

  it('are forgotten if there are too many, which is known', () => {
    const patterns = new PatternTallies(NOW_MS - MINUTE_MS);
    const see = (name: number, lastMs: number) =>
      patterns.see({ level: 'ERROR', source: `${name}`, shape: null }, { count: 1, firstMs: lastMs, lastMs });
    for (let name = 0; name < MAX_PATTERNS; name++) see(name, NOW_MS + name);
    expect(patterns.knownSinceMs).toBe(NOW_MS - MINUTE_MS);
    // It occurs again, so the next one is the oldest.
    see(0, NOW_MS + 3_600_000);
    see(MAX_PATTERNS, NOW_MS + 3_600_000);
    expect(seen(patterns)).toHaveLength(MAX_PATTERNS);
    expect(seen(patterns)).toContain('0');
    expect(patterns.knownSinceMs).toBe(NOW_MS + 1);
  });
});
