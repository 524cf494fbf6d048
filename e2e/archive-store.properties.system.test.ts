import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CombinedCluster } from '@porthole/archive';
import { ArchiveFixture, collect, startClickHouse, type TestClickHouse, toRows } from '@porthole/archive/testing';
import { createClient } from '@porthole/client';
import { httpCluster } from '@porthole/client/testing';
import type { ClusterRecord, ClusterState } from '@porthole/contract';
import { clusterItems } from '@porthole/contract';
import { LogDir } from '@porthole/logs';
import { searchItems } from '@porthole/logs/testing';
import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { runs, tempDir } from '@porthole/records/testing';
import { freePorts, startTestNode, type TestNode } from '@porthole/server/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Members that are slow to respond, beside other work, are not what is tested here. */
const PATIENT = { firstBatchTimeoutMs: 120_000, memberTimeoutMs: 120_000 };

const START_MS = Date.UTC(2026, 10, 10);
const NOW_MS = START_MS + 86_400_000;
const SPREAD_MS = 6 * 3_600_000;
const ALL: SearchQuery = { order: 'oldest', limit: 1000, before: 0, after: 0 };

/** Rows are built from it. */
const WITH_TEXT: SearchQuery = { ...ALL, raw: true };
const LOGS = ['app.log', 'slow.log'];
const LEVELS = ['INFO', 'WARN', 'ERROR'];

let server: TestClickHouse;
let archive: ArchiveFixture;

beforeAll(async () => {
  server = await startClickHouse();
  const admin = server.connect();
  const database = server.newDatabase();
  await admin.execute(`CREATE DATABASE ${database}`);
  archive = await ArchiveFixture.create(server.connect({ database }));
});

afterAll(() => server.stop());

const log: fc.Arbitrary<NodeCase['logs'][number]> = fc.record({
  /** Minutes between records; 0: the same time. */
  steps: fc.array(fc.constantFrom(0, 0.001, 0.4, 7, 55), { minLength: 1, maxLength: 9 }),
  /** By how much records are out of order, in seconds. */
  jitter: fc.constantFrom(0, 0, 5),
  /** Part of the time range that is only in the archive, and that is only on disk. */
  rotated: fc.constantFrom(0, 0.3, 0.6, 0.95, 1),
  unshipped: fc.constantFrom(0, 0, 0.2, 0.9),
  shipsAtAll: fc.constantFrom(true, true, true, false),
  isTimed: fc.constantFrom(true, true, true, false),
});

const node = fc.record({ logs: fc.array(log, { minLength: 1, maxLength: LOGS.length }) });

interface NodeCase {
  logs: {
    steps: number[];
    jitter: number;
    rotated: number;
    unshipped: number;
    shipsAtAll: boolean;
    /** Whether its records have timestamps. */
    isTimed: boolean;
  }[];
}

const NEVER = { jitter: 0, rotated: 0, unshipped: 0, shipsAtAll: true, isTimed: true };

/** A record on disk has an earlier time than one that was deleted (n1); records have no times, and some were deleted (n2). */
const UNORDERED: [[NodeCase, NodeCase], NodeCase, number] = (() => {
  const early = { ...NEVER, steps: [0, 0, 0, 7, 55], jitter: 5, rotated: 0.001 };
  const untimed = { ...NEVER, steps: [0, 7, 7, 7], isTimed: false };
  return [
    [
      { logs: [early, untimed] },
      {
        logs: [
          { ...early, jitter: 0, rotated: 0.6 },
          { ...untimed, rotated: 0.6 },
        ],
      },
    ],
    { logs: [{ ...early, rotated: 1 }] },
    10,
  ];
})();

/**
 * Old files of one log are deleted while another, which is as old, is not shipped at all (n1), or hardly (n2): no time
 * suits both as the cut between disk and archive.
 */
const LAGGING: [[NodeCase, NodeCase], NodeCase, number] = (() => {
  const long = { ...NEVER, steps: [0, 55, 55, 55, 55, 55], rotated: 0.6 };
  const lags = { ...long, rotated: 0, unshipped: 0.9 };
  return [[{ logs: [long, { ...lags, shipsAtAll: false }] }, { logs: [long, lags] }], { logs: [long] }, 3];
})();

/** A record as it is compared: where it was logged, and its unique text. */
type Told = string;

/** What can be found of a node. Logs without timestamps are found by their names only. */
interface Prepared {
  told: Told[];
  untimed: UntimedLog[];
}

interface UntimedLog {
  id: string;
  family: string;
  told: Told[];
  /** What was deleted of a log that is still on disk is not read from the archive. */
  isPartial: boolean;
}

