import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLindbMembers, type LindbMembersOptions } from './lindb-members.ts';
import type { Membership } from './membership.ts';
import { startTestEtcd } from './testing/etcd.ts';
import { memberIds, RecordingLog, testSelf } from './testing/members.ts';

async function watchLindb(url: string, options: Partial<LindbMembersOptions> = {}): Promise<Membership> {
  const members = createLindbMembers({ self: testSelf('self'), endpoints: [url], log: new RecordingLog(), ...options });
  onTestFinished(() => members.close());
  await members.start();
  return members;
}

/** As LinDB writes it. */
function lindbNode(hostIp: string, httpPort: number, given: object = {}) {
  return {
    hostIp,
    hostName: 'host',
    grpcPort: httpPort + 1,
    httpPort,
    version: 'v0.4.0',
    onlineTime: 1_700_000_000_000,
    ...given,
  };
}

describe("members that are in LinDB's own registry", () => {
  it('are its brokers, storages and roots, beside this node; they come and go', async () => {
    const etcd = await startTestEtcd();
    const broker = lindbNode('10.0.0.1', 9000);
    await etcd.put('/lindb-cluster/normal/live/nodes/10.0.0.1:9001', JSON.stringify(broker));
    await etcd.put(
      '/lindb-cluster/normal/storage/live/nodes/1',
      JSON.stringify(lindbNode('10.0.0.2', 2892, { id: 1 })),
    );
    await etcd.put('/lindb-cluster/normal/database/config/x', '{}');
    const members = await watchLindb(etcd.url);
    expect(members.members[0]).toEqual({
      id: 'broker-10.0.0.1:9000',
      role: 'broker',
      labels: {},
      url: 'http://10.0.0.1:9000',
      node: broker,
      isSelf: false,
    });
    expect(members.members.map(({ id, role }) => [id, role])).toEqual([
      ['broker-10.0.0.1:9000', 'broker'],
      ['self', 'node'],
      ['storage-10.0.0.2:2892', 'storage'],
    ]);
    expect(members.state).toMatchObject({ kind: 'lindb', state: 'ok', detail: null });

    await etcd.put('/lindb-cluster/root/live/nodes/10.0.0.3:3001', JSON.stringify(lindbNode('fd00::3', 3000)));
    await etcd.delete('/lindb-cluster/normal/storage/live/nodes/1');
    await eventually(() => expect(memberIds(members)).toEqual(['broker-10.0.0.1:9000', 'root-fd00::3:3000', 'self']));
    expect(members.members[1]?.url).toBe('http://[fd00::3]:3000');
  });

  it('are only read: nothing is written and no lease is taken', async () => {
    const etcd = await startTestEtcd();
    const revision = await etcd.revision();
    const members = await watchLindb(etcd.url);
    await members.close();
    expect([await etcd.revision(), await etcd.leases()]).toEqual([revision, []]);
  });

  it('are seen by a user that may only read', async () => {
    const etcd = await startTestEtcd();
    await etcd.put('/lindb-cluster/root/live/nodes/a', JSON.stringify(lindbNode('10.0.0.1', 1)));
    const access = { user: 'reader', password: 'secret' };
    await etcd.requireUser(access.user, access.password, { type: 'READ', prefix: '/lindb-cluster/' });
    expect(memberIds(await watchLindb(etcd.url, access))).toEqual(['root-10.0.0.1:1', 'self']);
  });

  it('are found under another namespace', async () => {
    const etcd = await startTestEtcd();
    await etcd.put('/mine/normal/live/nodes/a', JSON.stringify(lindbNode('10.0.0.1', 1)));
    await etcd.put('/lindb-cluster/normal/live/nodes/a', JSON.stringify(lindbNode('10.0.0.1', 2)));
    expect(memberIds(await watchLindb(etcd.url, { namespace: '/mine/' }))).toEqual(['broker-10.0.0.1:1', 'self']);
  });

  it('are skipped where they make no sense, or are there twice', async () => {
    const etcd = await startTestEtcd();
    const nodes = '/lindb-cluster/normal/live/nodes/';
    await etcd.put(`${nodes}1`, JSON.stringify(lindbNode('10.0.0.1', 1)));
    await etcd.put(`${nodes}2`, JSON.stringify(lindbNode('10.0.0.1', 1, { grpcPort: 7 })));
    await etcd.put(`${nodes}3`, JSON.stringify(lindbNode('evil/../', 1)));
    await etcd.put(`${nodes}4`, JSON.stringify(lindbNode('u:p@host', 1)));
    await etcd.put(`${nodes}5`, JSON.stringify(lindbNode('', 1)));
    await etcd.put(`${nodes}6`, JSON.stringify(lindbNode('10.0.0.1', 0)));
    await etcd.put(`${nodes}7`, 'rubbish');
    const members = await watchLindb(etcd.url);
    expect(memberIds(members)).toEqual(['broker-10.0.0.1:1', 'self']);
    expect(members.state.detail).toContain('6 invalid registrations');
  });

  it('stay while its etcd is away, and are true again after it', async () => {
    const etcd = await startTestEtcd();
    await etcd.put('/lindb-cluster/normal/live/nodes/a', JSON.stringify(lindbNode('10.0.0.1', 1)));
    const members = await watchLindb(etcd.url);
    await etcd.stop();
    await eventually(() => expect(members.state.state).toBe('stale'));
    expect(memberIds(members)).toEqual(['broker-10.0.0.1:1', 'self']);
    await etcd.wipe();
    await eventually(() => expect([members.state.state, ...memberIds(members)]).toEqual(['ok', 'self']));
  });
});
