import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { Cable } from './testing/cable.ts';
import { startTestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds, RecordingLog } from './testing/members.ts';

const PREFIX = '/porthole/test/members/';

describe('when etcd is away', () => {
  it('a node starts alone and reports why; it joins as soon as etcd is reachable', async () => {
    const etcd = await startTestEtcd();
    await etcd.stop();
    const log = new RecordingLog();
    const member = await joinEtcd('a', etcd.url, { log });
    expect(memberIds(member)).toEqual(['a']);
    expect(member.state).toMatchObject({ kind: 'etcd', state: 'stale' });
    expect(log.warnings).toEqual([expect.stringContaining('the registry is unavailable')]);
    expect(member.state.detail).toContain(`${etcd.url}: `);
    await etcd.start();
    await eventually(() => expect(member.state).toMatchObject({ state: 'ok', detail: null }));
    expect(await etcd.list(PREFIX)).toHaveLength(1);
  });

  it('a node starts after a bounded time also where etcd accepts and is silent', async () => {
    const etcd = await startTestEtcd();
    etcd.pause();
    const member = await joinEtcd('a', etcd.url);
    expect([memberIds(member), member.state.state]).toEqual([['a'], 'stale']);
    etcd.resume();
    await eventually(() => expect(member.state.state).toBe('ok'));
  });

  it('the last known members stay, marked as stale, until it is back', async () => {
    const etcd = await startTestEtcd();
    const log = new RecordingLog();
    const first = await joinEtcd('a', etcd.url, { log });
    await joinEtcd('b', etcd.url);
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b']));
    const changes: string[] = [];
    first.onChange(() => changes.push(`${first.state.state} ${memberIds(first)}`));
    await etcd.stop();
    await eventually(() => expect(first.state.state).toBe('stale'));
    expect(log.warnings).toEqual([expect.stringContaining('the registry is unavailable')]);
    await etcd.start();
    await eventually(() => expect(first.state.state).toBe('ok'));
    await eventually(() => expect(changes.at(-1)).toBe('ok a,b'));
    expect(changes[0]).toBe('stale a,b');
  });

  it('and its data was wiped, all register again and the list is true again', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url);
    await joinEtcd('b', etcd.url);
    await etcd.put(`${PREFIX}ghost`, JSON.stringify({ id: 'ghost', role: 'node', url: 'http://h:1', node: {} }));
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b', 'ghost']));
    await etcd.wipe();
    await eventually(() => expect([first.state.state, ...memberIds(first)]).toEqual(['ok', 'a', 'b']));
  });

  it('for longer than the lease, the node is stale, then registered again', async () => {
    const etcd = await startTestEtcd();
    const first = await joinEtcd('a', etcd.url, { leaseSeconds: 1 });
    const second = await joinEtcd('b', etcd.url, { leaseSeconds: 1 });
    const [before = ''] = await etcd.leases();
    etcd.pause();
    await eventually(() => expect([first.state.state, second.state.state]).toEqual(['stale', 'stale']));
    expect(memberIds(second)).toEqual(['a', 'b']);
    etcd.resume();
    await eventually(() => expect([first.state.state, second.state.state]).toEqual(['ok', 'ok']));
    await eventually(async () => expect(await etcd.leases()).not.toContain(before));
    await eventually(() =>
      expect([memberIds(first), memberIds(second)]).toEqual([
        ['a', 'b'],
        ['a', 'b'],
      ]),
    );
  });

  it('and has compacted what happened meanwhile, the list is read again', async () => {
    const etcd = await startTestEtcd();
    const cable = await Cable.to(etcd.port);
    const away = await joinEtcd('a', cable.url);
    const gone = await joinEtcd('b', etcd.url);
    await eventually(() => expect(memberIds(away)).toEqual(['a', 'b']));
    cable.pull();
    await gone.close();
    await joinEtcd('c', etcd.url);
    await etcd.compact();
    cable.plugIn();
    await eventually(() => expect([away.state.state, ...memberIds(away)]).toEqual(['ok', 'a', 'c']));
  });

  it('at one endpoint, the next one is used, and nothing is reported', async () => {
    const etcd = await startTestEtcd();
    const cables = [await Cable.to(etcd.port), await Cable.to(etcd.port)] as const;
    const member = await joinEtcd('a', [cables[0].url, cables[1].url]);
    const changes: string[] = [];
    member.onChange(() => changes.push(`${member.state.state} ${memberIds(member)}`));
    const [lease] = await etcd.leases();
    cables[0].pull();
    await eventually(async () => expect((await etcd.list(PREFIX))[0]?.lease).not.toBe(lease));
    await joinEtcd('b', etcd.url);
    await eventually(() => expect(changes).toEqual(['ok a,b']));
  });

  it('at the first endpoint at the start, the next one is used', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', ['127.0.0.1:1', etcd.url.replace('http://', '')]);
    expect(member.state).toMatchObject({ state: 'ok', detail: null });
  });

  it('a node still stops within a bounded time', async () => {
    const etcd = await startTestEtcd();
    const member = await joinEtcd('a', etcd.url);
    etcd.pause();
    await member.close();
    expect(memberIds(member)).toEqual(['a']);
  });
});
