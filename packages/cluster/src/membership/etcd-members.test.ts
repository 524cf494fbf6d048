import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { Cable } from './testing/cable.ts';
import { startTestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds, RecordingLog, testSelf } from './testing/members.ts';

/** For tests that wait for its end; etcd has none shorter. */
const SHORT = { leaseSeconds: 1 };

const PREFIX = '/porthole/test/members/';

describe('members that register in etcd', () => {
  it('see each other, and one that leaves is removed at once', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url);
    expect(memberIds(first)).toEqual(['a']);
    const second = await joinEtcd('b', etcd.url);
    expect(second.members).toEqual([
      { ...testSelf('a'), isSelf: false },
      { ...testSelf('b'), isSelf: true },
    ]);
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b']));
    expect(first.state).toMatchObject({ kind: 'etcd', state: 'ok', detail: null });
    await second.close();
    await eventually(() => expect(memberIds(first)).toEqual(['a']));
    expect(first.getDeparture?.('b')).toEqual({
      onlineTime: testSelf('b').node.onlineTime,
      leftMs: expect.any(Number),
    });
    // Its own, and that of the departure.
    expect(await etcd.leases()).toHaveLength(2);
  });

  it('announce that they leave, also to later members, with one lease however often', async () => {
    const etcd = await startTestEtcd();
    for (let run = 1; run <= 3; run++) {
      const self = testSelf('b', { node: { ...testSelf('b').node, onlineTime: run } });
      await (await joinEtcd('b', etcd.url, { self, keepDeparturesSeconds: 600 })).close();
    }
    const late = await joinEtcd('a', etcd.url);
    expect(memberIds(late)).toEqual(['a']);
    expect(late.getDeparture?.('b')).toMatchObject({ onlineTime: 3 });
    expect(late.getDeparture?.('a')).toBeUndefined();
    expect(late.state.detail).toBeNull();
    expect(await etcd.leases()).toHaveLength(2);
    await etcd.delete(`${PREFIX}b/left`);
    await eventually(() => expect(late.getDeparture?.('b')).toBeUndefined());
  });

  it('write what docs/cluster.md describes, bound to a lease', async () => {
    const etcd = await startTestEtcd();
    await joinEtcd('a', etcd.url);
    const [{ key, value, lease } = { key: '', value: '', lease: '' }] = await etcd.list('/porthole/');
    const { id, role, labels, url, node } = testSelf('a');
    expect([key, JSON.parse(value)]).toEqual([`${PREFIX}a`, { id, role, labels, url, node }]);
    expect(await etcd.leases()).toEqual([lease]);
  });

  it('keep their lease for longer than it lasts', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', etcd.url, SHORT);
    const [lease] = await etcd.leases();
    const { asOfMs } = member.state;
    await eventually(() => expect(member.state.asOfMs).toBeGreaterThan(asOfMs + 2000));
    expect(await etcd.leases()).toEqual([lease]);
    expect(await etcd.list(PREFIX)).toHaveLength(1);
  });

  it('that are cut off disappear for the others after their lease', async () => {
    const etcd = await startTestEtcd();
    const cable = await Cable.to(etcd.port);
    const first = await joinEtcd('a', etcd.url);
    const second = await joinEtcd('b', cable.url, SHORT);
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b']));
    cable.pull();
    await eventually(() => expect(memberIds(first)).toEqual(['a']));
    expect(memberIds(second)).toEqual(['a', 'b']);
    expect(second.state).toMatchObject({ state: 'stale', detail: expect.stringContaining(cable.url) as string });
    cable.plugIn();
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b']));
    await eventually(() => expect(second.state).toMatchObject({ state: 'ok', detail: null }));
  });

  it('register again when their lease was revoked, without ever being stale', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url);
    const states: string[] = [];
    first.onChange(() => states.push(first.state.state));
    const [lease = ''] = await etcd.leases();
    await etcd.revokeLease(lease);
    await eventually(async () => expect(await etcd.list(PREFIX)).toHaveLength(1));
    expect(await etcd.leases()).not.toContain(lease);
    expect(states).toEqual([]);
  });

  it('register again when their key was deleted', async () => {
    const etcd = await startTestEtcd();
    await joinEtcd('a', etcd.url);
    const other = await joinEtcd('b', etcd.url);
    await etcd.delete('/porthole/', { isPrefix: true });
    await eventually(async () => expect(await etcd.list(PREFIX)).toHaveLength(2));
    await eventually(() => expect(memberIds(other)).toEqual(['a', 'b']));
  });

  it('of two clusters in one etcd do not see each other, also where one name begins with the other', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url, { cluster: 'west' });
    const second = await joinEtcd('b', etcd.url, { cluster: 'west-2' });
    const third = await joinEtcd('c', etcd.url, { cluster: 'west' });
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'c']));
    expect([memberIds(second), memberIds(third)]).toEqual([['b'], ['a', 'c']]);
  });

  it('with the same id are both warned; the later one is known to the others', async () => {
    const etcd = await startTestEtcd();
    const logs = [new RecordingLog(), new RecordingLog()];
    const [at1, at2] = ['http://10.0.0.1:1', 'http://10.0.0.2:2'];
    const first = await joinEtcd('a', etcd.url, {
      self: testSelf('a', { url: at1 }),
      ...(logs[0] && { log: logs[0] }),
    });
    const watcher = await joinEtcd('w', etcd.url);
    const second = await joinEtcd('a', etcd.url, {
      self: testSelf('a', { url: at2 }),
      ...(logs[1] && { log: logs[1] }),
    });
    await eventually(() => expect(watcher.members[0]?.url).toBe(at2));
    await eventually(() =>
      expect(logs.map(({ warnings }) => warnings)).toEqual([
        [expect.stringContaining(at2)],
        [expect.stringContaining(at1)],
      ]),
    );
    expect([first.members[0]?.url, second.members[0]?.url]).toEqual([at1, at2]);
    await eventually(() =>
      expect([first, second, watcher].map((each) => each.namesakeUrl)).toEqual([JSON.stringify(at2), null, null]),
    );
    await second.close();
    await eventually(() => expect(watcher.members[0]?.url).toBe(at1));
    await eventually(() => expect(first.namesakeUrl).toBeNull());
  });

  it('report every change once, and nothing if nothing has changed', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url);
    const changes: string[][] = [];
    first.onChange(() => changes.push(memberIds(first)));
    const second = await joinEtcd('b', etcd.url);
    const [{ key = '', value = '', lease = '' } = {}] = await etcd.list(`${PREFIX}b`);
    await etcd.put(key, value, { lease });
    await second.close();
    await eventually(() => expect(changes.at(-1)).toEqual(['a']));
    expect(changes).toEqual([['a', 'b'], ['a']]);
  });

  it('can listen and stop listening; a listener that throws harms nobody', async () => {
    const etcd = await startTestEtcd();
    const log = new RecordingLog();
    const first = await joinEtcd('a', etcd.url, { log });
    const changes: string[] = [];
    first.onChange(() => {
      throw new Error('broken');
    });
    const stop = first.onChange(() => changes.push('before'));
    stop();
    first.onChange(() => changes.push('after'));
    await joinEtcd('b', etcd.url);
    await eventually(() => expect(changes).toEqual(['after']));
    expect(log.warnings).toEqual([expect.stringContaining('listener')]);
  });

  it('leave more than once without harm, and cannot start after that', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', etcd.url);
    await Promise.all([member.close(), member.close()]);
    await member.start();
    expect((await etcd.list(PREFIX)).map(({ key }) => key)).toEqual([`${PREFIX}a/left`]);
  });

  it.each([
    ['an endpoint with a password', { endpoints: ['http://u:secret@h:1'] }],
    ['no endpoint', { endpoints: [] }],
    ['a cluster with a slash', { cluster: 'a/b' }],
    ['a lease of no time', { leaseSeconds: 0 }],
    ['an id with a slash', { self: testSelf('a/b') }],
    ['an id that is a way up', { self: testSelf('..') }],
    ['a URL with a query', { self: testSelf('a', { url: 'http://h:1/x?y' }) }],
  ])('are refused at once with %s', async (_, options) => {
    const refused = joinEtcd('a', 'http://127.0.0.1:1', options);
    await expect(refused).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('secret') as string });
  });
});
