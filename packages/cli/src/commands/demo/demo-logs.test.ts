import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom, DEMO_LOGS } from './demo-logs.ts';
import { LiveLog, writeHistory } from './write-records.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const AT = { timeMs: NOW, local: '2026-11-15 12:00:00.000', utc: '2026-11-15T12:00:00.000Z' };

function writeRecords(seed: number, count: number): string[] {
  return DEMO_LOGS.map(({ create }) => {
    const next = create(createRandom(seed), { trouble: 0.004, id: 'a' });
    return Array.from({ length: count }, () => next(AT)).join('');
  });
}

describe('made-up records', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(writeRecords(1, 200)).toEqual(writeRecords(1, 200));
    expect(writeRecords(1, 200)).not.toEqual(writeRecords(2, 200));
  });

  it('are mostly calm, with some of every level, and many are not alike', () => {
    const [broker = ''] = writeRecords(1, 5000);
    const levels = [...broker.matchAll(/^[^\t\n]+\t([A-Z]+)\t/gm)].map(([, level]) => level);
    const share = (wanted: string) => levels.filter((level) => level === wanted).length / levels.length;
    expect(levels).toHaveLength(5000);
    expect(share('INFO')).toBeGreaterThan(0.7);
    for (const level of ['DEBUG', 'WARN', 'ERROR']) {
      expect(share(level)).toBeGreaterThan(0.005);
      expect(share(level)).toBeLessThan(0.2);
    }
    expect(new Set(broker.split('\n')).size).toBeGreaterThan(3000);
  });
});

describe('the past of the demo', () => {
  it('is read by the engine as what it is: formats, times, levels, families of rotated and compressed files', async () => {
    const dir = tempDir();
    writeHistory(dir, { seed: 1, nowMs: NOW, trouble: 0.004, id: 'a' });
    const logs = new LogDir(dir, { threads: SHARED_THREADS });
    onTestFinished(() => logs.close());
    const files = await logs.details();
    const formats = new Map(files.map(({ family, format }) => [family, format]));
    expect(Object.fromEntries(formats)).toEqual({
      'access.log': 'lindb-access',
      'lind-broker.log': 'contract',
      'show_sql.log': 'lindb-slow-sql',
      'task.log': 'json',
    });
    const broker = files.filter(({ family }) => family === 'lind-broker.log');
    expect(broker.map(({ state, compressed }) => `${state} ${compressed}`)).toEqual([
      'rotated true',
      'rotated true',
      'rotated false',
      'live false',
    ]);
    const { groups } = await logs.digest({ limit: 50, minLevel: 'ERROR' });
    expect(groups.map(({ source }) => source)).toEqual(
      expect.arrayContaining(['replica/channel.go:233', 'query/worker.go:191', 'task/backup.go:96']),
    );
    for (const { lastTimeMs } of files) expect(lastTimeMs ?? 0).toBeLessThanOrEqual(NOW);
  });

  it('is the same for the same seed and time', () => {
    const [a, b] = [tempDir(), tempDir()];
    for (const dir of [a, b]) writeHistory(dir, { seed: 5, nowMs: NOW, trouble: 0.004, id: 'a' });
    expect(readdirSync(a)).toEqual(readdirSync(b));
    expect(readFileSync(join(a, 'lind-broker.log'), 'utf8')).toBe(readFileSync(join(b, 'lind-broker.log'), 'utf8'));
  });
});

describe('a live log', () => {
  it('is rotated at its size, compressed, and only the newest rotated files are kept', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'other-1.log'), '');
    const log = new LiveLog(dir, 'a');
    for (let minute = 0; minute < 9; minute++) log.append('x'.repeat(600 * 1024), NOW + minute * 60_000);
    log.append('end\n', NOW);
    const minutes = ['03', '04', '05', '06', '07', '08'];
    expect(readdirSync(dir).sort()).toEqual([
      ...minutes.map((minute) => `a-2026-11-15T12-${minute}-00.000.log.gz`),
      'a.log',
      'other-1.log',
    ]);
    expect(readFileSync(log.path, 'utf8')).toBe('end\n');
  });
});
