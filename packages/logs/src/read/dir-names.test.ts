import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DirNames, findName, readSortedNames, type SortedNames } from './dir-names.ts';

/** More than a tick of the clock that dates directories, on any kernel. */
const TICK_MS = 25;

/** Names are kept once a directory has been quiet for seconds: with a clock that is ahead, at once. */
function aheadOfTime(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
}

describe('the names of a directory', () => {
  const changes: [string, (dir: string) => void][] = [
    ['a new file', (dir) => writeFileSync(join(dir, 'new.log'), '')],
    ['a file deleted', (dir) => rmSync(join(dir, 'a.log'))],
    ['a file renamed', (dir) => renameSync(join(dir, 'b.log'), join(dir, 'c.log'))],
    [
      'a file replaced by a directory',
      (dir) => [rmSync, mkdirSync].forEach((change) => void change(join(dir, 'c.log'))),
    ],
    ['a new file, its time hidden', (dir) => keepTime(dir, () => writeFileSync(join(dir, 'hidden.log'), ''))],
    ['all deleted', (dir) => rmSync(dir, { recursive: true })],
    ['a new directory', (dir) => mkdirSync(join(dir, 'again.log'), { recursive: true })],
  ];

  test('are those on disk after every change, and kept without one', async () => {
    aheadOfTime();
    const dir = join(tempDir(), 'logs');
    mkdirSync(dir);
    for (const name of ['b.log', 'a.log', 'ä.log', '\u{1f600}', '\uff5e']) writeFileSync(join(dir, name), '');
    const names = new DirNames(dir);
    const seen: SortedNames[] = [];
    for (const [, change] of [['as it was', () => {}] as const, ...changes]) {
      await delay(TICK_MS); // pause: the time of a directory moves on
      change(dir);
      await delay(TICK_MS); // pause: the time of a directory moves on
      const found = await names.get();
      expect(found).toEqual(await readSortedNames(dir, {}));
      expect(found.shown).toEqual([...found.shown].sort());
      // Kept: the very same lists. An empty directory has none.
      if (found.raw.length > 0) expect(await names.get()).toBe(found);
      seen.push(found);
    }
    expect(new Set(seen.map(({ shown }) => shown.join())).size).toBe(changes.length);
  });

  test('are read again as long as the directory may have changed in the same tick', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), '');
    const names = new DirNames(dir);
    for (let count = 0; count < 20; count++) {
      expect((await names.get()).shown).toHaveLength(count + 1);
      writeFileSync(join(dir, `b-${count}.log`), '');
    }
  });

  test('are not kept on a file system that may not date its directories', async () => {
    aheadOfTime();
    // /proc has no such times: its processes come and go.
    const names = new DirNames('/proc');
    expect(await names.get()).not.toBe(await names.get());
    expect(execFileSync('stat', ['-f', '-c', '%T', '/proc']).toString()).toBe('proc\n');
  });

  test('are found by what is shown, of several alike the last', () => {
    const sorted = ['a', 'b', 'b', 'd'];
    const find = (name: string) => findName(sorted, name, String);
    expect(['', 'a', 'b', 'c', 'd', 'e'].map(find)).toEqual([-1, 0, 2, -1, 3, -1]);
    expect(findName([], 'a', String)).toBe(-1);
  });
});

/** As programs do that copy the times of a directory together with its files. */
function keepTime(dir: string, change: () => void): void {
  const { atime, mtime } = statSync(dir);
  change();
  utimesSync(dir, atime, mtime);
}
