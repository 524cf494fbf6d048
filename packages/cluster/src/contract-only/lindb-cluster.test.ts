import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClusterEnd,
  type ClusterFollowItem,
  type ClusterItem,
  type ClusterRecord,
  clusterItems,
  PortholeError,
} from '@porthole/contract';
import { createZone, Scrubbing } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { LocalCluster } from '../local-cluster.ts';
import { createStaticMembers } from '../membership/static-members.ts';
import { FakeLindb, lindbTime } from '../testing/fake-lindb.ts';
import { LogDirNode } from '../testing/log-dir-node.ts';

const HOUR_MS = 3_600_000;
const line = (name: string, agoMs: number, level = 'INFO') => lineAt(name, Date.now() - agoMs, { level });
const lineAt = (name: string, atMs: number, { level = 'INFO', offsetMs = 0 }) =>
  `${lindbTime(atMs, offsetMs)}\t${level}\tbroker/runtime.go:1\t${name}\n`;

/** This node, and one of LinDB. */
async function startCluster(
  lindb: FakeLindb,
  memberZone?: string,
  { dir = tempDir(), secrets = [] as string[] } = {},
): Promise<LocalCluster> {
  const self = {
    id: 'self',
    role: 'node',
    labels: {},
    url: 'http://127.0.0.1:1',
    node: { hostIp: '', hostName: '', grpcPort: 0, httpPort: 1, version: '', onlineTime: 1 },
  };
  const node = new LogDirNode();
  node.write('a.log', line('own 1', 40_000) + line('own 2', 20_000, 'ERROR'));
  Object.assign(node, {
    followLogs: node.logs.follow.bind(node.logs),
    logHistogram: node.logs.histogram.bind(node.logs),
    logDigest: node.logs.digest.bind(node.logs),
    settings: () => Promise.reject(new PortholeError('NOT_SUPPORTED', 'not in this test')),
    config: async () => ({ config: '[http]\nport = 7300\n', node: self.node }),
  });
  const cluster = await LocalCluster.open({
    name: 'test',
    membership: createStaticMembers({ self, members: [`lindb=${lindb.url}`] }),
    self: node,
    selfId: 'self',
    access: {},
    zone: createZone('UTC'),
    zoneOf: (id) => (id === 'lindb' && memberZone ? createZone(memberZone) : undefined),
    limits: { firstBatchMs: 20_000, memberTimeoutMs: 20_000, maxParallel: 8 },
    // Clocks are measured, and configurations fetched, in rounds of this length.
    refreshMs: 50,
    recorder: { dir, count: 2, maxBytes: 1024 ** 2, maxMs: 3_600_000, keepMs: 3_600_000 },
    fingerprint: undefined,
    mask: (text) => text,
    maskSource: async (text) => text,
    findSecrets: () => secrets,
    scrubbing: new Scrubbing(),
    report: () => {},
  });
  onTestFinished(() => cluster.close());
  return cluster;
}

async function collect(items: AsyncIterable<ClusterItem[]>): Promise<{ records: ClusterRecord[]; end: ClusterEnd }> {
  const all: ClusterItem[] = [];
  for await (const batch of items) all.push(...batch);
  const end = all.pop();
  if (end?.type !== 'end') throw new Error('no end');
  return { records: all as ClusterRecord[], end };
}

const NEWEST = { order: 'newest', limit: 100, before: 0, after: 0 } as const;
const messages = (records: readonly ClusterRecord[]) => records.map(({ node, message }) => `${node} ${message}`);

