import { startTestEtcd } from '@porthole/cluster/testing';
import { pathOfAll } from '@porthole/contract/testing';
import { packCursor } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { sendRequest } from '@porthole/server/testing';
import { expect, it } from 'vitest';
import { startFakeMember, startTrap } from './testing/cluster-fake-member.ts';
import { ClusterProcess } from './testing/cluster-process.ts';

const MEMBERS = '/porthole/porthole/members/';

it('no id, cursor or moment of a request makes a node dial what is no member', async () => {
  const trap = await startTrap();
  const good = await startFakeMember({ messages: ['good'], timeMs: Date.now() });
  const asked = await ClusterProcess.start('asked', { flags: ['--cluster-members', `good=http://${good}`] });
  const { address } = trap;
  const port = Number(new URL(asked.url).port);
  const hostile = [
    address,
    `http://${address}`,
    `http://${address}/`,
    `//${address}`,
    `good@${address}`,
    `good/../../${address}`,
    `good\\@${address}`,
    `..`,
    `http%3A%2F%2F${address}`,
    `good\r\nHost: ${address}`,
  ];
  for (const id of hostile) {
    const name = encodeURIComponent(id);
    for (const path of [`nodes/${name}/log/list`, `nodes/${name}/config`, `nodes/${name}/log/search`])
      expect((await sendRequest(port, pathOfAll(path))).status, id).toBeGreaterThanOrEqual(400);
    for (const path of ['config/settings', 'log/files', 'log/search', 'log/histogram', 'log/digest', 'log/follow'])
      expect((await asked.request(`/api/v1/${path}?nodes=${name}`)).status, id).toBeGreaterThanOrEqual(400);
    expect((await asked.request(`/api/v1/log/around?nodes=*&node=${name}&cursor=c`)).status, id).toBeGreaterThanOrEqual(
      400,
    );
    const found = await asked.request(`/api/v1/log/search?nodes=*&cursor=${forgedCursor(id)}`);
    expect(found.status, id).toBe(200);
    expect(found.body, id).toContain('"good"');
  }
  // As no browser would send it.
  for (const path of [`/api/v1/nodes/http://${address}/log/list`, `http://${address}/api/v1/nodes/good`])
    expect((await sendRequest(port, path)).status, path).toBeGreaterThanOrEqual(400);
  expect(trap.visits()).toBe(0);
});

/** As an answer of this cluster would give it, with a member that it never had. */
function forgedCursor(id: string): string {
  return packCursor({ kind: 'cluster', order: 'newest' }, [null, null, [[id, null]]]);
}

it('a registration with an address that is none, or with more than an address, is no member', async () => {
  const [etcd, trap] = await Promise.all([startTestEtcd(), startTrap()]);
  const asked = await ClusterProcess.start('asked', { flags: ['--cluster-etcd', etcd.url] });
  const node = { hostIp: '127.0.0.1', hostName: 'x', grpcPort: 0, httpPort: trap.port, version: '1', onlineTime: 1 };
  const urls = [
    'file:///etc/passwd',
    `http://user:pass@${trap.address}`,
    `http://${trap.address}/api/v1/nodes?x=`,
    `http://${trap.address}#`,
    `gopher://${trap.address}`,
    `unix:/var/run/docker.sock`,
    `http://${trap.address}\r\nX: y`,
    '',
  ];
  const put = (id: string, value: object) =>
    etcd.put(`${MEMBERS}${id}`, JSON.stringify({ id, role: 'node', node, ...value }));
  for (const [index, url] of urls.entries()) await put(`bad${index}`, { url });
  await etcd.put(
    `${MEMBERS}other`,
    JSON.stringify({ id: 'another', role: 'node', node, url: `http://${trap.address}` }),
  );
  await put('../asked', { url: `http://${trap.address}` });
  await put('good', { url: `http://${await startFakeMember({ messages: ['good'], timeMs: Date.now() })}` });
  await eventually(async () => {
    const { nodes, membership } = await asked.nodes();
    expect(nodes.map(({ id }) => id)).toEqual(['asked', 'good']);
    expect(membership.detail).toContain(`${urls.length + 2} invalid registrations`);
  });
  await eventually(async () => expect((await asked.search()).outcomes).toEqual({ asked: 'ok', good: 'ok' }));
  expect((await asked.request('/api/v1/config/settings?nodes=*')).status).toBe(200);
  expect(trap.visits()).toBe(0);
});

it('nobody takes the place of a node in its own eyes, whatever is registered under its name', async () => {
  const [etcd, trap] = await Promise.all([startTestEtcd(), startTrap()]);
  const asked = await ClusterProcess.start('asked', { flags: ['--cluster-etcd', etcd.url] });
  asked.write('own');
  const [known] = await etcd.list(MEMBERS);
  const value = { ...(JSON.parse(known?.value ?? '{}') as object), url: `http://${trap.address}` };
  await etcd.put(`${MEMBERS}asked`, JSON.stringify(value));
  await eventually(async () => expect((await asked.search()).messages).toEqual(['own']));
  const { nodes } = await asked.nodes();
  expect(nodes).toMatchObject([{ id: 'asked', isSelf: true, state: 'up', url: asked.url }]);
  expect(trap.visits()).toBe(0);
});

it('a question that came through a member is not passed on: no circle', async () => {
  const asked = await ClusterProcess.start('asked', {});
  const via = { 'porthole-via': 'somebody' };
  for (const path of [
    'nodes',
    'config/settings',
    'config/diff',
    'log/files',
    'log/search',
    'log/histogram',
    'nodes/asked/config',
  ]) {
    const { status, body } = await asked.request(pathOfAll(path), via);
    expect({ status, code: (JSON.parse(body) as { code: string }).code }).toEqual({
      status: 400,
      code: 'REQUEST_LOOP',
    });
  }
  expect((await asked.request('/api/v1/config', via)).status).toBe(200);
});
