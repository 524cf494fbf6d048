import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startClickHouse, type TestClickHouse } from '@porthole/archive/testing';
import type { Client } from '@porthole/client';
import type { ArchivePart, ClusterItem, RecordStore } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { GrpcConnection, type TestNode } from '@porthole/server/testing';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, line, NOW_MS, newArchive, search, startCluster, untilShipped } from './testing/archived-cluster.ts';
import { runCommand } from './testing/program.ts';

/* What is said while the archive cannot be read, against what the disk and the archive really have. */

const ARCHIVED = ['n1: oldest', 'n1: old'];
const ON_DISK = ['n1: new', 'n1: newest'];
const FILES = {
  'app.log.1': line(30, 'oldest') + line(29, 'old'),
  'app.log': line(1, 'new') + line(0.01, 'newest'),
};
const WHOLE = { fromMs: NOW_MS - 31 * HOUR_MS, toMs: NOW_MS };

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse();
});

afterAll(() => server.stop());

interface World {
  node: TestNode;
  client: Client;
  url: string;
  database: string;
}

/** A node of which the archive has two records that its disk no longer has. */
async function startWorld(): Promise<World> {
  const archive = await newArchive(server);
  const { nodes, clients } = await startCluster([FILES], archive);
  const [node, client] = [nodes[0] as TestNode, clients[0] as Client];
  await untilShipped(client, 4);
  rmSync(join(node.logDir, 'app.log.1'));
  const world = { node, client, url: `http://127.0.0.1:${node.port}`, database: archive.database };
  await untilWhole(world);
  return world;
}

async function untilWhole({ client }: World): Promise<void> {
  await eventually(
    async () => {
      const { texts, end } = await search(client);
      expect(texts).toEqual([...ARCHIVED, ...ON_DISK]);
      expect(end.archive).toMatchObject({ problem: null, records: 3 });
    },
    { withinMs: 60_000 },
  );
}

/** Every question that reads the archive: how many records it says there are, and what it says about the archive. */
async function askAll({ client }: World, store?: RecordStore): Promise<Record<string, Said>> {
  const request = { nodes: ['*'], ...WHOLE, ...(store && { store }) };
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const [found, moment, histogram, digest, fields, top] = await Promise.all([
    search(client, request),
    endOf(
      client.around({
        nodes: ['*'],
        at: { timeMs: NOW_MS - HOUR_MS / 2 },
        beforeMs: HOUR_MS,
        afterMs: HOUR_MS,
        limit: 100,
        ...(store && { store }),
      }),
    ),
    client.histogram({ buckets: 10, ...request }),
    client.digest({ limit: 10, ...request }),
    client.fields({ limit: 10, ...request }),
    client.top({ by: 'level', limit: 10, ...request }),
  ]);
  return {
    search: { records: found.texts.length, archive: found.end.archive },
    moment,
    histogram: {
      records: sum(histogram.buckets.flatMap(({ counts }) => Object.values(counts))),
      archive: histogram.archive,
    },
    digest: { records: sum(digest.groups.map(({ count }) => count)), archive: digest.archive },
    fields: { records: fields.records, archive: fields.archive },
    top: { records: sum(top.values.map(({ count }) => count)), archive: top.archive },
  };
}

interface Said {
  records: number;
  archive: ArchivePart | undefined;
}

const AROUND = { beforeMs: HOUR_MS, afterMs: HOUR_MS, limit: 100 };

/** The cursor of a record that only the archive has. */
async function oldestCursor({ client }: World): Promise<string> {
  for await (const items of client.search({ nodes: ['*'], order: 'oldest', limit: 1, before: 0, after: 0 }))
    for (const item of items) if (item.type === 'record') return item.cursor;
  throw new Error('no record');
}

async function endOf(items: AsyncIterable<ClusterItem[]>): Promise<Said> {
  for await (const batch of items)
    for (const item of batch) if (item.type === 'end') return { records: item.records, archive: item.archive };
  throw new Error('no end');
}

/** What the disk has, and that the archive is missing, with its name and why. */
async function expectDiskOnly(world: World, why: RegExp): Promise<void> {
  const problem = expect.stringMatching(
    new RegExp(`^the archive \\(${world.database} at ${server.url}\\) .*${why.source}`),
  ) as string;
  const said = { records: ON_DISK.length, archive: { records: 0, problem } };
  const kinds = ['search', 'moment', 'histogram', 'digest', 'fields', 'top'];
  expect(await askAll(world)).toMatchObject(Object.fromEntries(kinds.map((kind) => [kind, said])));
}

