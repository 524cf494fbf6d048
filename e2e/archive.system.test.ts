import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startClickHouse, type TestClickHouse } from '@porthole/archive/testing';
import { type Client, createClient } from '@porthole/client';
import type { MemberReport, RecordStore } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { GrpcConnection, startTestNode } from '@porthole/server/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HOUR_MS, line, NOW_MS, newArchive, search, startCluster, untilShipped } from './testing/archived-cluster.ts';
import { runCommand } from './testing/program.ts';

let server: TestClickHouse;

beforeAll(async () => {
  server = await startClickHouse();
});

afterAll(() => server.stop());

function archiveOf(database: string) {
  return server.connect({ database });
}

async function around(client: Client, timeMs: number): Promise<MemberReport[]> {
  for await (const items of client.around({
    at: { timeMs },
    nodes: ['n1'],
    beforeMs: 1000,
    afterMs: 1000,
    limit: 10,
  }))
    for (const item of items) if (item.type === 'end') return item.members;
  throw new Error('no end');
}

/** A record of one node that only the archive has is found and counted over gRPC as over HTTP. */
async function expectPastOverGrpc(
  port: number,
  { nodes, fromMs, toMs }: Record<'fromMs' | 'toMs', number> & { nodes: string[] },
) {
  const grpc = new GrpcConnection(port);
  onTestFinished(() => grpc.close());
  const selection = { nodes, role: '', labels: [], store: '' };
  const filter = {
    ...{ src: [], terms: [], excluded: [], caseSensitive: false, regex: '', source: '', component: '' },
    ...({ minLevel: 'LEVEL_UNSPECIFIED', query: '', fromMs, toMs } as const),
  };
  const request = { filter, order: '', cursor: '', record: '', until: '', raw: false, fields: [] };
  const items = [];
  for await (const message of grpc.stream('SearchLogs', { ...request, selection }, {}))
    items.push(...(message?.items ?? []));
  const members = [{ id: 'n1', outcome: 'ok', count: 1, archive: { count: 1 } }];
  expect(items).toMatchObject([
    { record: { node: 'n1', message: 'old of n1' } },
    { end: { records: 1, cluster: { members, archive: { records: 1 } } } },
  ]);
  const counted = await grpc.call('CountLogs', { filter, selection }, {});
  expect(counted).toMatchObject({ buckets: [{ nodes: [{ node: 'n1', count: 1 }] }], cluster: { members } });
  // Its disk has nothing so old.
  expect(await grpc.call('CountLogs', { filter }, {})).toMatchObject({ buckets: [] });
}

