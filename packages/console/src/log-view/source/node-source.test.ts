import { describe, expect, it } from 'vitest';
import { LogBytes } from './node-source.ts';

const file = (name: string, size: number, times: [number, number] | null, more = {}) => ({
  ...{ name, size, compressed: name.endsWith('.gz'), state: 'rotated' as const, modifiedMs: 0 },
  ...{ firstTimeMs: times?.[0] ?? null, lastTimeMs: times?.[1] ?? null, ...more },
});

const LOG = [
  file('a.log', 600, [300, 400], { state: 'live' }),
  file('a.log.1', 300, [200, 299]),
  file('a.log.2.gz', 100, [100, 199]),
];

describe('the bytes of a log', () => {
  it.each([
    [0, { timeMs: 100 }],
    [0.05, { timeMs: 150 }],
    [0.1, { file: 'a.log.1', offset: 0 }],
    [0.25, { file: 'a.log.1', offset: 150 }],
    [0.7, { file: 'a.log', offset: 300 }],
    [1, { file: 'a.log', offset: 600 }],
    [7, { file: 'a.log', offset: 600 }],
  ])('at %d are %j', (fraction, position) => {
    expect(new LogBytes(LOG).positionAt(fraction)).toEqual(position);
  });

  it('a compressed file without times starts at its beginning', () => {
    const bytes = new LogBytes([file('a.log.1.gz', 100, null), file('a.log', 100, [5, 6], { state: 'live' })]);
    expect(bytes.positionAt(0.3)).toEqual({ file: 'a.log.1.gz', offset: 0 });
  });

  it('span from the first to the last time, by the clock of the queried node', () => {
    expect(new LogBytes(LOG).extent(10)).toEqual({ kind: 'bytes', totalBytes: 1000, firstMs: 90, lastMs: 390 });
    expect(new LogBytes([]).extent(10)).toEqual({ kind: 'bytes', totalBytes: 0, firstMs: null, lastMs: null });
    expect(new LogBytes([]).positionAt(0.5)).toBeUndefined();
  });

  it('the live file is the newest, whatever its times', () => {
    const bytes = new LogBytes([file('a.log', 10, [5, 6], { state: 'live' }), file('a.log.1', 10, [50, 60])]);
    expect(bytes.files.map(({ name }) => name)).toEqual(['a.log.1', 'a.log']);
    expect(bytes.neighbour('a.log', 'older')).toBe('a.log.1');
    expect(bytes.neighbour('a.log', 'newer')).toBeUndefined();
  });
});