/** Writes what a node has on disk, and ships what it has shipped. */
async function prepare(id: string, dir: string, { logs }: NodeCase): Promise<Prepared> {
  const told: Told[] = [];
  const untimed: UntimedLog[] = [];
  for (const [index, { steps, jitter, rotated, unshipped, shipsAtAll, isTimed }] of logs.entries()) {
    const name = LOGS[index] ?? '';
    let atMs = START_MS;
    const times = steps.map((minutes, at) => {
      atMs += minutes * 60_000;
      return Math.round(atMs + (at % 2 === 0 ? 0 : -jitter * 1000));
    });
    const lines = times.map((timeMs, at) => {
      const stamp = new Date(timeMs).toISOString().replace('T', ' ').slice(0, 23);
      const text = `${id} ${name} record ${at} shard=${at % 4}\n`;
      return isTimed ? `${stamp}\t${LEVELS[at % 3]}\ta.go:${at % 2}\t[A]: ${text}` : text;
    });
    const lastMs = times.at(-1) ?? START_MS;
    const span = Math.max(1, lastMs - START_MS);
    const keptFrom = times.filter((timeMs) => timeMs < START_MS + span * rotated).length;
    const isGone = shipsAtAll && rotated === 1;
    const kept = shipsAtAll ? (isGone ? lines.length : keptFrom) : 0;
    // Shipped at least what is no longer on disk, with some overlap.
    const shippedTo = shipsAtAll ? Math.max(kept, Math.ceil(lines.length * (1 - unshipped))) : 0;
    const whole = tempLogDir({ [`${name}.1`]: lines.slice(0, kept).join(''), [name]: lines.slice(kept).join('') });
    const records = await readAll(whole, name);
    expect(records).toHaveLength(lines.length);
    if (kept < lines.length) writeFileSync(join(dir, name), lines.slice(kept).join(''));
    if (shippedTo > 0) await ship(id, name, records, { count: shippedTo, gone: kept });
    const all = lines.map((_, at) => `${id} ${name} record ${at}`);
    const isPartial = kept > 0 && kept < lines.length;
    if (isTimed) told.push(...all);
    else untimed.push({ id, family: name, told: all.slice(isPartial ? kept : 0), isPartial });
  }
  return { told, untimed };
}

/** In the order of the file. */
async function readAll(dir: string, family: string): Promise<FoundRecord[]> {
  const logs = new LogDir(dir, { scansHere: true, workers: 1 });
  const found: FoundRecord[] = [];
  for await (const items of searchItems(logs, { ...WITH_TEXT, src: [family] }))
    for (const item of items) if (item.type === 'record') found.push(item);
  await logs.close();
  const rank = ({ file }: FoundRecord) => (file.endsWith('.1') ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b) || a.offset - b.offset);
}

/** `gone`: how many are no longer on disk. */
async function ship(
  id: string,
  name: string,
  records: readonly FoundRecord[],
  { count, gone }: { count: number; gone: number },
): Promise<void> {
  const shipped = records.slice(0, count);
  const shippedMs = NOW_MS;
  const rows = toRows(shipped, { node: id, log: name, shippedMs });
  // Twice, as after a retry.
  await archive.insert([...rows, ...rows.slice(0, 3)]);
  const isTimed = records[0]?.timeMs !== undefined;
  const times = shipped.map(({ timeMs = 0 }) => timeMs);
  const open = records.slice(count).map(({ timeMs = 0 }) => timeMs);
  const progress = {
    ...{ cluster: 'c', node: id, role: 'broker', log: name, records: count, written_ms: shippedMs },
    from_ms: Math.min(...times),
    last_ms: Math.max(...times),
    shipped_to_ms: !isTimed ? 0 : open.length === 0 ? NOW_MS : Math.min(...open),
    gone_files: gone > 0 ? 1 : 0,
    gone_to_ms: Math.max(0, ...times.slice(0, gone)),
    disk_from_ms: records[gone]?.timeMs ?? 0,
    untimed: isTimed ? 0 : count,
  };
  const body = Buffer.from(JSON.stringify(progress));
  await archive.clickhouse.insert('INSERT INTO progress FORMAT JSONEachRow', { body });
}

function tempLogDir(files: Readonly<Record<string, string>>): string {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) if (text !== '') writeFileSync(join(dir, name), text);
  return dir;
}

const toTold = ({ message }: { message: string }): Told => message.replace(/ shard=.*/, '');

async function allPages(cluster: ClusterState, query: SearchQuery): Promise<ClusterRecord[]> {
  const found: ClusterRecord[] = [];
  let start: SearchQuery['start'];
  for (let page = 0; page < 200; page++) {
    const { records, end } = await collect(clusterItems(cluster, { ...query, ...(start && { start }) }));
    expect(records.length).toBeLessThanOrEqual(query.limit);
    expect(end.archive?.problem ?? null).toBeNull();
    expect(end.members.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'left')).toEqual([]);
    found.push(...records);
    if (end.cursor === null) return found;
    start = { cursor: end.cursor };
  }
  throw new Error('paging does not end');
}

