import type { NodeDescription } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
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
  it('are computed from the round trip, never more certain than it allows', async () => {
    const { way, clocks, peer } = oneMember();
    Object.assign(way, { offsetMs: 5000, thereMs: 30, backMs: 10 });
    expect(clocks.of('a')).toBeUndefined();
    // Measured 5010 ± 21: corrected by the roundest offset in there, and as uncertain as that makes it.
    expect(await clocks.measure(peer)).toEqual({ offsetMs: 5000, uncertaintyMs: 31 });
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

  it('are not corrected by less than the uncertainty: the same record shows the same time on every visit', async () => {
    const { way, clocks, peer } = oneMember();
    for (const [thereMs, backMs] of [
      [9, 3],
      [2, 8],
      [7, 6],
      [1, 4],
    ] as const) {
      Object.assign(way, { offsetMs: 1, thereMs, backMs });
      await clocks.measure(peer);
      expect(clocks.of('a')?.offsetMs).toBe(0);
    }
  });

  it('keep their correction until a measurement rules it out; the true offset is always within the uncertainty', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -20_000, max: 20_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 })), {
          minLength: 2,
          maxLength: 12,
        }),
        async (offsetMs, ways) => {
          const { way, clocks, peer } = oneMember();
          let applied: number | undefined;
          for (const [thereMs, backMs] of ways) {
            Object.assign(way, { offsetMs, thereMs, backMs });
            const { offsetMs: correctionMs, uncertaintyMs } = await clocks.measure(peer);
            expect(Math.abs(correctionMs - offsetMs)).toBeLessThanOrEqual(uncertaintyMs);
            expect(Number.isInteger(correctionMs)).toBe(true);
            // One that is right is never ruled out.
            if (correctionMs !== applied) expect(applied).not.toBe(offsetMs);
            applied = correctionMs;
          }
        },
      ),
      { seed: 18, numRuns: runs(50) },
    );
  });

  it('that were set are believed at once', async () => {
    const { way, clocks, peer } = oneMember();
    Object.assign(way, { thereMs: 1, backMs: 1 });
    await clocks.measure(peer);
    Object.assign(way, { offsetMs: 60_000, thereMs: 200, backMs: 200 });
    await clocks.measure(peer);
    expect(clocks.of('a')).toEqual({ offsetMs: 60_000, uncertaintyMs: 201 });
  });

  it('are measured in the background; a member that does not report its time has none', async () => {
    const odd = new FakeNode({ describe: async () => ({}) as NodeDescription });
    const { peers, membership } = fakeCluster({ a: new FakeNode({ clockOffsetMs: -7000 }), odd });
    const clocks = new ClockTable({ peers, selfId: 'self', timeoutMs: 1000 });
    onTestFinished(() => clocks.close());
    clocks.start(5, membership);
    await eventually(() => expect(Math.round((clocks.of('a')?.offsetMs ?? 0) / 100)).toBe(-70));
    expect(clocks.of('odd')).toBeUndefined();
    await expect(clocks.measure(peers.get('odd'))).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });
});
