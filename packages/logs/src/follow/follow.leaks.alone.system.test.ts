import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { LogDir } from '../log-dir.ts';
import { LogError } from '../log-error.ts';
import { eventually } from '../testing/eventually.ts';
import { openBelow } from '../testing/temp-dir.ts';
import type { FollowItem } from '../types.ts';
import { collectFollow, openHub } from './testing/open-hub.ts';

const LINE = '2026-11-15 10:00:00.000\tINFO\ta/b.go:1\tone\n';
const NOTHING = { readers: 0, watchers: 0, openFiles: 0 };

function rethrowUnlessNotFound(error: unknown): void {
  if (!(error instanceof LogError) || error.code !== 'LOG_FILE_NOT_FOUND') throw error;
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'FSEventWrap');

test('aborted follows leak no descriptor, watcher or timer', async () => {
  const dir = tempDir();
  for (const name of ['a.log', 'b.log', 'c.log']) writeFileSync(join(dir, name), LINE.repeat(10));
  const before = timers().length;
  const hub = openHub(dir);
  const queries = [
    { src: ['=a.log'] },
    { src: ['b.log'] },
    {},
    { src: ['=a.log'], start: { back: 3 } },
    { src: ['=none'] },
  ];
  const leave = async (turn: number) => {
    const abort = new AbortController();
    const query = { start: 'end', ...queries[turn % queries.length] } as const;
    const batches = hub.follow(query, { signal: abort.signal });
    if (turn % 7 === 0) abort.abort();
    // One of the queries names no log: its failure is expected.
    await batches.next().catch(rethrowUnlessNotFound);
    if (turn % 3 === 0) appendFileSync(join(dir, 'a.log'), LINE);
    if (turn % 50 === 1) {
      renameSync(join(dir, 'a.log'), join(dir, 'a.log.1'));
      writeFileSync(join(dir, 'a.log'), LINE);
    }
    // Left during a pull, between two pulls, or by returning.
    if (turn % 4 === 0) void batches.next();
    if (turn % 4 < 3) abort.abort();
    else await batches.return();
  };
  for (let turn = 0; turn < 1000; turn += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => leave(turn + index)));
  }
  await eventually(() => expect(hub.usage).toEqual(NOTHING));
  await eventually(() => expect(openBelow(dir)).toBe(0));
  await eventually(() => expect(timers().length).toBeLessThanOrEqual(before));
});

test('closing the hub during reads and rotation leaks nothing', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, LINE);
  const hub = openHub(dir);
  const follows = Array.from({ length: 20 }, (_, index) => collectFollow(hub, index % 2 ? {} : { src: ['=a.log'] }));
  await Promise.all(follows.map(({ ready }) => ready));
  appendFileSync(path, LINE.repeat(50_000));
  renameSync(path, `${path}.1`);
  writeFileSync(path, LINE);
  await hub.close();
  expect(hub.usage).toEqual(NOTHING);
  for (const { items } of follows) {
    await eventually(() => expect(items.at(-1)).toEqual({ type: 'end', reason: 'stopping' }));
  }
  const late = collectFollow(hub, { src: ['=a.log'] });
  await eventually(() => expect(late.items).toEqual([{ type: 'end', reason: 'stopping' }]));
  expect(hub.usage).toEqual(NOTHING);
});

test('a follow after the end of a directory that was not followed before ends at once', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), LINE);
  const logs = new LogDir(dir);
  await logs.prepare();
  await logs.close();
  const items: FollowItem[] = [];
  for await (const batch of logs.follow({ src: ['=a.log'], start: 'end', raw: true })) items.push(...batch);
  expect(items).toEqual([{ type: 'end', reason: 'stopping' }]);
  expect(logs.usage).toMatchObject({ readers: 0, watchers: 0 });
});
