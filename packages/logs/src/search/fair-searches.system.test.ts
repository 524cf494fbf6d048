import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const LEVELS = ['INFO', 'WARN', 'ERROR', 'DEBUG'];
const LINES = Array.from({ length: 15_000 }, (_, number) => {
  const time = new Date(1_780_000_000_000 + number * 10).toISOString().replace('T', ' ').slice(0, 23);
  return `${time}\t${LEVELS[(number % 7) % 4]}\ta.go:${number % 50}\tline ${number} user=${number % 13}\n`;
});

/** All that scans records, in ways that differ. */
const QUERIES: readonly ((logs: LogDir, client: string) => Promise<object>)[] = [
  async (logs, client) => (await runSearch(logs, { terms: ['7'], limit: 500 }, { client })).records,
  async (logs, client) => (await runSearch(logs, { minLevel: 'ERROR', order: 'newest' }, { client })).records,
  async (logs, client) => (await runSearch(logs, { regex: 'user=1[02]$', limit: 2000 }, { client })).records,
  async (logs, client) => (await logs.histogram({ buckets: 20 }, { client })).buckets,
  async (logs, client) => (await logs.histogram({ buckets: 20, terms: ['user=7'] }, { client })).buckets,
  async (logs, client) => (await logs.digest({ limit: 100, terms: ['line'] }, { client })).groups,
  async (logs, client) => (await logs.top({ by: 'user', limit: 20 }, { client })).values,
  async (logs, client) => (await logs.fields({ limit: 20 }, { client })).fields.map(({ name }) => name),
];

test('searches of clients that take turns find what each finds alone', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), LINES.join(''));
  const open = () => openDir(dir, { workers: 1, maxIndexBytes: 0 });
  const alone = open();
  const expected: object[] = [];
  for (const query of QUERIES) expected.push(await query(alone, 'a'));
  const shared = open();
  const clients = ['a', 'b'];
  const found = await Promise.all(clients.map((client) => Promise.all(QUERIES.map((query) => query(shared, client)))));
  for (const [client, results] of found.entries()) {
    for (const [index, result] of results.entries()) expect(result, `${index} of ${client}`).toEqual(expected[index]);
  }
});

test('a client has a part of all searches, and others are not refused for it', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), LINES.slice(0, 1000).join(''));
  const logs = openDir(dir, { maxQueued: 5, maxQueuedOf: (client) => (client === 'member' ? 5 : 2) });
  const begin = async (client?: string) => {
    const search = logs.search({ order: 'oldest', limit: 10, before: 0, after: 0 }, { client });
    await search.next();
    return search;
  };
  const first = await begin('a');
  await begin('a');
  await expect(begin('a')).rejects.toMatchObject({
    code: 'TOO_MANY_SEARCHES',
    message: expect.stringContaining(
      '2 searches of this client are already running, the limit set by search.max-queued-per-client',
    ),
  });
  await begin('b');
  await first.return();
  await begin('a');
  await begin('member');
  await begin();
  await expect(begin('c')).rejects.toMatchObject({
    code: 'TOO_MANY_SEARCHES',
    message: expect.stringContaining('5 searches are already running, the limit set by search.max-queued;'),
  });
});
