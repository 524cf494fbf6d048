import { createMemberClient } from '@porthole/client/member';
import { codeOf, type NodeDescription, type NodeState, PortholeError, searchItems } from '@porthole/contract';
import { createZone, WorkerPool } from '@porthole/logs';
import { expect, it, onTestFinished } from 'vitest';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { FakeNode, notSupported } from '../testing/fake-node.ts';
import { ContractNode } from './contract-node.ts';
import { MemberNode } from './member-node.ts';

const SEARCH = { order: 'newest', limit: 10, before: 0, after: 0 } as const;
const LOG = '2026-11-15 12:00:00.000\tINFO\ta.go:1\tfirst\n2026-11-15 12:00:01.000\tERROR\ta.go:2\tsecond\n';

const BEYOND: [string, (node: NodeState) => Promise<unknown>][] = [
  ['describe', (node) => node.describe()],
  ['settings', (node) => node.settings()],
  ['logFiles', (node) => node.logFiles()],
  ['openLog', (node) => node.openLog({ file: 'a.log' })],
  ['search', (node) => collectItems(searchItems(node, SEARCH))],
  ['followLogs', (node) => firstBatch(node)],
  ['logHistogram', (node) => node.logHistogram({ buckets: 1 })],
  ['logDigest', (node) => node.logDigest({ limit: 1 })],
  ['logFields', (node) => node.logFields({ limit: 1 })],
  ['logTop', (node) => node.logTop({ by: 'level', limit: 1 })],
];

async function collectItems<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

async function firstBatch(node: NodeState): Promise<unknown> {
  for await (const batch of node.followLogs({ start: 'end' })) return batch;
  return undefined;
}

function memberNode(client: NodeState, nowMs: () => number = () => 0): MemberNode {
  const threads = new WorkerPool(0, { scansHere: true });
  const createContractNode = () =>
    new ContractNode({ node: client, zone: createZone('UTC'), memberZone: createZone('UTC'), threads });
  const member = new MemberNode({ client, createContractNode, nowMs });
  onTestFinished(async () => {
    await member.close();
    await threads.close();
  });
  return member;
}

async function collectCodes(member: MemberNode): Promise<Record<string, string>> {
  const codes: Record<string, string> = {};
  for (const [name, ask] of BEYOND) {
    codes[name] = await ask(member).then(
      () => 'ok',
      (error: unknown) => codeOf(error),
    );
  }
  return codes;
}

const SERVED = {
  describe: 'NOT_SUPPORTED',
  settings: 'NOT_SUPPORTED',
  logFiles: 'ok',
  openLog: 'NOT_SUPPORTED',
  search: 'ok',
  followLogs: 'ok',
  logHistogram: 'ok',
  logDigest: 'ok',
  logFields: 'ok',
  logTop: 'ok',
};

it.each(BEYOND.map(([name]) => name))(
  'a LinDB node asked for %s first gets one request for a route it lacks',
  async (first) => {
    const fake = await FakeLindb.start({ 'a.log': LOG });
    const member = memberNode(createMemberClient({ url: fake.url, retries: 0 }));
    await BEYOND.find(([name]) => name === first)?.[1](member).catch(() => {});
    for (let round = 0; round < 3; round++) expect(await collectCodes(member)).toEqual(SERVED);
    const missing = fake.requests.filter(({ status }) => status === 404).map(({ path }) => path);
    expect(missing).toEqual(['/api/v1/node']);
  },
);

it('a restarted LinDB node is examined again, once', async () => {
  const fake = await FakeLindb.start({ 'a.log': LOG });
  const member = memberNode(createMemberClient({ url: fake.url, retries: 0 }));
  const ask = async () => {
    await member.describe().catch(() => {});
    await member.config();
  };
  for (let round = 0; round < 3; round++) await ask();
  expect(fake.counts['/api/v1/node']).toBe(1);
  fake.node = { ...fake.node, onlineTime: 2 };
  for (let round = 0; round < 3; round++) await ask();
  expect(fake.counts['/api/v1/node']).toBe(2);
});

it('what was read of a LinDB node stays when it restarts, until it is another program', async () => {
  const fake = await FakeLindb.start({ 'a.log': LOG });
  const client = createMemberClient({ url: fake.url, retries: 0 });
  const isPorthole = { now: false };
  const ask = client.describe.bind(client);
  const describe = () => (isPorthole.now ? Promise.resolve({ clockMs: 1 } as NodeDescription) : ask());
  const member = memberNode(Object.assign(client, { describe }));
  const [record] = (await collectItems(searchItems(member, SEARCH))).flat();
  const cursor = record?.type === 'record' ? record.cursor : '';
  fake.node = { ...fake.node, onlineTime: 2 };
  await member.config();
  await collectItems(searchItems(member, { ...SEARCH, start: { cursor } }));
  expect(fake.counts).toMatchObject({ '/api/v1/node': 2, '/api/v1/log/view': 1 });
  isPorthole.now = true;
  expect(member.restarted()).toBe(true);
  expect(await member.isPorthole()).toBe(true);
  expect(member.restarted()).toBe(false);
});

