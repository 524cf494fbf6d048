import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startClickHouse, type TestClickHouse } from '@porthole/archive/testing';
import { type Cut, JSON_HEADERS, respondWith, startCuttingProxy, startOddServer } from '@porthole/client/testing';
import { FakeLindb, startTestEtcd } from '@porthole/cluster/testing';
import { eventually } from '@porthole/logs/testing';
import { initArchive } from '@porthole/server/archive';
import {
  AUDIENCE,
  createSigner,
  fetchKeySet,
  ISSUER,
  signJwt,
  startTestNode,
  toKeySet,
} from '@porthole/server/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { FaultWorld } from './testing/fault-world.ts';
import {
  everyByte,
  everyFraming,
  type Fault,
  FaultyServer,
  sampleReply,
  silentBodies,
  silentHeads,
} from './testing/faulty-server.ts';
import type { Check } from './testing/random-calls.ts';

const SECRET = 'hunter2-hunter2';
const CONFIG = `[store]\npassword = "${SECRET}"\n`;
const LOG = Array.from({ length: 4 }, (_, index) => {
  const time = new Date(Date.now() - 60_000 + index).toISOString().slice(0, 23).replace('T', ' ');
  return `${time}\tINFO\ta.go:1\t[A]: ${SECRET} ${index}\n`;
}).join('');
const MASKED = LOG.replaceAll(SECRET, '*'.repeat(SECRET.length));
const FILES = { 'service.log': MASKED };

/** Text of a member is the text that it has, or the beginning of it where a response says nothing of its length. */
const checkText: Check = ({ name }, { status, body }) => {
  if (status !== 200 || !name.endsWith('/log/view')) return;
  const text = body.toString();
  if (!MASKED.startsWith(text) && text !== '<html></html>') throw new Error(`another text: ${JSON.stringify(text)}`);
};

/** What a member is asked, and after how many of the bytes of the response it is cut. */
const MEMBER_ROUTES: readonly [string, number][] = [
  ['log/view?file=service.log&size=1000', 30],
  ['log/raw?file=service.log', 8],
  ['log/search?limit=1', 30],
  ['log/follow', 4],
];

/** The responses of these are one JSON value each, which the same code reads: each is framed in some of the ways. */
const MEMBER_VALUES = [
  'node',
  'config',
  'config/settings',
  'log/list',
  'log/files',
  'log/histogram',
  'log/digest',
  'log/fields',
  'log/top?by=level',
];

/** Within the first requests of the shipper; each is sent again after a while, which is longer each time. */
const SHIPPING_FAULTS: readonly Fault[] = [
  { framing: 'too short, then open', end: 'rst' },
  { framing: 'length' },
  { framing: 'length' },
  { framing: 'too short, then open', end: 'rst' },
  { framing: 'another protocol' },
];

/** Within the greeting, the lease, the list and the watch. Every byte: `etcd-members.cuts.test.ts`. */
const ETCD_CUTS: readonly Cut[] = [
  { at: 0, end: 'rst' },
  { at: 30, end: 'garbage' },
  { at: 100, end: 'stall' },
  { at: 150, end: 'fin' },
  { at: 250, end: 'garbage' },
  { at: 350, end: 'rst' },
  { at: 450, end: 'fin' },
  { at: 550, end: 'garbage' },
];

let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startClickHouse();
});
afterAll(() => clickhouse.stop());

