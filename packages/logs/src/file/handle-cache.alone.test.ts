import { mkdirSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { readTail } from '../testing/read-bytes.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';
import { HandleCache, type LogHandle } from './handle-cache.ts';

function openCache(dir: string): HandleCache {
  const cache = new HandleCache(dir);
  onTestFinished(() => cache.close());
  return cache;
}

function readText({ fd, sizeBytes }: LogHandle): string {
  const buffer = Buffer.alloc(sizeBytes);
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, sizeBytes, 0));
}

/** Releasing does not wait for closing. */
async function expectOpen(dir: string, count: number): Promise<void> {
  await eventually(() => expect(openBelow(dir)).toBe(count));
}

describe('a busy file', () => {
  test('is opened once for any number of sequential readers', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'text\n');
    const logs = openDir(dir);
    for (let request = 0; request < 50; request++) await readTail(logs, 'a.log', 10);
    expect(logs.usage).toMatchObject({ openFiles: 1, lentBuffers: 0 });
    await expectOpen(dir, 1);
  });

  test('is opened once for any number of concurrent requests', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'text\n');
    const cache = openCache(dir);
    const handles = await Promise.all(Array.from({ length: 50 }, () => cache.acquire('a.log')));
    expect(cache.openCount).toBe(1);
    expect(new Set(handles.map(({ fd }) => fd)).size).toBe(1);
    for (const handle of handles) handle.release();
    expect(cache.openCount).toBe(1);
    await expectOpen(dir, 1);
  });

  test('is served in its new version right after it was replaced, while holders of the old one keep it', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'old\n');
    const cache = openCache(dir);
    const old = await cache.acquire('a.log');
    writeFileSync(join(dir, 'next'), 'new file\n');
    renameSync(join(dir, 'next'), join(dir, 'a.log'));
    const fresh = await cache.acquire('a.log');
    expect(readText(fresh)).toBe('new file\n');
    expect(readText(old)).toBe('old\n');
    expect(cache.openCount).toBe(2);
    old.release();
    expect(cache.openCount).toBe(1);
    fresh.release();
    await expectOpen(dir, 1);
  });

  test('is not found any more once it is removed, although it is still open', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'old\n');
    const cache = openCache(dir);
    (await cache.acquire('a.log')).release();
    rmSync(join(dir, 'a.log'));
    await expect(cache.acquire('a.log')).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
    mkdirSync(join(dir, 'a.log'));
    await expect(cache.acquire('a.log')).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  });

  test('has the size it has at each opening', async () => {
    const dir = tempDir();
    const cache = openCache(dir);
    for (const size of [5, 0, 100, 7]) {
      writeFileSync(join(dir, 'a.log'), 'x'.repeat(size));
      const handle = await cache.acquire('a.log');
      expect(handle.sizeBytes).toBe(size);
      handle.release();
    }
    expect(cache.openCount).toBe(1);
  });
});

describe('an unused descriptor', () => {
  afterEach(() => void vi.useRealTimers());

  test('is closed after a second', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'text\n');
    const cache = openCache(dir);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    (await cache.acquire('a.log')).release();
    vi.advanceTimersByTime(900);
    expect(cache.openCount).toBe(1);
    vi.advanceTimersByTime(1200);
    expect(cache.openCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await expectOpen(dir, 0);
  });

  test('stays open while it is reused, and during a long read', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'busy.log'), 'text\n');
    writeFileSync(join(dir, 'long.log'), 'text\n');
    const cache = openCache(dir);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    const long = await cache.acquire('long.log');
    const { fd } = long;
    for (let turn = 0; turn < 20; turn++) {
      (await cache.acquire('busy.log')).release();
      vi.advanceTimersByTime(400);
    }
    expect(cache.openCount).toBe(2);
    expect(readText(long)).toBe('text\n');
    expect(long.fd).toBe(fd);
    vi.advanceTimersByTime(2000);
    expect(cache.openCount).toBe(1);
    long.release();
    vi.advanceTimersByTime(2000);
    expect(cache.openCount).toBe(0);
  });

  test('is closed in time even if the clock was set back', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'text\n');
    const cache = openCache(dir);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    (await cache.acquire('a.log')).release();
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(2000);
    expect(cache.openCount).toBe(0);
  });

  test('is not cached if there are already many', async () => {
    const dir = tempDir();
    const cache = openCache(dir);
    for (let file = 0; file < 100; file++) {
      writeFileSync(join(dir, `${file}.log`), 'text\n');
      (await cache.acquire(`${file}.log`)).release();
    }
    expect(cache.openCount).toBeLessThanOrEqual(32);
  });
});

describe('releasing', () => {
  test('twice is harmless', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'text\n');
    const cache = openCache(dir);
    const first = await cache.acquire('a.log');
    const second = await cache.acquire('a.log');
    first.release();
    first.release();
    cache.close();
    expect(cache.openCount).toBe(1);
    expect(readText(second)).toBe('text\n');
    second.release();
    second.release();
    expect(cache.openCount).toBe(0);
    await expectOpen(dir, 0);
  });

  test('close closes unused descriptors at once, and used ones when they are released', async () => {
    const dir = tempDir();
    for (const name of ['a.log', 'b.log']) writeFileSync(join(dir, name), 'text\n');
    const cache = openCache(dir);
    (await cache.acquire('a.log')).release();
    const used = await cache.acquire('b.log');
    cache.close();
    expect(cache.openCount).toBe(1);
    expect(readText(used)).toBe('text\n');
    used.release();
    cache.close();
    expect(cache.openCount).toBe(0);
    await expectOpen(dir, 0);
  });
});