/** Two living ones; what the first one answers for them. */
async function startNodes(): Promise<{ nodes: TestNode[]; inner: ClusterState }> {
  const ports = await freePorts(2);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  const nodes: TestNode[] = await Promise.all(
    ports.map((port, index) =>
      startTestNode({
        settings: {
          http: { port },
          node: { timeZone: 'UTC' },
          cluster: { ...PATIENT, nodeId: `n${index + 1}`, members },
        },
      }),
    ),
  );
  const inner = httpCluster(createClient({ url: `http://127.0.0.1:${ports[0]}` }));
  return { nodes, inner };
}

it('every record is found exactly once, on disk or in the archive, whatever was rotated and shipped', async () => {
  const { nodes, inner } = await startNodes();
  const page = fc.constantFrom<number[]>(3, 10, 1000);
  const dead = node.map(({ logs }) => ({
    logs: logs.map((each) => ({ ...each, rotated: 1, unshipped: 0, shipsAtAll: true, isTimed: true })),
  }));
  await fc.assert(
    fc.asyncProperty(fc.tuple(node, node), dead, page, async (living, gone, limit) => {
      await archive.clear();
      const told: Told[] = [];
      const untimed: UntimedLog[] = [];
      for (const [index, given] of living.entries()) {
        const dir = nodes[index]?.logDir ?? '';
        rmSync(dir, { recursive: true, force: true });
        mkdirSync(dir);
        const prepared = await prepare(`n${index + 1}`, dir, given);
        told.push(...prepared.told);
        untimed.push(...prepared.untimed);
      }
      told.push(...(await prepare('gone', tempDir(), gone)).told);
      const cluster = new CombinedCluster(inner, archive.state);
      const hasJitter = [...living, gone].some(({ logs }) => logs.some(({ jitter }) => jitter > 0));
      for (const order of ['newest', 'oldest'] as const) {
        const found = await allPages(cluster, { ...ALL, order, limit });
        expect(found.map(toTold).sort()).toEqual(told.toSorted());
        const times = found.map(({ atMs = 0 }) => (order === 'newest' ? -atMs : atMs));
        if (!hasJitter) expect(times).toEqual(times.toSorted((a, b) => a - b));
      }
      await compareCounts(cluster, told);
      await compareUntimed(cluster, untimed);
      await compareRange(cluster, [...told, ...untimed.flatMap((log) => log.told)]);
      await compareAround(cluster, { hasJitter });
    }),
    { numRuns: runs(1), endOnFailure: true, examples: [LAGGING, UNORDERED] },
  );
});

it('what rotation deletes between two pages is read from the archive', async () => {
  const { nodes, inner } = await startNodes();
  const cases = [
    { order: 'newest', after: 1 },
    { order: 'oldest', after: 1 },
    { order: 'oldest', after: 2 },
  ] as const;
  for (const { order, after } of cases) {
    await archive.clear();
    for (const { logDir } of nodes) {
      rmSync(logDir, { recursive: true, force: true });
      mkdirSync(logDir);
    }
    const lines = Array.from({ length: 18 }, (_, at) => {
      const stamp = new Date(START_MS + at * 600_000).toISOString().replace('T', ' ').slice(0, 23);
      return `${stamp}\tINFO\ta.go:1\t[A]: record ${at}\n`;
    });
    const records = await readAll(tempLogDir({ 'app.log': lines.join('') }), 'app.log');
    await ship('n1', 'app.log', records, { count: lines.length, gone: 6 });
    const dir = nodes[0]?.logDir ?? '';
    writeFileSync(join(dir, 'app.log.1'), lines.slice(6, 12).join(''));
    writeFileSync(join(dir, 'app.log'), lines.slice(12).join(''));
    const found: string[] = [];
    const details: string[] = [];
    let start: SearchQuery['start'];
    for (let page = 0; page < 20; page++) {
      if (page === after) rmSync(join(dir, 'app.log.1'));
      // Each has looked at disks and archive just now.
      const cluster = new CombinedCluster(inner, archive.state);
      const { records, end } = await collect(
        clusterItems(cluster, { ...ALL, order, limit: 4, ...(start && { start }) }),
      );
      found.push(...records.map(({ message }) => message));
      details.push(...end.members.flatMap(({ isPartial, detail }) => (isPartial && detail !== null ? [detail] : [])));
      if (end.cursor === null) break;
      start = { cursor: end.cursor };
    }
    const all = lines.map((_, at) => `record ${at}`);
    expect(found).toEqual(order === 'oldest' ? all : all.toReversed());
    // Records of the very millisecond where the disk was left for the archive are not known to be whole.
    const isUnsure = order === 'oldest' && after === 2;
    expect(details).toEqual(isUnsure ? [expect.stringContaining('app.log: records between')] : []);
  }
});