it('a Porthole node is requested for what it lacks once a minute, and is not read by its tails', async () => {
  let asked = 0;
  let nowMs = 0;
  const client = new FakeNode();
  Object.assign(client, {
    logDigest: async () => {
      asked++;
      throw notSupported();
    },
  });
  const member = memberNode(client, () => nowMs);
  await member.describe();
  const ask = async () => {
    for (let round = 0; round < 3; round++)
      await expect(member.logDigest({ limit: 1 })).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  };
  await ask();
  expect(asked).toBe(1);
  // Perhaps it was the page of a proxy.
  nowMs = 61_000;
  await ask();
  expect(asked).toBe(2);
});

it('a server that responds 404 to everything is not taken for a contract-only node', async () => {
  const isUp = { describe: false };
  const client = new FakeNode({
    describe: async () => {
      if (isUp.describe) return { clockMs: 1 } as NodeDescription;
      throw notSupported();
    },
  });
  const member = memberNode(client);
  await expect(member.describe()).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  isUp.describe = true;
  expect(await member.describe()).toMatchObject({ clockMs: 1 });
});

it('one that does not respond is retried', async () => {
  let asked = 0;
  const client = new FakeNode({
    describe: async () => {
      asked++;
      throw new PortholeError('UNREACHABLE', 'no connection');
    },
  });
  const member = memberNode(client);
  for (let round = 0; round < 2; round++)
    await expect(member.describe()).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(asked).toBe(2);
});

const NAMED: [string, (node: NodeState, file: string) => Promise<unknown>][] = [
  ['a view', (node, file) => node.viewLog({ file, sizeBytes: 100 })],
  ['an opening', (node, file) => node.openLog({ file })],
  ['a search', (node, file) => collectItems(searchItems(node, { ...SEARCH, src: [`=${file}`] }))],
  ['a follow', (node, file) => collectItems(node.followLogs({ src: [`=${file}`], start: 'end' }))],
  ['a histogram', (node, file) => node.logHistogram({ src: [`=${file}`], buckets: 1 })],
];

it.each(NAMED)(
  '%s by a name that could lead out of its directory is refused before the member is asked',
  async (_, ask) => {
    const fake = await FakeLindb.start({ 'a.log': LOG, '../x.log': LOG, 'sub/in.log': LOG });
    const member = memberNode(createMemberClient({ url: fake.url, retries: 0 }));
    const names = ['../x.log', '/etc/passwd', 'a\\b.log', 'a\0.log', '.', '..', 'a//b.log', `${'n'.repeat(256)}`];
    for (const name of names) await expect(ask(member, name)).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
    await expect(ask(member, '')).rejects.toMatchObject({ code: 'FILE_NAME_MISSING' });
    expect(fake.requests).toEqual([]);
  },
);

it.each(NAMED.filter(([name]) => name !== 'an opening'))(
  '%s by the name of a file in a directory below is refused once the member is known to have only the contract',
  async (_, ask) => {
    const fake = await FakeLindb.start({ 'a.log': LOG, 'sub/in.log': LOG });
    const member = memberNode(createMemberClient({ url: fake.url, retries: 0 }));
    await expect(ask(member, 'sub/in.log')).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
    expect(fake.requests.map(({ path }) => path)).toEqual(['/api/v1/node', '/api/v1/config']);
  },
);

it('names a member lists that could lead out of a directory are neither shown, nor read, nor written to the mirror', async () => {
  const odd = ['../x.log', 'sub/in.log', 'a\\b.log', 'a\0.log', '/tmp/x.log', `${'n'.repeat(249)}.log`, '\ud800.log'];
  const fake = await FakeLindb.start({ 'a.log': LOG, ...Object.fromEntries(odd.map((name) => [name, LOG])) });
  fake.files.set('a\u001b[31m\n.log', Buffer.from(LOG));
  const member = memberNode(createMemberClient({ url: fake.url, retries: 0 }));
  const items = (await collectItems(searchItems(member, SEARCH))).flat();
  const read = items.flatMap((item) => (item.type === 'record' ? [item.file] : []));
  expect(new Set(read)).toEqual(new Set(['a.log', 'a\u001b[31m\n.log']));
  expect(items.at(-1)).toMatchObject({ problems: [{ detail: expect.stringContaining('invalid name or size') }] });
  const viewed = fake.requests.filter(({ path }) => path === '/api/v1/log/view').map(({ file }) => file);
  expect(new Set(viewed)).toEqual(new Set(['a.log', 'a\u001b[31m\n.log']));
  for (const list of [await member.listLogs(), await member.logFiles()])
    for (const { name } of list) expect(name).not.toMatch(/[/\\\0]/);
});

it('a file that is listed twice is one file', async () => {
  const entry = { name: 'a.log', size: LOG.length };
  const client = new FakeNode({ describe: async () => ({ clockMs: 1 }) as NodeDescription });
  Object.assign(client, {
    listLogs: async () => [entry, { ...entry, size: 1 }, { name: '../a.log', size: 1 }, { name: 'sub/a.log', size: 2 }],
  });
  expect((await memberNode(client).listLogs()).map(({ name }) => name)).toEqual(['a.log', 'sub/a.log']);
});
