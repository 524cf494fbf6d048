import { type Cut, startCuttingProxy } from '@porthole/client/testing';
import { eventually } from '@porthole/logs/testing';
import { expect, it } from 'vitest';
import { startTestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds } from './testing/members.ts';

/** More than etcd sends until a node is registered, has the list and watches it. */
const BYTES = 600;

/** Each tries again every few hundred milliseconds, so several share the work; all are members in the end. */
const NODES = 24;

const ENDS = ['fin', 'rst', 'garbage'] as const;

it('a node registers in the end, wherever its connections to etcd are cut or go on with nonsense', async () => {
  const etcd = await startTestEtcd();
  const cuts: Cut[] = Array.from({ length: BYTES }, (_, at) => ({ at, end: ENDS[at % ENDS.length] ?? 'fin' }));
  for (let at = 0; at < BYTES; at += BYTES / NODES) cuts.push({ at, end: 'stall' });
  const proxy = await startCuttingProxy(etcd.port, () => cuts.shift() ?? { at: Infinity, end: 'fin' });
  // The next endpoint is tried at once, and all of them lead to the same.
  const endpoints = Array.from({ length: 2 * BYTES }, () => proxy.url);
  const ids = Array.from({ length: NODES }, (_, index) => `n${10 + index}`);
  const members = await Promise.all(ids.map((id) => joinEtcd(id, endpoints, { leaseSeconds: 2 })));
  await eventually(() => expect(cuts).toHaveLength(0), { withinMs: 60_000 });
  await eventually(() => {
    for (const member of members) expect([member.state.state, memberIds(member)]).toEqual(['ok', ids]);
  });
});
