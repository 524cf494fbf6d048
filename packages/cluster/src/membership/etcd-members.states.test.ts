import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { startTestEtcd, type TestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds, RecordingLog } from './testing/members.ts';

const PREFIX = '/porthole/test/state/';

const signal = new AbortController().signal;

async function stored(etcd: TestEtcd): Promise<[string, string][]> {
  return (await etcd.list(PREFIX)).map(({ key, value }) => [key, value]);
}

describe('the states of members in etcd', () => {
  it('are in a key of each, beside the registrations, which end together', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url);
    const second = await joinEtcd('b', etcd.url);
    second.states?.publish('one');
    await eventually(async () => expect(await stored(etcd)).toEqual([[`${PREFIX}b`, 'one']]));
    second.states?.publish('two');
    await eventually(async () => {
      const states = (await first.states?.read({ signal })) ?? new Map();
      expect([...states].map(([id, value]) => [id, Buffer.from(value).toString()])).toEqual([['b', 'two']]);
    });
    // No state is where registrations are.
    expect((await etcd.list('/porthole/test/members/')).map(({ key }) => key)).toHaveLength(2);
    expect(first.state.detail).toBeNull();
    await second.close();
    expect(await stored(etcd)).toEqual([]);
  });

  it('are written again when etcd has lost the lease', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', etcd.url, { leaseSeconds: 1 });
    member.states?.publish('kept');
    await eventually(async () => expect(await stored(etcd)).toHaveLength(1));
    for (const lease of await etcd.leases()) await etcd.revokeLease(lease);
    expect(await stored(etcd)).toEqual([]);
    await eventually(async () => expect(await stored(etcd)).toEqual([[`${PREFIX}a`, 'kept']]));
  });

  it('that are too long, or too many, are not read', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', etcd.url, { maxMembers: 300 });
    await etcd.putAll(
      Array.from({ length: 1000 }, (_, at) => [`${PREFIX}n${String(at).padStart(4, '0')}`, 'x'] as const),
    );
    await etcd.put(`${PREFIX}a-large`, 'x'.repeat(100_000));
    const states = await member.states?.read({ signal });
    expect(states?.size).toBeLessThan(600);
    expect(states?.has('a-large')).toBe(false);
  });

  it('that a node may not write are reported once; it is a member all the same', async () => {
    const etcd = await startTestEtcd();
    const user = { user: 'porthole', password: 'correct horse' };
    await etcd.requireUser(user.user, user.password, { type: 'READWRITE', prefix: '/porthole/test/members/' });
    const log = new RecordingLog();
    const member = await joinEtcd('a', etcd.url, { ...user, log });
    for (const value of ['one', 'two']) member.states?.publish(value);
    await eventually(() =>
      expect(log.warnings).toEqual([
        expect.stringMatching(/the state of this node is not stored: .*permission denied/),
      ]),
    );
    await expect(member.states?.read({ signal })).rejects.toThrow(/permission denied/);
    expect([memberIds(member), member.state.state]).toEqual([['a'], 'ok']);
  });
});
