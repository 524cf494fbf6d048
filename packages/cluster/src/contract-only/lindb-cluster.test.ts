import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterEnd, ClusterFollowItem, ClusterItem, ClusterRecord } from '@porthole/contract';
import { createZone, Scrubbing } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { LocalCluster } from '../local-cluster.ts';
import { createStaticMembers } from '../membership/static-members.ts';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { LogDirNode } from '../testing/log-dir-node.ts';

const stamp = (timeMs: number) => new Date(timeMs).toISOString().replace('T', ' ').slice(0, -1);
const line = (name: string, agoMs: number, level = 'INFO') =>
  `${stamp(Date.now() - agoMs)}\t${level}\tbroker/runtime.go:1\t${name}\n`;

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-lindb-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** This node, and one of LinDB. */
async function startCluster(lindb: FakeLindb): Promise<LocalCluster> {
  const node = new LogDirNode();
  node.write('a.log', line('own 1', 40_000) + line('own 2', 20_000, 'ERROR'));
  Object.assign(node, {
    followLogs: node.logs.follow.bind(node.logs),
    logHistogram: node.logs.histogram.bind(node.logs),
    logDigest: node.logs.digest.bind(node.logs),
  });
  const self = {
    id: 'self',
    role: 'node',
    labels: {},
    url: 'http://127.0.0.1:1',
    node: { hostIp: '', hostName: '', grpcPort: 0, httpPort: 1, version: '', onlineTime: 1 },
  };
  const cluster = await LocalCluster.open({
    name: 'test',
    membership: createStaticMembers({ self, members: [`lindb=${lindb.url}`] }),
    self: node,
    selfId: 'self',
    access: {},
    zone: createZone('UTC'),
    limits: { firstBatchMs: 20_000, memberTimeoutMs: 20_000, maxParallel: 8 },
    // Clocks are measured, and snapshots taken, in rounds of this length.
    refreshMs: 50,
    snapshots: { dir: tempDir(), maxBytes: 1024 ** 2, keepMs: 3_600_000 },
    fingerprint: undefined,
    mask: (text) => text,
    findSecrets: () => [],
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

it('a node of LinDB takes part in every operation, is tried for missing routes once, and its snapshot has times', async () => {
  const lindb = await FakeLindb.start({
    'lind-broker.log':
      line('dropped', 7_200_000) + line('old', 7_000_000) + line('1', 30_000) + line('2', 10_000, 'ERROR'),
  });
  const cluster = await startCluster(lindb);

  const { records, end } = await collect(cluster.searchLogs(NEWEST));
  expect(messages(records)).toEqual(['lindb 2', 'self own 2', 'lindb 1', 'self own 1', 'lindb old']);
  const report = end.members.find(({ id }) => id === 'lindb');
  expect(report).toMatchObject({ outcome: 'ok', isPartial: true, count: 3 });
  expect(report?.detail).toMatch(/^served from the newest \d+ B of \d+ B in 1 file; times read in the zone UTC$/);
  const recent = await collect(cluster.searchLogs({ ...NEWEST, fromMs: Date.now() - 60_000 }));
  expect(recent.end.members.map(({ detail }) => detail)).toEqual([null, null]);

  const page = await collect(cluster.searchLogs({ ...NEWEST, limit: 2 }));
  const next = await collect(cluster.searchLogs({ ...NEWEST, start: { cursor: page.end.cursor ?? '' } }));
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

  // Several rounds of measuring clocks and taking snapshots.
  const lists = lindb.counts['/api/v1/config'] ?? 0;
  await eventually(async () => {
    await cluster.nodes();
    expect(lindb.counts['/api/v1/config']).toBeGreaterThan(lists + 5);
  });
  const missing = lindb.requests.filter(({ status }) => status === 404).map(({ path }) => path);
  expect(missing).toEqual(['/api/v1/node']);

  lindb.stop();
  let silent = await collect(cluster.searchLogs(NEWEST));
  await eventually(async () => {
    silent = await collect(cluster.searchLogs(NEWEST));
    expect(silent.end.members.find(({ id }) => id === 'lindb')).toMatchObject({ outcome: 'refused' });
  });
  expect(messages(silent.records)).toEqual(['lindb 3', ...messages(records)]);
  for (const { cursor, timeMs, level } of silent.records)
    expect({ cursor, timeMs, level }).toEqual({
      cursor: expect.stringMatching(/./),
      timeMs: expect.any(Number),
      level: expect.any(String),
    });
});