describe.each([
  ['on its own', false],
  ['in a program that embeds it', true],
])('a node %s', (_, isEmbedded) => {
  it('outlives a member that only speaks the contract, whatever that sends', async () => {
    const lindb = await FakeLindb.start({ 'service.log': LOG });
    lindb.config = CONFIG;
    lindb.viewAsIs = true;
    const server = await FaultyServer.before(lindb.url);
    const sample = (path: string) => sampleReply(`${lindb.url}/api/v1/${path}`);
    const config = await sample('config');
    const list = await sample('log/list');
    const view = await sample('log/view?file=service.log&size=1000');
    const world = await FaultWorld.start({
      ...{ isEmbedded, faulty: [server], members: ['lindb'], files: FILES, check: checkText },
      settings: { 'cluster.members': `lindb=${server.url}` },
    });
    // What responses have in common is tried without a host.
    const some = (faults: readonly Fault[]) => faults.filter((_fault, index) => !isEmbedded || index % 4 === 0);
    const ofConfig = { server, on: /\/config$/, through: /lindb\/config$/ };
    const ofList = { server, on: /\/log\/list$/, through: /lindb\/log\/(list|files)$/ };
    const ofView = { server, on: /\/log\/view/, through: /lindb\/log\/view$/ };
    const cuts = [...everyByte('length', view, 150), ...everyByte('chunked', view, 50)];
    // One after the other: who is asked for a view reads the configuration and the list before.
    await world.inject({ ...ofConfig, faults: some([...everyFraming(config), ...everyByte('length', config, 25)]) });
    const lists = [...everyFraming(list), ...everyByte('chunked', list, 25)];
    await world.inject({ ...ofList, faults: [...some(lists), ...silentHeads(list, 4)] });
    await world.inject({ ...ofView, faults: some([...everyFraming(view), ...cuts]) });
    await world.inject({ ...ofView, faults: silentHeads(view, 8) });
    await world.inject({ ...ofView, faults: silentBodies(view, 8), leaves: 1 });
    await world.expectUnharmed();
  });

  it('outlives a client that leaves while the configuration of a member is masked, and a member that fails then', async () => {
    const lindb = await FakeLindb.start({ 'service.log': LOG });
    const server = await FaultyServer.before(lindb.url);
    const env = { PORTHOLE_CLUSTER_MEMBERS: `lindb=${server.url}`, PORTHOLE_CLUSTER_REFRESH: '1h' };
    const node = await AttackedNode.start({ isEmbedded, env });
    const ask = (route: string, init?: RequestInit) => fetch(`${node.url}api/v1/nodes/lindb/${route}`, init);
    await eventually(async () => expect((await ask('log/list')).status).toBe(200));
    // Another run of it, whose configuration is read again; masked by another thread, which takes long enough to leave.
    lindb.node.onlineTime = 2;
    await (await ask('config')).text();
    lindb.config =
      CONFIG + Array.from({ length: 4000 }, (__, index) => `key${index} = "the value ${index}"\n`).join('');
    const failures = Array.from({ length: 20 }, (): Fault => ({ framing: 'length', at: 0, end: 'rst' }));
    const configs = server.plan(({ url = '' }) => url.endsWith('/config'), [{ framing: 'length' }, ...failures]);
    const leaving = new AbortController();
    const view = ask('log/view?file=service.log', { signal: leaving.signal }).catch(() => {});
    await eventually(() => expect(configs.left()).toBe(failures.length));
    await delay(100); // pause: it has come, and is not masked yet
    leaving.abort();
    await view;
    // Answered once that is masked; then the secrets are asked for, which nobody waits for any more.
    await ask('log/list').catch(() => {});
    await delay(300); // pause: a failure that nobody handles comes later
    expect([node.program.hasEnded, node.program.stderr]).toEqual([false, '']);
    await node.expectHealthy();
  });

  it('outlives a member, whatever that sends', async () => {
    const member = await startTestNode({ files: FILES });
    const server = await FaultyServer.before(member.running.url);
    const world = await FaultWorld.start({
      ...{ isEmbedded, faulty: [server], members: ['porthole'], files: FILES, check: checkText },
      settings: { 'cluster.members': `porthole=${server.url}` },
    });
    // What responses have in common is tried without a host.
    const routes = MEMBER_ROUTES.filter(([path]) => !isEmbedded || /raw|follow/.test(path));
    const values = isEmbedded ? [] : MEMBER_VALUES.map((path): [string, number] => [path, 4]);
    const injections = await Promise.all(
      [...routes, ...values].map(async ([path, bytes], index) => {
        const [name = ''] = path.split('?');
        const reply = await sampleReply(`${member.running.url}api/v1/${path}`);
        const through = new RegExp(name === 'node' ? 'v1/nodes$' : `porthole/${name}$|v1/${name} of porthole$`);
        const ofRoute = { server, on: new RegExp(`/api/v1/${name}(\\?|$)`), through };
        const share = index < routes.length ? { of: 1, from: 0 } : { of: 4, from: index % 4 };
        // The page is taken to say that there is no such route, which is remembered.
        const framings = everyFraming(reply, { except: ['a web page'], share });
        const faults = [...framings, ...everyByte('chunked', reply, bytes), ...silentHeads(reply, 1)];
        return [
          { ...ofRoute, faults },
          { ...ofRoute, faults: silentBodies(reply, 1), leaves: 1 },
        ] as const;
      }),
    );
    await world.inject(...injections.map(([broken]) => broken));
    await world.inject(...injections.map(([, silent]) => silent));
    await world.expectUnharmed();
  });

  it('outlives an archive, whatever that sends', async () => {
    const database = clickhouse.newDatabase();
    await initArchive({ options: { archive: { url: clickhouse.url, database } } }, { dryRun: false });
    const server = await FaultyServer.before(clickhouse.url);
    const ofShipping = server.plan(({ url = '' }) => !url.includes('max_execution_time'), SHIPPING_FAULTS);
    const world = await FaultWorld.start({
      ...{ isEmbedded, faulty: [server], members: [], files: FILES },
      settings: { 'archive.url': server.url, 'archive.database': database, 'archive.interval': '100ms' },
    });
    const sql = 'SELECT number, toString(number) AS text FROM system.numbers LIMIT 5 FORMAT JSONEachRow';
    const rows = await sampleReply(clickhouse.url, { method: 'POST', body: sql });
    const ofQueries = { server, on: /max_execution_time/, through: /\(archive\)$/ };
    await world.inject({ ...ofQueries, faults: [...everyFraming(rows), ...everyByte('chunked', rows, 20)] });
    await world.inject({ ...ofQueries, faults: [...silentHeads(rows, 2), ...silentBodies(rows, 2)], leaves: 1 });
    await world.inject({ ...ofQueries, faults: [...silentHeads(rows, 1), ...silentBodies(rows, 1)] });
    await world.callUntil(() => ofShipping.left() === 0, ofQueries);
    await world.expectUnharmed();
    const reader = clickhouse.connect({ database });
    onTestFinished(() => reader.close());
    const shipped = "SELECT uniqExact(file_offset) AS records FROM records WHERE log = 'service.log'";
    await eventually(async () => expect(await reader.query(shipped)).toEqual([{ records: 4 }]));
  });

  it('outlives an etcd, whatever that sends', async () => {
    const etcd = await startTestEtcd();
    const cuts: Cut[] = [];
    const proxy = await startCuttingProxy(etcd.port, () => cuts.shift() ?? { at: Infinity, end: 'fin' });
    const world = await FaultWorld.start({
      ...{ isEmbedded, faulty: [], members: [], files: FILES },
      // Each of them is tried at once where the one before has failed, and all of them lead to the same.
      settings: { 'cluster.etcd': Array(200).fill(proxy.url).join(','), 'cluster.lease': '2s' },
    });
    cuts.push(...ETCD_CUTS);
    proxy.cutAll();
    await world.callUntil(() => cuts.length === 0, { through: /v1\/(nodes|config\/settings)$/ });
    await eventually(async () => {
      const { text } = await world.node.request('api/v1/nodes');
      expect(JSON.parse(text).membership.state).toBe('ok');
    });
    await world.expectUnharmed();
  });

  it('outlives a provider of keys, whatever that sends', async () => {
    const signer = createSigner('key-1');
    const provider = await startOddServer(respondWith(200, JSON.stringify(toKeySet(signer)), JSON_HEADERS));
    const server = await FaultyServer.before(provider.url);
    const faults: Fault[] = [
      { framing: 'length', at: 200, end: 'rst' },
      { framing: 'chunked', at: 200, end: 'fin' },
      { framing: 'another protocol' },
      { framing: 'too long' },
    ];
    const plan = server.plan(() => true, faults);
    const world = await FaultWorld.start({
      ...{ isEmbedded, faulty: [server], members: [], files: FILES },
      headers: [`Authorization: Bearer ${await signJwt(signer)}`],
      settings: {
        'auth.jwks-url': server.url,
        'auth.jwks-refetch': '1s',
        'auth.jwt-issuer': ISSUER,
        'auth.jwt-audience': AUDIENCE,
        'auth.jwt-roles': 'ops=admin',
        'auth.max-failures-per-minute': '1000000',
      },
    });
    await world.callUntil(() => plan.left() === 0, { through: /log\/list$/ });
    await world.expectUnharmed();
  });
});

it('a set of keys is whole or an error, wherever its response is cut', async () => {
  const keys = toKeySet(createSigner('key-1'));
  const provider = await startOddServer(respondWith(200, JSON.stringify(keys), JSON_HEADERS));
  const server = await FaultyServer.before(provider.url);
  const reply = await sampleReply(provider.url);
  const silent = [...silentHeads(reply, 10), ...silentBodies(reply, 10)];
  const faults = [...everyFraming(reply), ...everyByte('length', reply, 200), ...everyByte('chunked', reply, 200)];
  const plan = server.plan(() => true, [...silent, ...faults]);
  // A signal that nobody holds is collected, and then never aborts.
  const collecting = setTimeout(collectGarbage(), 2000);
  const fetchAll = async () => {
    while (plan.left() > 0) {
      const outcome: unknown = await fetchKeySet(server.url).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) expect(outcome).toEqual(keys);
    }
  };
  // All that are silent at once.
  await Promise.all(Array.from({ length: silent.length }, fetchAll));
  clearTimeout(collecting);
  await eventually(() => expect(server.connections).toBeLessThan(silent.length));
});

function collectGarbage(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