/** Refused before anything is sent: a status, and not a connection that ends. */
async function expectRefused({ url }: World): Promise<void> {
  const range = `from=${WHOLE.fromMs}&to=${WHOLE.toMs}`;
  const paths = ['search', 'histogram', 'digest', 'fields', 'top', 'around'].map((name) => {
    const query = { top: `${range}&by=level`, around: `time=${NOW_MS - HOUR_MS}` }[name] ?? range;
    return pathOfAll(`log/${name}?${query}&store=archive`);
  });
  const refuse = async (path: string) => {
    const response = await fetch(url + path);
    const body = (await response.json()) as { code?: string };
    expect([path, response.status, body.code]).toEqual([path, 503, 'ARCHIVE_UNAVAILABLE']);
  };
  await Promise.all(paths.map(refuse));
}

async function readCheck({ url }: World): Promise<{ status: string; ok: boolean; detail: string }> {
  const response = await fetch(`${url}/health/ready`);
  const { status, checks } = (await response.json()) as {
    status: string;
    checks: { name: string; ok: boolean; detail: string }[];
  };
  const check = checks.find(({ name }) => name === 'archive');
  return { status, ok: check?.ok ?? true, detail: check?.detail ?? '' };
}

it('whether an archive hangs, or has lost a column or its progress, is said, and what it has is not made up', async () => {
  const world = await startWorld();
  await askNode(world);
  await hang(world);
  await loseColumn(world);
  await loseProgress(world);
});

/** A node that is asked by itself does not claim what only the archive has. */
async function askNode({ client, url, node }: World): Promise<void> {
  const range = `from=${WHOLE.fromMs}&to=${NOW_MS - 20 * HOUR_MS}`;
  // The truth: two records of that time are in the archive, and none on disk.
  const all = await search(client, { ...WHOLE, toMs: NOW_MS - 20 * HOUR_MS });
  expect(all.texts).toEqual(ARCHIVED);
  expect(all.end.problems).toEqual([]);
  expect(all.end.members).toMatchObject([{ id: 'n1', outcome: 'ok', count: 2 }]);
  expect(all.end.members[0]?.isPartial).toBeUndefined();
  const problem = {
    file: 'app.log',
    code: 'ONLY_ARCHIVED',
    detail: expect.stringMatching(/^its files begin at .*; older records are in the archive: ask .*--all/) as string,
  };
  const text = await (await fetch(`${url}/api/v1/log/search?${range}`)).text();
  expect(JSON.parse(text)).toMatchObject({ records: 0, coveredFromMs: null, coveredToMs: null, problems: [problem] });
  const whole = await (await fetch(`${url}/api/v1/log/search?from=${WHOLE.fromMs}`)).text();
  const end = JSON.parse(whole.trim().split('\n').at(-1) ?? '') as { coveredFromMs: number; problems: object[] };
  expect(end).toMatchObject({ records: 2, problems: [problem] });
  expect(end.coveredFromMs).toBeGreaterThan(NOW_MS - 2 * HOUR_MS);
  for (const path of ['histogram', 'digest', 'fields', 'top?by=level']) {
    const separator = path.includes('?') ? '&' : '?';
    const counted = (await (await fetch(`${url}/api/v1/log/${path}${separator}${range}`)).json()) as object;
    const missing = [{ reason: 'unreadable', detail: expect.stringContaining('ONLY_ARCHIVED') as string }];
    expect([path, counted]).toMatchObject([path, { end: { problems: [problem] }, coverage: { missing } }]);
  }
  const grpc = new GrpcConnection(node.running.node.grpcPort ?? 0);
  onTestFinished(() => grpc.close());
  const filter = {
    ...{ src: [], terms: [], excluded: [], caseSensitive: false, regex: '', source: '', component: '' },
    ...({ minLevel: 'LEVEL_UNSPECIFIED', query: '', fromMs: WHOLE.fromMs } as const),
  };
  const counted = await grpc.call('CountLogs', { filter }, {});
  expect(JSON.stringify(counted)).toContain('ONLY_ARCHIVED');
  const run = (...args: string[]) => runCommand(['logs', '--url', url, ...args], tempDir(), { TZ: 'UTC' });
  const printed = await run('-S', '31h');
  expect(printed).toMatchObject({ code: 3, stderr: expect.stringMatching(/its files begin at .*--all/) });
  // Nothing is missing of what was deleted earlier than the range, or of the newest page.
  expect(await run('-S', '2h')).toMatchObject({ code: 0, stderr: '' });
}