describe('nodes with an archive', () => {
  it('a past that was rotated away, and one of a node that is gone, are found; an archive that is away is said', async () => {
    const archive = await newArchive(server);
    const { nodes, clients } = await startCluster(
      [
        {
          'app.log.1': line(30, 'old of n1') + line(29, 'older of n1'),
          'app.log': line(1, 'new of n1') + line(0.5, 'newest of n1'),
        },
        { 'app.log': line(28, 'old of n2') + line(2, 'new of n2') },
      ],
      archive,
    );
    const [client] = clients as [Client];
    await untilShipped(client, 6);
    const complete = { lagMs: 0, lagBytes: 0, lostBytes: 0 };
    await eventually(async () => {
      const listed = (await client.nodes()).nodes;
      expect(listed.map(({ id, archive: lag }) => [id, lag])).toEqual([
        ['n1', complete],
        ['n2', complete],
      ]);
    });
    rmSync(join(nodes[0]?.logDir ?? '', 'app.log.1'));
    const all = [
      'n1: old of n1',
      'n1: older of n1',
      'n2: old of n2',
      'n2: new of n2',
      'n1: new of n1',
      'n1: newest of n1',
    ];
    await eventually(async () => expect((await search(client)).texts).toEqual(all), { withinMs: 60_000 });
    // The oldest record on a disk comes from the archive, too; right after the file was deleted, all that was shipped does.
    const fromBoth = async () => {
      const { end } = await search(client);
      expect(end.archive).toMatchObject({ records: 3, problem: null });
      expect(end.members).toMatchObject([
        { id: 'n1', outcome: 'ok', count: 4, archive: { count: 3, lostBytes: 0 } },
        { id: 'n2', outcome: 'ok', count: 2, archive: { count: 0 } },
      ]);
    };
    await eventually(fromBoth, { withinMs: 60_000 });
    expect((await search(client, { store: 'nodes' })).texts).toEqual(all.slice(2));
    const counted = await client.histogram({ nodes: ['*'], buckets: 10 });
    expect(counted.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b, 0)).toBe(6);

    // A range that only the archive has: the member is not asked, and is up all the same.
    const past = { nodes: ['n1'], fromMs: NOW_MS - 31 * HOUR_MS, toMs: NOW_MS - 29.5 * HOUR_MS };
    const up = [{ id: 'n1', outcome: 'ok', state: 'up', count: 1, archive: { count: 1 } }];
    expect((await search(client, past)).end.members).toMatchObject(up);
    expect((await client.histogram({ buckets: 10, ...past })).members).toMatchObject(up);
    expect((await client.top({ by: 'level', limit: 10, ...past })).members).toMatchObject(up);
    expect(await around(client, NOW_MS - 30 * HOUR_MS)).toMatchObject(up);
    await expectPastOverGrpc(nodes[0]?.running.node.grpcPort ?? 0, past);

    // For good: its disk is gone, too.
    await nodes[1]?.running.stop();
    rmSync(nodes[1]?.dir ?? '', { recursive: true, force: true });
    await eventually(async () => expect((await search(client)).texts).toEqual(all), { withinMs: 60_000 });
    expect((await search(client, { nodes: ['n2'] })).texts).toEqual(['n2: old of n2', 'n2: new of n2']);

    await server.kill();
    await eventually(
      async () => {
        const partial = await search(client);
        expect(partial.texts).toEqual(['n1: new of n1', 'n1: newest of n1']);
        expect(partial.end.archive?.problem).toMatch(/archive/);
      },
      { withinMs: 60_000 },
    );
    await expect(search(client, { store: 'archive' })).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    await server.start();
  });

  it('a call site is new only if the archive has no older record of it, and was read', async () => {
    const archive = await newArchive(server);
    const site = (hoursAgo: number, source: string) => line(hoursAgo, `at ${source}`).replace('a.go:1', source);
    const { nodes, clients } = await startCluster(
      [
        { 'app.log.1': site(30, 'gone.go:1'), 'app.log': site(2, 'other.go:9') + site(0.5, 'fresh.go:3') },
        { 'app.log': site(2, 'other.go:9') + site(0.5, 'gone.go:1') },
      ],
      archive,
    );
    const [client] = clients as [Client];
    await untilShipped(client, 5);
    rmSync(join(nodes[0]?.logDir ?? '', 'app.log.1'));
    const hourAgoMs = NOW_MS - HOUR_MS;
    const judge = async (store: RecordStore) => {
      const query = { limit: 9, fromMs: hourAgoMs, newSinceMs: hourAgoMs, store };
      const { groups, baseline } = await client.digest({ nodes: ['*'], ...query });
      const sites = groups.map(({ source, isNew, isNewUnknown }) => [source, isNewUnknown ? 'unknown' : isNew]);
      return { sites: Object.fromEntries(sites), isComplete: baseline?.isComplete };
    };
    const found = { sites: { 'gone.go:1': false, 'fresh.go:3': true }, isComplete: true };
    await eventually(async () => expect(await judge('auto')).toEqual(found), { withinMs: 60_000 });
    expect(await judge('archive')).toEqual(found);
    // What only the nodes have left.
    expect((await judge('nodes')).sites).toEqual({ 'gone.go:1': true, 'fresh.go:3': true });
    await server.kill();
    const unknown = { sites: { 'gone.go:1': 'unknown', 'fresh.go:3': 'unknown' }, isComplete: false };
    await eventually(async () => expect(await judge('auto')).toEqual(unknown), { withinMs: 60_000 });
    await server.start();
  });

  it('a log that the asked node denies is not shown from the archive either', async () => {
    const archive = await newArchive(server);
    const files = { 'audit.log': line(3, 'secret act'), 'app.log': line(2, 'plain act') };
    const { clients } = await startCluster([{}, files], archive, { auth: { deniedFiles: ['audit*'] } });
    const [denying, plain] = clients as [Client, Client];
    await untilShipped(plain, 2);
    await eventually(async () => {
      expect((await search(denying, { store: 'archive' })).texts).toEqual(['n2: plain act']);
    });
    const top = await denying.top({ nodes: ['*'], by: 'message', limit: 10, store: 'archive' });
    expect(JSON.stringify(top)).not.toContain('secret');
    const fields = await denying.fields({ nodes: ['*'], limit: 10, store: 'archive' });
    expect(fields.records).toBe(1);
  });

  it('the program makes the tables, shows what was shipped, and compares it with the disks', async () => {
    const archive = { url: server.url, database: server.newDatabase() };
    const dir = tempDir();
    const flags = ['--archive-url', archive.url, '--archive-database', archive.database];
    const run = (...args: string[]) => runCommand(['archive', ...args], dir, { TZ: 'UTC' });
    const planned = await run('init', '--dry-run', ...flags);
    expect(planned).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing was changed') });
    expect(planned.stdout).toMatch(/CREATE TABLE IF NOT EXISTS .*records/);
    expect(await run('init', ...flags)).toMatchObject({ code: 0, stderr: expect.stringContaining('tables created') });
    expect(await run('init', ...flags)).toMatchObject({ code: 0, stderr: expect.stringContaining('is up to date') });
    expect(await run('init')).toMatchObject({ code: 2, stderr: expect.stringContaining('archive.url is not set') });
    const { nodes, clients } = await startCluster([{ 'a.log': line(3, 'one') + line(2, 'two') }], archive);
    const url = `http://127.0.0.1:${nodes[0]?.port}`;
    await untilShipped(clients[0] as Client, 2);
    // Complete once the node has reported that nothing is left to be shipped.
    await eventually(async () => {
      const verified = await run('verify', '--url', url, '-o', 'json');
      expect(verified, verified.stderr).toMatchObject({ code: 0 });
      const days = verified.stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
      expect(days.reduce((sum, { onDisk, inArchive }) => sum + onDisk + inArchive, 0)).toBe(4);
    });
    await eventually(async () => {
      const status = await run('status', '--url', url, '-o', 'json');
      expect(status, status.stderr).toMatchObject({ code: 0 });
      expect(JSON.parse(status.stdout)).toMatchObject({ node: 'n1', state: 'ok', lostBytes: 0 });
    });
    // A node that is no longer a member has a past, too.
    const [row] = await archiveOf(archive.database).query<object>('SELECT * FROM records LIMIT 1');
    const [progress] = await archiveOf(archive.database).query<object>('SELECT * FROM progress LIMIT 1');
    const insert = (table: string, values: object | undefined) =>
      archiveOf(archive.database).insert(`INSERT INTO ${table} FORMAT JSONEachRow`, {
        body: Buffer.from(JSON.stringify({ ...values, node: 'old-1' })),
      });
    await insert('records', row);
    await insert('progress', progress);
    await eventually(async () => {
      const past = await runCommand(['logs', 'old-1:a.log', '--url', url, '-o', 'raw'], dir, { TZ: 'UTC' });
      expect(past, past.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/one|two/) });
    });
    expect((await run('status', '--url', url)).stdout).toMatch(/old-1 .* past/);
    await archiveOf(archive.database).execute('TRUNCATE TABLE records');
    const missing = await run('verify', '--url', url);
    // Two days, if midnight is between them.
    expect(missing).toMatchObject({ code: 1, stdout: expect.stringMatching(/! n1 .* ([12]) +0 +\1/) });
  });
});

