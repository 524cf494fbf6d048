import { describe, expect, it } from 'vitest';
import type { ArchivedLog, ArchivedNode } from '../ask/archived-nodes.ts';
import { findGaps } from './find-gaps.ts';
import type { MemberFacts } from './member-facts.ts';
import { planSources } from './plan-sources.ts';

const MINUTE = 60_000;

/** Times in minutes. */
function shipped(log: string, from: number, to: number): ArchivedLog {
  const [fromMs, lastMs] = [from * MINUTE, to * MINUTE];
  return { log, fromMs, lastMs, shippedToMs: lastMs, records: 1, lostBytes: 0, losses: 0 };
}

function archivedNode(...logs: ArchivedLog[]): ArchivedNode {
  return { node: 'a', role: 'broker', writtenMs: 0, logs };
}

/** The oldest time on disk of each log, in minutes. */
function member(logs: Readonly<Record<string, number>>): MemberFacts {
  const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 0, count: 0, asOfMs: null };
  const times = new Map(Object.entries(logs).map(([log, minutes]) => [log, minutes * MINUTE]));
  return { id: 'a', role: 'broker', isAlive: true, report, offsetMs: 0, logs: times };
}

function planned(archived: ArchivedNode, facts: MemberFacts) {
  const plan = planSources({}, { facts: [facts], archived: [archived] });
  const gaps = findGaps(archived, facts, { plan, range: {} });
  const minutes = (timeMs: number) => (timeMs < -1e15 ? null : timeMs / MINUTE);
  const cuts = Object.fromEntries(Object.entries(plan.cuts).map(([key, cutMs]) => [key, minutes(cutMs)]));
  return { plan, cuts, gaps };
}

describe('the cut between disk and archive', () => {
  it('is one for all logs of a node if there is one that suits them', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000), shipped('slow.log', 0, 900)),
      member({ 'app.log': 500, 'slow.log': 600, 'new.log': 950 }),
    );
    expect(cuts).toEqual({ a: 601 });
    expect(plan.members.floors).toEqual({ a: 601 * MINUTE });
    expect(gaps).toEqual([]);
  });

  it('is before everything of a log that has shipped nothing', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000)),
      member({ 'app.log': 500, 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: 501, 'a/late.log': null });
    expect(plan.members.floors).toEqual({});
    expect(plan.archive?.ceilings.logs).toMatchObject([{ node: 'a', log: 'late.log' }]);
    expect(gaps).toEqual([]);
  });

  it('of a log that lags is not where another was deleted', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000), shipped('late.log', 0, 200)),
      member({ 'app.log': 500, 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: 501, 'a/late.log': 101 });
    expect(plan.members.floors).toEqual({ a: 101 * MINUTE });
    expect(gaps).toEqual([]);
  });

  it('of a log that is no longer on disk is after all of it', () => {
    const { cuts, gaps } = planned(
      archivedNode(shipped('gone.log', 0, 800), shipped('late.log', 0, 200)),
      member({ 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: 800 + 1 / MINUTE, 'a/late.log': 101 });
    expect(gaps).toEqual([]);
  });

  it('leaves a gap where records were deleted before they were shipped, and reports it', () => {
    const { plan, gaps } = planned(archivedNode(shipped('app.log', 0, 300)), member({ 'app.log': 500 }));
    expect(plan.hasGaps).toBe(true);
    expect(gaps).toMatchObject([{ log: 'app.log', fromMs: 300 * MINUTE, toMs: 500 * MINUTE }]);
  });

  it('is one for all if too many logs would need their own; what that leaves out is reported', () => {
    const late = Array.from({ length: 100 }, (_, index) => `late-${index}.txt`);
    const onDisk = Object.fromEntries(late.map((log) => [log, 100]));
    const archived = archivedNode(shipped('app.log', 0, 1000));
    const { plan, cuts, gaps } = planned(archived, member({ 'app.log': 500, ...onDisk }));
    expect(cuts).toEqual({ a: null });
    expect(plan).toMatchObject({ archive: null, hasGaps: true });
    expect(gaps).toMatchObject([{ log: 'app.log', toMs: 500 * MINUTE, why: expect.stringContaining('store=archive') }]);
  });
});