/** An archive that hangs costs nothing that disks have, is named as the cause, and is used again afterwards. */
async function hang(world: World): Promise<void> {
  const cursor = await oldestCursor(world);
  await server.pause();
  onTestFinished(() => server.resume());
  // What was known of it is a few seconds old: the first responses may be of the part after the cut only, and say so.
  const first = await askAll(world);
  for (const { records, archive } of Object.values(first)) {
    expect(records).toBeLessThanOrEqual(ON_DISK.length);
    expect(archive?.problem).toMatch(/did not respond within/);
  }
  await eventually(() => expectDiskOnly(world, /did not respond within \d+ ms/), { withinMs: 60_000 });
  // Nobody waits for it any more: all responses have the problem, and so the time, of one attempt.
  await eventually(async () => {
    const problems = Object.values(await askAll(world)).map(({ archive }) => archive?.problem);
    expect(new Set(problems).size).toBe(1);
  });
  const recent = await search(world.client, { fromMs: Date.now() - 10_000 });
  expect(recent.end.archive?.problem).toMatch(/did not respond/);
  // What no disk has may be in the archive: it is not said to be nowhere.
  for (const request of [{ nodes: ['old-1'] }, { src: ['old.log'] }]) {
    const unknown = { code: 'ARCHIVE_UNAVAILABLE', message: expect.stringMatching(/did not respond.*old/) as string };
    await expect(search(world.client, request)).rejects.toMatchObject(unknown);
  }
  const count = (request: object) => world.client.histogram({ nodes: ['*'], buckets: 1, ...request });
  await expect(count({ nodes: ['old-1'] })).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
  const unread = { problem: expect.stringContaining('did not respond') as string };
  expect(await count({ src: ['old.log'] })).toMatchObject({ archive: unread, members: [{ outcome: 'failed' }] });
  await expect(
    endOf(world.client.around({ nodes: ['*'], ...AROUND, at: { node: 'n1', cursor } })),
  ).rejects.toMatchObject({
    code: 'ARCHIVE_UNAVAILABLE',
  });
  await expectRefused(world);
  await eventually(
    async () => {
      expect(await readCheck(world)).toMatchObject({
        status: 'degraded',
        ok: false,
        detail: expect.stringMatching(/did not respond|no response/),
      });
      const { nodes } = await world.client.nodes();
      expect(nodes).toMatchObject([{ problems: [{ check: 'archive' }] }]);
    },
    { withinMs: 60_000 },
  );
  server.resume();
  await untilWhole(world);
  await eventually(async () => expect(await readCheck(world)).toMatchObject({ status: 'ready', ok: true }), {
    withinMs: 60_000,
  });
}

/** A column that is missing is said, shown as stuck, and repaired. */
async function loseColumn(world: World): Promise<void> {
  const program = (...args: string[]) => runCommand(['archive', ...args], tempDir(), { TZ: 'UTC' });
  await server.connect({ database: world.database }).execute('ALTER TABLE records DROP COLUMN level');
  await eventually(() => expectDiskOnly(world, /cannot be read: .*level.*archive init/), { withinMs: 60_000 });
  await expectRefused(world);
  await eventually(async () => expect(await readCheck(world)).toMatchObject({ status: 'degraded', ok: false }));
  // A record that has to be shipped.
  appendFileSync(join(world.node.logDir, 'app.log'), line(0, 'just now'));
  await eventually(
    async () => {
      const status = await program('status', '--url', world.url, '-o', 'json');
      expect(status, status.stderr).toMatchObject({ code: 3 });
      const since = expect.stringMatching(/ARCHIVE_SCHEMA: .*\(since 20.*Z\)/) as string;
      expect(JSON.parse(status.stdout)).toMatchObject({ node: 'n1', state: 'stuck', problem: since });
    },
    { withinMs: 60_000 },
  );
  const flags = ['--archive-url', server.url, '--archive-database', world.database];
  expect(await program('init', ...flags)).toMatchObject({ code: 0, stderr: expect.stringContaining('changed what') });
  expect(await program('init', ...flags)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('is up to date'),
  });
  await eventually(
    async () => {
      const status = await program('status', '--url', world.url, '-o', 'json');
      expect(status, status.stderr).toMatchObject({ code: 0 });
    },
    { withinMs: 60_000 },
  );
}

async function loseProgress(world: World): Promise<void> {
  // Written again every few seconds otherwise.
  await world.node.running.stop();
  await server.connect({ database: world.database }).execute('TRUNCATE TABLE progress');
  const archive = { url: server.url, database: world.database, ship: false };
  const { clients, nodes } = await startCluster([{ 'app.log': FILES['app.log'] }], archive);
  const other = { ...world, client: clients[0] as Client, url: `http://127.0.0.1:${nodes[0]?.port}` };
  await expectDiskOnly(other, /has records, but no progress of any node/);
  await expectRefused(other);
}

it('before a node has shipped anything, the archive is not said to be complete', async () => {
  const archive = await newArchive(server);
  const { clients } = await startCluster([FILES], archive);
  const [client] = clients as [Client];
  let turns = 0;
  await eventually(
    async () => {
      turns++;
      const { texts, end } = await search(client, { store: 'archive' });
      // The truth is the four records of its files: whatever has less says so.
      const [report] = end.members;
      if (texts.length < 4) {
        expect(report).toMatchObject({
          id: 'n1',
          isPartial: true,
          detail: expect.stringMatching(/knows nothing|not in the archive yet/),
        });
        expect(end.coveredToMs).toBeNull();
      } else expect(report?.isPartial).toBeUndefined();
      expect(texts).toHaveLength(4);
    },
    { withinMs: 60_000 },
  );
  expect(turns).toBeGreaterThan(1);
});
