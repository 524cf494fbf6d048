import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf, type Member, type NodeState, searchItems } from '@porthole/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { fakeMasking } from '../testing/fake-masking.ts';
import { FakeNode } from '../testing/fake-node.ts';
import { createPeers } from './peers.ts';

function member(id: string, { url = `http://${id}.invalid`, role = 'node', onlineTime = 1 } = {}): Member {
  const node = { hostIp: '', hostName: id, grpcPort: 0, httpPort: 0, version: '', onlineTime };
  return { id, role, labels: {}, node, url, isSelf: id === 'self' };
}

const self: NodeState = new FakeNode();

const BODIES: Readonly<Record<string, string>> = { '/health/live': '{"status":"ok"}', '/api/v1/node': '{"node":{}}' };

function testPeers(...members: Member[]) {
  const membership = { members };
  const peers = createPeers({
    membership,
    self,
    selfId: 'self',
    access: { token: () => 'secret' },
    masking: fakeMasking(),
    timeoutMs: 1000,
  });
  return { membership, peers };
}

describe('the peers', () => {
  it('are contacted with the name and the token of this node; this node itself is queried without a detour', async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push([request.url, request.headers['porthole-via'], request.headers.authorization]);
      response.setHeader('content-type', 'application/json');
      response.end(BODIES[request.url ?? ''] ?? '[]');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { peers } = testPeers(member('b', { url: `http://127.0.0.1:${port}` }), member('self'));
    expect(await peers.get('b').state.listLogs()).toEqual([]);
    expect(await peers.get('b').state.listLogs()).toEqual([]);
    const asked = ['/api/v1/log/list', 'self', 'Bearer secret'];
    // Only the address of this one is known: what it is shows before it gets a token.
    const first = [
      ['/health/live', undefined, undefined],
      ['/api/v1/node', 'self', 'Bearer secret'],
    ];
    expect(seen).toEqual([...first, asked, asked]);
    expect(peers.get('self').state).toBe(self);
  });

  it('keep the client of a member that stays the same, and drop it when the member changes', () => {
    const { membership, peers } = testPeers(member('a'), member('b'));
    const [a, b] = [peers.get('a').state, peers.get('b').state];
    membership.members = [member('a'), member('b', { onlineTime: 2 })];
    expect(peers.get('a').state).toBe(a);
    expect(peers.get('b').state).not.toBe(b);
    membership.members = [member('b')];
    expect(peers.all().map(({ member: { id } }) => id)).toEqual(['b']);
  });

  it('keep what was read of a contract-only member when it registers again', async () => {
    const line = (second: number) => `2026-11-15 12:00:0${second}.000\tINFO\ta.go:1\tline ${second}\n`;
    const lindb = await FakeLindb.start({ 'a.log': [0, 1, 2].map(line).join('') });
    const at = (onlineTime: number) => member('lindb', { url: lindb.url, onlineTime });
    const { membership, peers } = testPeers(at(1));
    onTestFinished(() => peers.close());
    const search = async () => {
      const messages: string[] = [];
      const query = { order: 'oldest', limit: 10, before: 0, after: 0 } as const;
      for await (const items of searchItems(peers.get('lindb').state, query))
        for (const item of items) if (item.type === 'record') messages.push(item.message);
      return messages;
    };
    expect(await search()).toEqual(['line 1', 'line 2']);
    const before = peers.get('lindb');
    membership.members = [at(2)];
    expect(peers.get('lindb')).toBe(before);
    expect(before.member.node.onlineTime).toBe(2);
    expect(await search()).toEqual(['line 1', 'line 2']);
    // It was asked what it is, and nothing was read again.
    expect(lindb.counts).toMatchObject({ '/api/v1/node': 2, '/api/v1/log/view': 1 });
  });

  it('say when their run started, and contract-only ones that they are there, by a route that they have', async () => {
    const lindb = await FakeLindb.start({ 'a.log': 'line\n' });
    const { peers } = testPeers(member('lindb', { url: lindb.url }));
    onTestFinished(() => peers.close());
    const ping = async () => peers.get('lindb').ping?.({});
    expect([await ping(), await ping()]).toEqual([0, 0]);
    // What it is was asked once; whether it may get a token is asked with each request.
    expect(lindb.counts).toMatchObject({ '/api/v1/node': 1, '/api/v1/log/list': 2 });
    await lindb.stop();
    await expect(ping()).rejects.toThrow();
  });

  it('are selected by id, pattern and role', () => {
    const { peers } = testPeers(
      member('broker-1', { role: 'broker' }),
      member('broker-2', { role: 'broker' }),
      member('storage-1'),
    );
    const ids = (selection: Parameters<typeof peers.select>[0]) =>
      peers.select(selection).map(({ member: { id } }) => id);
    expect(ids({})).toEqual(['broker-1', 'broker-2', 'storage-1']);
    expect(ids({ nodes: ['storage-1', 'broker-?'] })).toEqual(['broker-1', 'broker-2', 'storage-1']);
    expect(ids({ nodes: ['*-1'], role: 'broker' })).toEqual(['broker-1']);
    expect(ids({ nodes: ['x*'] })).toEqual([]);
  });

  it('that do not exist are not found, and the nearest are named', () => {
    const { peers } = testPeers(member('broker-1'), member('storage-1'));
    expect(() => peers.get('brokr-1')).toThrow('did you mean broker-1?');
    expect(() => peers.select({ nodes: ['http://evil'] })).toThrow('known members: broker-1, storage-1');
    let code = '';
    try {
      peers.get('x');
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe('MEMBER_NOT_FOUND');
  });

  it('with an invalid address fail when they are contacted, not before', () => {
    const { peers } = testPeers(member('a', { url: 'nowhere' }), member('b'));
    const [broken] = peers.all();
    expect(() => broken?.state).toThrow('expected http://host:port');
  });
});
