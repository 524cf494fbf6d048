import type { NodeDescription } from '@porthole/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../logs/src/testing/eventually.ts';
import { fakeCluster } from '../testing/fake-cluster.ts';
import { FakeNode } from '../testing/fake-node.ts';
import { ClockTable } from './clock.ts';

/** A member so far away, whose clock is so far ahead, in a time that only passes on the way. */
function oneMember() {
  const way = { offsetMs: 0, thereMs: 0, backMs: 0, nowMs: 1_000_000 };
  const describe = async () => {
    way.nowMs += way.thereMs;
    const clockMs = way.nowMs + way.offsetMs;
    way.nowMs += way.backMs;
    return { clockMs } as NodeDescription;
  };
  const { peers } = fakeCluster({ a: new FakeNode({ describe }) });
  const source = { nowMs: () => way.nowMs, runningMs: () => way.nowMs };
  const clocks = new ClockTable({ peers, selfId: 'self', timeoutMs: 1000, source });
  return { way, clocks, peer: peers.get('a') };
}

describe('the clocks of members', () => {
  it('are told from the way there and back, never more certain than it allows', async () => {
    const { way, clocks, peer } = oneMember();
    Object.assign(way, { offsetMs: 5000, thereMs: 30, backMs: 10 });
    expect(clocks.of('a')).toBeUndefined();
    expect(await clocks.measure(peer)).toEqual({ offsetMs: 5010, uncertaintyMs: 21 });
    expect(clocks.of('self')).toEqual({ offsetMs: 0, uncertaintyMs: 0 });
  });

  it('are those of the best measurement, which grows old', async () => {
    const { way, clocks, peer } = oneMember();
    Object.assign(way, { thereMs: 1, backMs: 1 });
    await clocks.measure(peer);
    Object.assign(way, { thereMs: 100, backMs: 0 });
    await clocks.measure(peer);
    expect(clocks.of('a')).toEqual({ offsetMs: 0, uncertaintyMs: 2 + 100 * 50e-6 });
    way.nowMs += 3_600_000;
    expect(clocks.of('a')?.uncertaintyMs).toBeGreaterThan(50);
  });

  it('that were set are believed at once', async () => {
    const { way, clocks, peer } = oneMember();
    Object.assign(way, { thereMs: 1, backMs: 1 });
    await clocks.measure(peer);
    Object.assign(way, { offsetMs: 60_000, thereMs: 200, backMs: 200 });
    await clocks.measure(peer);
    expect(clocks.of('a')).toEqual({ offsetMs: 60_000, uncertaintyMs: 201 });
  });

  it('are measured in the background; a member that cannot tell its time has none', async () => {
    const odd = new FakeNode({ describe: async () => ({}) as NodeDescription });
    const { peers } = fakeCluster({ a: new FakeNode({ clockOffsetMs: -7000 }), odd });
    const clocks = new ClockTable({ peers, selfId: 'self', timeoutMs: 1000 });
    onTestFinished(() => clocks.close());
    clocks.start(5);
    await eventually(() => expect(Math.round((clocks.of('a')?.offsetMs ?? 0) / 100)).toBe(-70));
    expect(clocks.of('odd')).toBeUndefined();
    await expect(clocks.measure(peers.get('odd'))).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });
});
