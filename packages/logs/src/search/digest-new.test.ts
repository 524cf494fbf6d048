import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { openDir } from '../testing/temp-dir.ts';
import type { Digest } from '../types.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2026-06-01T10:00:00Z');
const NEW_SINCE_MS = NOW_MS - HOUR_MS;

const at = (hoursAgo: number) => new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString();
const line = (hoursAgo: number, source: string) => `${at(hoursAgo)}\tERROR\t${source}\tfailed\n`;

function verdicts({ groups }: Digest): [string | null, string][] {
  const verdict = (isNew: boolean, isUnknown: boolean) => (isNew ? 'new' : isUnknown ? 'unknown' : 'old');
  return groups
    .map(({ source, shape, isNew, isNewUnknown = false }): [string | null, string] => [
      source ?? shape,
      verdict(isNew, isNewUnknown),
    ])
    .sort();
}

describe('a group is new', () => {
  test('if there is no older record, also not before the counted range', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log.1'), line(50, 'old.go:1'));
    writeFileSync(join(dir, 'a.log'), line(0.5, 'old.go:1') + line(0.4, 'fresh.go:2'));
    const logs = openDir(dir);
    for (const fromMs of [NOW_MS - 6 * HOUR_MS, NEW_SINCE_MS, NOW_MS - 0.7 * HOUR_MS]) {
      const digest = await logs.digest({ limit: 9, fromMs, newSinceMs: NEW_SINCE_MS });
      expect(verdicts(digest)).toEqual([
        ['fresh.go:2', 'new'],
        ['old.go:1', 'old'],
      ]);
      expect(digest.groups.map(({ count }) => count)).toEqual([1, 1]);
      expect(digest.end.records).toBe(2);
      expect(digest.baseline).toEqual({ fromMs: NOW_MS - 50 * HOUR_MS, isComplete: true });
      const onlyNew = await logs.digest({ limit: 9, fromMs, newSinceMs: NEW_SINCE_MS, onlyNew: true });
      expect([verdicts(onlyNew), onlyNew.totalGroups]).toEqual([[['fresh.go:2', 'new']], 1]);
    }
    expect((await logs.digest({ limit: 9 })).baseline).toBeUndefined();
  });

  test('by its shape: what varies may have had other values before', async () => {
    const dir = tempDir();
    const lines = (hoursAgo: number, names: readonly string[]) =>
      names.map((name) => `${at(hoursAgo)} ERROR peer ${name} left the ring\n`).join('');
    writeFileSync(
      join(dir, 'a.log'),
      lines(9, ['anna', 'berta', 'clara', 'dora', 'emma', 'frida', 'greta', 'hanna']) + lines(0.5, ['ida']),
    );
    const digest = await openDir(dir).digest({ limit: 9, fromMs: NEW_SINCE_MS, newSinceMs: NEW_SINCE_MS });
    expect(verdicts(digest)).toEqual([['peer * left the ring', 'old']]);
  });
});

describe('whether a group is new is not known', () => {
  const shown: [string, string][] = [
    ['fresh.go:2', 'unknown'],
    ['seen.go:3', 'old'],
  ];
  const recent = line(1.5, 'seen.go:3') + line(0.5, 'seen.go:3') + line(0.4, 'fresh.go:2');
  const query = { limit: 9, fromMs: NOW_MS - 6 * HOUR_MS, newSinceMs: NEW_SINCE_MS };

  test('if an older file cannot be read', async () => {
    const dir = tempDir();
    const whole = gzipSync(line(50, 'old.go:1').repeat(50_000));
    writeFileSync(join(dir, 'a.log.1.gz'), Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.alloc(5000, 7)]));
    writeFileSync(join(dir, 'a.log'), recent);
    const logs = openDir(dir);
    const digest = await logs.digest(query);
    expect(verdicts(digest)).toEqual(shown);
    expect(digest.baseline).toMatchObject({ isComplete: false, detail: expect.stringContaining('a.log.1.gz') });
    expect(verdicts(await logs.digest({ ...query, onlyNew: true }))).toEqual([['fresh.go:2', 'unknown']]);
  });

  test('if the time budget ends before the older records are read', async () => {
    const dir = tempDir();
    const padding = Array.from({ length: 40_000 }, (_, index) => line(60 - index / 2000, `x.go:${index % 7}`));
    writeFileSync(join(dir, 'a.log'), padding.join('') + line(30, 'old.go:1') + line(0.3, 'old.go:1') + recent);
    // Each time without an index of earlier scans.
    const digestUntil = async (isOver: () => boolean) =>
      openDir(dir, { scansHere: true, workers: 1 }).digest(query, { isOver });
    let polls = 0;
    const whole = await digestUntil(() => ++polls < 0);
    expect(new Map(verdicts(whole))).toEqual(new Map([...shown, ['old.go:1', 'old'], ['fresh.go:2', 'new']]));
    const ends = new Set<string>();
    for (const share of [0, 0.5, 0.75, 0.99]) {
      let left = Math.floor(polls * share);
      const digest = await digestUntil(() => left-- <= 0);
      ends.add(digest.end.reason);
      expect(digest.baseline).toMatchObject({ isComplete: false, detail: 'scan stopped: time budget' });
      expect(digest.groups.filter(({ isNew }) => isNew)).toEqual([]);
    }
    // Also if everything in the range was counted.
    expect(ends).toEqual(new Set(['time budget', 'exhausted']));
  });

  test('if it has no times', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'no time at all\n');
    const digest = await openDir(dir).digest({ src: ['=a.log'], limit: 9, newSinceMs: NEW_SINCE_MS });
    expect(verdicts(digest)).toEqual([['no time at all', 'unknown']]);
  });
});
