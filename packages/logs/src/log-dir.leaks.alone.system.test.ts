import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { CHUNK_BYTES } from './file/shared-reads.ts';
import type { LogDir } from './log-dir.ts';
import { eventually } from './testing/eventually.ts';
import { readTail } from './testing/read-bytes.ts';
import { openBelow, openDir } from './testing/temp-dir.ts';

/** Every name, size and way with each other, five times; `MORE=4` makes it 11,200 tails. */
const TAILS = runs(5 * 560);

describe('nothing leaks', () => {
  const LINE = 'a line of the log, neither short nor long, as most are\n';

  /** Ways to use a response, most of them impolite. */
  const ways: ((logs: LogDir, name: string, size: number) => Promise<void>)[] = [
    async (logs, name, size) => void (await readTail(logs, name, size)),
    async (logs, name, size) => {
      const tail = await logs.tail(name, size);
      await tail.close();
      await tail.close();
    },
    async (logs, name, size) => {
      const tail = await logs.tail(name, size);
      await tail.chunks[Symbol.asyncIterator]().next();
      await tail.close();
    },
    async (logs, name, size) => {
      const tail = await logs.tail(name, size);
      for await (const _ of tail.chunks) break;
      await tail.close();
    },
    async (logs, name, size) => {
      const tail = await logs.tail(name, size);
      // Closed while the next chunk is being read.
      const next = tail.chunks[Symbol.asyncIterator]().next();
      await tail.close();
      await next;
    },
    async (logs, name, size) => {
      const abort = new AbortController();
      const tail = await logs.tail(name, size, { signal: abort.signal }).catch(() => undefined);
      abort.abort();
      await tail?.chunks[Symbol.asyncIterator]()
        .next()
        .catch(() => {});
      await tail?.close();
    },
    async (logs, name, size) => {
      const abort = new AbortController();
      const tail = logs.tail(name, size, { signal: abort.signal });
      abort.abort();
      await tail.then(({ close }) => close()).catch(() => {});
    },
    async (logs, _, size) => void (await logs.tail('missing.log', size).catch(() => {})),
  ];

  test('over thousands of tails, half of them abandoned', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'small.log'), LINE.repeat(100));
    writeFileSync(join(dir, 'large.log'), LINE.repeat(20_000));
    writeFileSync(join(dir, 'one-line.log'), 'x'.repeat(2 * CHUNK_BYTES));
    writeFileSync(join(dir, 'packed.log.gz'), gzipSync(LINE.repeat(500)));
    const logs = openDir(dir);
    const names = ['small.log', 'small.log', 'large.log', 'small.log', 'one-line.log', 'packed.log.gz', 'small.log'];
    const sizes = [100, 1000, 400_000, 100_000_000, 1];
    const useOne = async (turn: number) => {
      const name = names[turn % names.length] ?? '';
      const size = sizes[turn % sizes.length] ?? 1;
      const way = turn % 2 === 0 ? ways[0] : ways[Math.floor(turn / 2) % ways.length];
      await way?.(logs, name, size);
    };
    for (let turn = 0; turn < TAILS; turn += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => useOne(turn + index)));
    }
    expect(logs.usage.lentBuffers).toBe(0);
    expect(logs.usage.openFiles).toBeLessThanOrEqual(4);
    await logs.close();
    expect(logs.usage).toMatchObject({ openFiles: 0, lentBuffers: 0 });
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });
});
