import { setTimeout as sleep } from 'node:timers/promises';
import type { EventKind, NodeEvent } from '@porthole/contract';
import { toEvent } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import type { FoundRecord } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { type ClusterProcess, startCluster } from './testing/cluster-process.ts';

/** Who of nodes that start together joins the other depends on which was first. */
const KINDS: readonly EventKind[] = ['member-left', 'member-lost', 'member-back'];

/** What a node has written about others. */
async function eventsOf(node: ClusterProcess, member: string): Promise<NodeEvent[]> {
  const query = KINDS.map((kind) => `kind=${kind}`).join('&');
  const { body } = await node.request(`/api/v1/events?order=oldest&${query}`);
  const items = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as FoundRecord]));
  return items.flatMap((item) => toEvent(item) ?? []).filter(({ fields }) => fields.member === member);
}

async function kindsOf(node: ClusterProcess, member: string): Promise<string[]> {
  return (await eventsOf(node, member)).map(({ kind }) => kind);
}

/** The interval of the loss contains what really happened, and the event is at its end. */
function expectLoss(event: NodeEvent | undefined, { fromMs, toMs }: { fromMs: number; toMs: number }): void {
  const { lastSignMs = 0, firstFailureMs = 0, uncertaintyMs = 0 } = (event?.fields ?? {}) as Record<string, number>;
  expect(event).toMatchObject({ kind: 'member-lost', level: 'ERROR', timeMs: firstFailureMs });
  expect(lastSignMs).toBeLessThanOrEqual(toMs);
  expect(firstFailureMs).toBeGreaterThanOrEqual(fromMs);
  expect(uncertaintyMs).toBe(firstFailureMs - lastSignMs);
}

describe.each(['static', 'etcd'] as const)('events about members, %s', (kind) => {
  it('a killed member is lost in an interval that contains the kill, and back when it was started again', async () => {
    const { nodes, start } = await startCluster(kind, ['n1', 'n2', 'n3']);
    const [n1, n2, n3] = nodes as [ClusterProcess, ClusterProcess, ClusterProcess];
    for (const observer of [n1, n2]) await observer.hearsFromAll();
    const fromMs = Date.now();
    await n3.kill();
    const toMs = Date.now();
    for (const observer of [n1, n2]) {
      await eventually(async () => expect(await kindsOf(observer, 'n3')).toEqual(['member-lost']));
      expectLoss((await eventsOf(observer, 'n3'))[0], { fromMs, toMs });
    }
    await start('n3');
    for (const observer of [n1, n2]) {
      await eventually(async () => expect(await kindsOf(observer, 'n3')).toEqual(['member-lost', 'member-back']));
      const [lost, back] = await eventsOf(observer, 'n3');
      expect(back?.fields).toMatchObject({ isRestarted: true, lastSignMs: lost?.fields.lastSignMs });
      expect(back?.fields.run).not.toBe(lost?.fields.run);
    }
    // All of them, and n3 itself, report one event.
    await eventually(async () => {
      const { stdout } = await n2.cli('events', '-S', '5m', '-o', 'json');
      const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as NodeEvent]));
      const ends = events.filter(({ kind }) => kind === 'member-lost' || kind === 'killed');
      expect(ends).toMatchObject([{ kind: 'member-lost', fields: { member: 'n3', reported: 'killed' } }]);
      expect(ends[0]?.fields.seenBy).toEqual(expect.arrayContaining(['n1', 'n2']));
      expectLoss(ends[0], { fromMs, toMs });
      expect(events.filter(({ kind, fields }) => kind === 'member-back' && fields.member === 'n3')).toHaveLength(1);
    });
    // The others never doubted each other.
    expect([await kindsOf(n1, 'n2'), await kindsOf(n2, 'n1')]).toEqual([[], []]);
  });

  it('a member that is stopped as it was told to has left', async () => {
    const { nodes, start } = await startCluster(kind, ['n1', 'n2']);
    const [n1, n2] = nodes as [ClusterProcess, ClusterProcess];
    await n1.hearsFromAll();
    n2.program.kill('SIGTERM');
    await n2.program.end();
    await sleep(4000); // pause: longer than a loss takes to be noticed
    await eventually(async () => expect(await kindsOf(n1, 'n2')).toEqual(['member-left']));
    await start('n2');
    await eventually(async () => expect(await kindsOf(n1, 'n2')).toEqual(['member-left', 'member-back']));
  });

  it('a suspended member is lost and responds again; it does not take the others for lost', async () => {
    const { nodes } = await startCluster(kind, ['n1', 'n2']);
    const [n1, n2] = nodes as [ClusterProcess, ClusterProcess];
    for (const observer of [n1, n2]) await observer.hearsFromAll();
    const fromMs = Date.now();
    n2.program.kill('SIGSTOP');
    await eventually(async () => expect(await kindsOf(n1, 'n2')).toEqual(['member-lost']));
    expectLoss((await eventsOf(n1, 'n2'))[0], { fromMs, toMs: fromMs + scaled(500) });
    n2.program.kill('SIGCONT');
    await eventually(async () => expect(await kindsOf(n1, 'n2')).toEqual(['member-lost', 'member-back']));
    expect((await eventsOf(n1, 'n2'))[1]?.fields).toMatchObject({ isRestarted: false });
    await sleep(3000); // pause: longer than a loss takes to be noticed
    expect(await kindsOf(n2, 'n1')).toEqual([]);
  });
});