it('a node of LinDB takes part in every operation, is tried for missing routes once, and is recorded', async () => {
  const lindb = await FakeLindb.start({
    'lind-broker.log':
      line('dropped', 7_200_000) + line('old', 7_000_000) + line('1', 30_000) + line('2', 10_000, 'ERROR'),
  });
  const cluster = await startCluster(lindb, 'UTC');

  const { records, end } = await collect(clusterItems(cluster, NEWEST));
  expect(messages(records)).toEqual(['lindb 2', 'self own 2', 'lindb 1', 'self own 1', 'lindb old']);
  const report = end.members.find(({ id }) => id === 'lindb');
  expect(report).toMatchObject({ outcome: 'ok', isPartial: true, count: 3 });
  expect(report?.detail).toMatch(/^served from the newest \d+ B of \d+ B in 1 file; times read in the zone UTC$/);
  const recent = await collect(clusterItems(cluster, { ...NEWEST, fromMs: Date.now() - 60_000 }));
  expect(recent.end.members.map(({ detail }) => detail)).toEqual([null, null]);

  const page = await collect(clusterItems(cluster, { ...NEWEST, limit: 2 }));
  const next = await collect(clusterItems(cluster, { ...NEWEST, start: { cursor: page.end.cursor ?? '' } }));
  expect(messages([...page.records, ...next.records])).toEqual(messages(records));

  const { groups } = await cluster.logDigest({ limit: 10, minLevel: 'ERROR' });
  expect(groups).toMatchObject([{ count: 2, nodes: { lindb: 1, self: 1 } }]);
  const { buckets } = await cluster.logHistogram({ buckets: 10 });
  expect(buckets.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b, 0)).toBe(5);
  const { files } = await cluster.logFiles({});
  expect(files.find(({ node }) => node === 'lindb')).toMatchObject({ name: 'lind-broker.log', format: 'contract' });
  const at = { node: 'lindb', cursor: records[0]?.cursor ?? '' };
  const moment = await collect(cluster.around({ at, beforeMs: 25_000, afterMs: 1000, limit: 10 }));
  expect(messages(moment.records)).toEqual(['lindb 1', 'self own 2', 'lindb 2']);
  const { nodes } = await cluster.nodes();
  expect(nodes.find(({ id }) => id === 'lindb')).toMatchObject({ state: 'up', recentErrors: 1 });
  expect(nodes.find(({ id }) => id === 'lindb')?.lastRecordMs).toBe(records[0]?.timeMs);

  const followed: ClusterFollowItem[] = [];
  const controller = new AbortController();
  const following = (async () => {
    const options = { signal: controller.signal };
    for await (const batch of cluster.followLogs({ start: { back: 1 } }, options)) followed.push(...batch);
  })();
  const said = () => followed.flatMap((item) => (item.type === 'record' ? [`${item.node} ${item.message}`] : []));
  await eventually(() => expect(said().sort()).toEqual(['lindb 2', 'self own 2']));
  lindb.write('lind-broker.log', line('3', 0));
  await eventually(() => expect(said()).toContain('lindb 3'));
  controller.abort();
  await following;

  // Several rounds of measuring clocks and fetching configurations.
  const lists = lindb.counts['/api/v1/config'] ?? 0;
  await eventually(async () => {
    await cluster.nodes();
    expect(lindb.counts['/api/v1/config']).toBeGreaterThan(lists + 5);
  });
  const missing = lindb.requests.filter(({ status }) => status === 404).map(({ path }) => path);
  expect(missing).toEqual(['/api/v1/node']);

  lindb.stop();
  let silent = await collect(clusterItems(cluster, NEWEST));
  await eventually(async () => {
    silent = await collect(clusterItems(cluster, NEWEST));
    expect(silent.end.members.find(({ id }) => id === 'lindb')).toMatchObject({ outcome: 'refused' });
  });
  expect(messages(silent.records)).toEqual(['lindb 3', ...messages(records)]);
  const { asOfMs, missingMs, detail, ...known } = silent.end.members.find(({ id }) => id === 'lindb') ?? {};
  expect(known).toMatchObject({ recordedBy: 'self', isPartial: true });
  expect([asOfMs, missingMs]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(detail).toMatch(/; recorded by self, until [\d:.]+ \([\d.]+ s before it was lost\)$/);
  for (const { cursor, timeMs, level } of silent.records)
    expect({ cursor, timeMs, level }).toEqual({
      cursor: expect.stringMatching(/./),
      timeMs: expect.any(Number),
      level: expect.any(String),
    });
});