/** Everything on disk, or everything there is of a log that is not; what is missing is said, and nothing else. */
async function compareUntimed(cluster: ClusterState, logs: readonly UntimedLog[]): Promise<void> {
  for (const { id, family, told, isPartial } of logs) {
    const found = await collect(clusterItems(cluster, { ...ALL, nodes: [id], src: [family] }));
    expect(found.records.map(toTold).sort()).toEqual(told.toSorted());
    expect(found.end.members.map((member) => member.isPartial ?? false)).toEqual([isPartial]);
    const { groups } = await cluster.logDigest({ limit: 100, nodes: [id], src: [family] });
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(told.length);
  }
}

async function compareCounts(cluster: ClusterState, told: readonly Told[]): Promise<void> {
  const histogram = await cluster.logHistogram({ buckets: 20 });
  const counted = histogram.buckets.flatMap(({ counts }) => Object.values(counts)).reduce((a, b) => a + b, 0);
  expect(counted).toBe(told.length);
  const { groups, members } = await cluster.logDigest({ limit: 100 });
  expect(members.filter(({ isPartial }) => isPartial)).toEqual([]);
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(told.length);
  const top = await cluster.logTop({ by: 'shard', limit: 10 });
  expect(top.values.reduce((sum, { count }) => sum + count, 0)).toBe(told.length);
  const byNode = new Map<string, number>();
  for (const { nodes } of top.values)
    for (const [id, count] of Object.entries(nodes)) byNode.set(id, (byNode.get(id) ?? 0) + count);
  for (const [id, count] of byNode) expect(count).toBe(told.filter((text) => text.startsWith(`${id} `)).length);
  expect((await cluster.logFields({ limit: 10 })).records).toBe(told.length);
}

/** A range, a text and one log: the same records as without them, filtered. By its name, a log without times is found. */
async function compareRange(cluster: ClusterState, told: readonly Told[]): Promise<void> {
  const everything = await allPages(cluster, ALL);
  const range = { fromMs: START_MS + SPREAD_MS / 50, toMs: START_MS + SPREAD_MS / 3 };
  const inRange = everything.filter(({ atMs = 0 }) => atMs >= range.fromMs && atMs < range.toMs);
  expect((await allPages(cluster, { ...ALL, ...range, limit: 4 })).map(toTold).sort()).toEqual(
    inRange.map(toTold).sort(),
  );
  const family = 'app.log';
  expect(
    (await allPages(cluster, { ...ALL, src: [family], limit: 5, terms: ['RECORD 1'] })).map(toTold).sort(),
  ).toEqual(told.filter((text) => text.includes('app.log record 1')).toSorted());
}

/** Around a time, and around a record that may be on either side: everything, and the nearest of each node. */
async function compareAround(cluster: ClusterState, { hasJitter }: { hasJitter: boolean }): Promise<void> {
  const all = await allPages(cluster, ALL);
  const middle = all[Math.floor(all.length / 3)];
  if (middle?.atMs === undefined) return;
  const { atMs: timeMs, node: id, cursor } = middle;
  const wide = { beforeMs: 3_600_000, afterMs: 3_600_000, limit: 1000 };
  const everything = all.filter(({ atMs = 0 }) => Math.abs(atMs - timeMs) <= wide.beforeMs);
  for (const at of [{ timeMs }, { node: id, cursor }]) {
    const { records, end } = await collect(cluster.around({ at, ...wide }));
    expect(records.map(toTold).sort()).toEqual(everything.map(toTold).sort());
    expect(end.archive?.problem ?? null).toBeNull();
  }
  // What is nearest in a file is what is nearest in time.
  if (hasJitter) return;
  const { records } = await collect(cluster.around({ at: { timeMs }, ...wide, limit: 4 }));
  for (const name of new Set(everything.map((record) => record.node))) {
    const times = everything
      .flatMap((record) => (record.node === name ? (record.atMs ?? []) : []))
      .sort((a, b) => a - b);
    const nearest = [
      ...times.filter((each) => each < timeMs).slice(-2),
      ...times.filter((each) => each >= timeMs).slice(0, 2),
    ];
    const found = records.flatMap((record) => (record.node === name ? (record.atMs ?? []) : []));
    expect(found.sort((a, b) => a - b)).toEqual(nearest);
  }
}