it('without an archive, asking for it is refused, and nothing of it is loaded', async () => {
  const { port } = await startTestNode({ files: { 'a.log': line(1, 'here') } });
  const client = createClient({ url: `http://127.0.0.1:${port}` });
  await expect(search(client, { store: 'archive' })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  expect((await search(client, { store: 'auto' })).texts).toHaveLength(1);
});

/** Prints a line for each module of the archive that is loaded, and what was loaded when. Of what is built: that needs no compiler. */
const HOOKS = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    if (/packages.archive.dist/.test(url)) writeSync(1, 'archive\\n');
    return next(url, context);
  }`;

const PROGRAM = `
  import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}));
  const { startNode } = await import('@porthole/server');
  const dir = process.argv[1];
  const run = async (archive) => {
    const node = await startNode({ grpc: false, settings: { http: { port: 0 }, logging: { dir }, archive } });
    await (await fetch(node.url + 'api/v1/log/search?nodes=*&limit=1')).text();
    await node.stop();
  };
  await run({});
  console.log('next');
  await run({ url: 'http://127.0.0.1:1' });
`;

it('a node without archive.url loads no module of the archive', async () => {
  const { dir } = await startTestNode();
  const root = join(import.meta.dirname, '..');
  const args = ['--input-type=module', '-e', PROGRAM, join(dir, 'other')];
  const printed = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const [before, after = ''] = printed.split('next\n');
  expect(before).toBe('');
  expect(after).toContain('archive');
});