it('what was copied is the recording of the node, masked and private, also for the next process', async () => {
  const dir = tempDir();
  const lindb = await FakeLindb.start({
    'lind-broker.log': line('dropped', 9000) + line('uses hunter2-hunter2', 8000) + line('last', 7000),
    'show_sql.log': '# Time\nselect 1\nselect 2\n',
  });
  const options = { dir, secrets: ['hunter2-hunter2'] };
  const first = await startCluster(lindb, 'UTC', options);
  const all = { ...NEWEST, nodes: ['lindb'] };
  const before = await collect(clusterItems(first, all));
  const copies = () =>
    readdirSync(join(dir, 'lindb'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  await eventually(() => expect(copies().map(({ name }) => name)).toContain('recording.json'));
  await first.close();
  for (const { parentPath, name } of copies()) {
    expect(statSync(join(parentPath, name)).mode & 0o077, name).toBe(0);
    expect(readFileSync(join(parentPath, name), 'utf8'), name).not.toContain('hunter2');
  }
  lindb.stop();

  const next = await startCluster(lindb, 'UTC', options);
  const after = await collect(clusterItems(next, all));
  expect(messages(before.records)).toEqual(['lindb last', 'lindb uses ***************']);
  expect(messages(after.records)).toEqual(messages(before.records));
  expect(after.records.map(({ cursor }) => cursor)).toEqual(before.records.map(({ cursor }) => cursor));
  expect(after.end.members).toMatchObject([{ recordedBy: 'self', asOfMs: expect.any(Number), isPartial: true }]);
  const sql = await collect(clusterItems(next, { ...all, src: ['=show_sql.log'] }));
  expect(messages(sql.records).join()).toContain('select 2');

  await lindb.restart();
  lindb.write('lind-broker.log', line('new', 0));
  await eventually(async () =>
    expect(messages((await collect(clusterItems(next, all))).records)).toEqual([
      'lindb new',
      ...messages(before.records),
    ]),
  );
  // Copies of earlier processes are gone when all files were read again.
  await eventually(() => expect(copies().filter(({ name }) => name === 'lind-broker.log')).toHaveLength(1));
});

/** A log with an error every ten seconds of the last ten minutes, written in a zone with this offset, and their times. */
function errorsOf(offsetMs: number): { text: string; times: number[] } {
  const nowMs = Date.now();
  const times = Array.from({ length: 61 }, (_unused, index) => nowMs - 600_000 + index * 10_000 - 1);
  // LinDB never sends the first line.
  const old = [3, 2].map((hours) => lineAt('old', nowMs - hours * HOUR_MS, { offsetMs }));
  const text = times.map((atMs, index) => lineAt(`error ${index}`, atMs, { level: 'ERROR', offsetMs }));
  return { text: [...old, ...text].join(''), times };
}

/** What is said of the errors of the last quarter of an hour. */
async function recentErrors(cluster: LocalCluster) {
  const query = { ...NEWEST, src: ['lind-broker.log'], minLevel: 'ERROR' as const, fromMs: Date.now() - 900_000 };
  const { records, end } = await collect(clusterItems(cluster, { ...query, nodes: ['lindb'] }));
  const { nodes } = await cluster.nodes();
  return {
    times: records.map(({ atMs }) => atMs ?? 0).sort((a, b) => a - b),
    end,
    report: end.members.find(({ id }) => id === 'lindb'),
    node: nodes.find(({ id }) => id === 'lindb'),
  };
}

it.each([0, 8, -3.5, 5.75])('the zone of a node of LinDB is learned from what it writes: %d h', async (hours) => {
  const offsetMs = hours * HOUR_MS;
  const { text, times } = errorsOf(offsetMs);
  const old = [3, 2].map(
    (ago) => `${lindbTime(Date.now() - ago * HOUR_MS, offsetMs)}\t::1 1ms "GET / HTTP/1.1" 200 1\n`,
  );
  const lindb = await FakeLindb.start({ 'lind-broker.log': text, 'access.log': old.join('') });
  const cluster = await startCluster(lindb);
  const before = await recentErrors(cluster);
  expect(before.report).toMatchObject({ outcome: 'ok', isPartial: true, coveredFromMs: null, coveredToMs: null });
  expect(before.report?.detail).toMatch(/; time zone not known: times read in the zone UTC$/);
  expect(before.end).toMatchObject({ coveredFromMs: null, coveredToMs: null });
  expect(before.node).toMatchObject({ timeZone: null, lastRecordMs: null, recentErrors: null });
  lindb.accessLogOffsetMs = offsetMs;
  let { report, node, ...found } = before;
  await eventually(async () => {
    ({ report, node, ...found } = await recentErrors(cluster));
    expect([found.times, node?.recentErrors]).toEqual([times, times.length]);
    expect(report).not.toHaveProperty('isPartial');
  });
  expect(report?.coveredFromMs).toBeLessThanOrEqual(times[0] ?? 0);
  expect(report?.coveredToMs).toBeGreaterThanOrEqual(times.at(-1) ?? 0);
  const name = { 0: 'UTC', 8: 'UTC+08:00', '-3.5': 'UTC-03:30', 5.75: 'UTC+05:45' }[hours];
  expect(node?.timeZone).toBe(name);
  expect(node?.lastRecordMs).toBeLessThanOrEqual(Date.now() + 1000);
  const all = await collect(clusterItems(cluster, { ...NEWEST, nodes: ['lindb'], src: ['lind-broker.log'] }));
  expect(all.end.members[0]?.detail).toContain(`; times read in the zone ${name} (by the clock of the node)`);
});

it('the zone of the settings is used at once, and stated', async () => {
  const { text, times } = errorsOf(8 * HOUR_MS);
  const cluster = await startCluster(await FakeLindb.start({ 'lind-broker.log': text }), 'Asia/Shanghai');
  const { times: found, report, node } = await recentErrors(cluster);
  expect(found).toEqual(times);
  expect(report).not.toHaveProperty('isPartial');
  expect(node).toMatchObject({ timeZone: 'Asia/Shanghai', recentErrors: times.length, lastRecordMs: times.at(-1) });
});

it('lines that state their zone need none to be known', async () => {
  const nowMs = Date.now();
  const zoned = (atMs: number, index: number) =>
    `${new Date(atMs + 8 * HOUR_MS).toISOString().slice(0, -1)}+08:00 ERROR error ${index}\n`;
  const times = [60_000, 50_000, 40_000].map((agoMs) => nowMs - agoMs);
  const text = times.map(zoned).join('');
  const cluster = await startCluster(await FakeLindb.start({ 'lind-broker.log': text }));
  const { times: found, report } = await recentErrors(cluster);
  expect(found).toEqual(times.slice(1));
  expect(report?.detail).toMatch(/; times read in the zones they state$/);
});

it('a follow that began before the zone was known goes on in it, without losing or repeating anything', async () => {
  const offsetMs = 8 * HOUR_MS;
  const { text } = errorsOf(offsetMs);
  const lindb = await FakeLindb.start({ 'lind-broker.log': text });
  const cluster = await startCluster(lindb);
  const followed: ClusterFollowItem[] = [];
  const controller = new AbortController();
  const following = (async () => {
    const request = { start: { back: 1 }, nodes: ['lindb'], src: ['lind-broker.log'] };
    for await (const batch of cluster.followLogs(request, { signal: controller.signal })) followed.push(...batch);
  })();
  const said = () => followed.flatMap((item) => (item.type === 'record' ? [item.message] : []));
  await eventually(() => expect(said()).toEqual(['error 60']));
  const writtenMs: number[] = [];
  for (let number = 61; number < 70; number++) {
    const atMs = Date.now();
    writtenMs.push(atMs);
    lindb.write('lind-broker.log', lineAt(`error ${number}`, atMs, { offsetMs }));
    await eventually(() => expect(said()).toContain(`error ${number}`));
  }
  expect(said()).toEqual(Array.from({ length: 10 }, (_unused, index) => `error ${60 + index}`));
  const last = followed.findLast((item) => item.type === 'record');
  expect(last?.type === 'record' && last.atMs).toBe(writtenMs.at(-1));
  controller.abort();
  await following;
});

it('is compared with its like only', async () => {
  const lindb = await FakeLindb.start({ 'lind-broker.log': line('one', 1000) });
  const cluster = await startCluster(lindb, 'UTC');
  const { roles } = await cluster.configDiff({});
  expect(roles.map(({ role, nodes, differences }) => [role, nodes, differences])).toEqual([
    ['contract-only', ['lindb'], []],
    ['node', ['self'], []],
  ]);
  const { nodes } = await cluster.nodes();
  expect(nodes.map(({ id, role }) => [id, role])).toEqual([
    ['lindb', 'contract-only'],
    ['self', 'node'],
  ]);
  await eventually(() => expect(cluster.gauges.drift).toEqual({ keys: 0, members: 0 }));
});

it('a follow goes on when the node restarts, loses and repeats nothing, and reports it in between', async () => {
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_unused, index) => from + index);
  const write = (from: number, to: number) =>
    lindb.write(
      'lind-broker.log',
      numbered(from, to)
        .map((number) => line(`line ${number}`, 0))
        .join(''),
    );
  const lindb = await FakeLindb.start({ 'lind-broker.log': line('dropped', 3000) });
  write(0, 3);
  const cluster = await startCluster(lindb, 'UTC');
  const followed: ClusterFollowItem[] = [];
  const controller = new AbortController();
  const following = (async () => {
    const request = { start: { back: 1 }, nodes: ['lindb'] };
    for await (const batch of cluster.followLogs(request, { signal: controller.signal })) followed.push(...batch);
  })();
  const said = () => followed.flatMap((item) => (item.type === 'record' ? [item.message] : []));
  const outcomes = () => followed.flatMap((item) => (item.type === 'member' ? [item.report.outcome] : []));
  const expected = (to: number) => numbered(2, to).map((number) => `line ${number}`);
  await eventually(() => expect(said()).toEqual(expected(3)));
  for (let run = 1; run <= 2; run++) {
    lindb.stop();
    await eventually(() => expect(outcomes()).toHaveLength(2 * run - 1));
    // The last words of the run before, and the first ones of the next.
    write(10 * run - 7, 10 * run);
    lindb.node = { ...lindb.node, onlineTime: lindb.node.onlineTime + 1 };
    await lindb.restart();
    await eventually(() => expect(said()).toEqual(expected(10 * run)));
    await eventually(() => expect(outcomes()).toHaveLength(2 * run));
    write(10 * run, 10 * run + 3);
    await eventually(() => expect(said()).toEqual(expected(10 * run + 3)));
  }
  expect(outcomes()).toEqual(['refused', 'ok', 'refused', 'ok']);
  expect(followed.filter(({ type }) => type === 'gap')).toEqual([]);
  controller.abort();
  await following;
});

it('a node whose zone is not known is not recorded: its times would be a guess', async () => {
  const { text, times } = errorsOf(8 * HOUR_MS);
  const lindb = await FakeLindb.start({ 'lind-broker.log': text });
  const cluster = await startCluster(lindb);
  const kept = async () => (await cluster.nodes()).nodes.find(({ id }) => id === 'lindb');
  await collect(clusterItems(cluster, NEWEST));
  await eventually(() => expect(cluster.gauges.members.find(({ id }) => id === 'lindb')?.isUp).toBe(true));
  lindb.stop();
  await eventually(async () => expect(await kept()).toMatchObject({ state: 'unreachable', lastRecordMs: null }));
  // What was read a moment ago is still used.
  await eventually(async () => {
    const { records, end } = await collect(clusterItems(cluster, { ...NEWEST, nodes: ['lindb'] }));
    expect(end.members).toMatchObject([{ outcome: 'refused' }]);
    expect(records.filter(({ atMs }) => atMs !== undefined)).toEqual([]);
  });
  await lindb.restart();
  lindb.accessLogOffsetMs = 8 * HOUR_MS;
  await eventually(async () => expect(await recentErrors(cluster)).toMatchObject({ times }));
});
