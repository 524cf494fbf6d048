import { describe, expect, it } from 'vitest';
import type { ArchivedLog, ArchivedNode } from '../query/archived-nodes.ts';
import { findGaps, type MemberFacts, planSources } from './plan-sources.ts';

const MINUTE = 60_000;

/** Times in minutes. What is no longer on disk ends a minute before what is, unless that is all of it. */
function shipped(log: string, from: number, to: number, disk: number | null = from): ArchivedLog {
  const [fromMs, lastMs] = [from * MINUTE, to * MINUTE];
  const isWhole = disk === from;
  return {
    ...{ log, fromMs, lastMs, shippedToMs: lastMs, records: 1, lostBytes: 0, losses: 0, disorderMs: 0, untimed: 0 },
    gone: { files: isWhole ? 0 : 1, toMs: isWhole ? 0 : Math.min(((disk ?? to) - 1) * MINUTE, lastMs) },
    diskFromMs: disk === null ? null : disk * MINUTE,
  };
}

/** A log of which no record has a time. */
function untimed(log: string, goneFiles: number): ArchivedLog {
  const none = { fromMs: null, lastMs: null, shippedToMs: null, diskFromMs: null };
  return { ...shipped(log, 0, 1), ...none, untimed: 5, gone: { files: goneFiles, toMs: 0 } };
}

/** Just after a minute. */
const after = (minutes: number) => (minutes * MINUTE + 1) / MINUTE;

function archivedNode(...logs: ArchivedLog[]): ArchivedNode {
  return { node: 'a', role: 'broker', labels: {}, writtenMs: 0, logs };
}

/** The oldest time on disk of each log, in minutes. */
function member(logs: Readonly<Record<string, number | null>>): MemberFacts {
  const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 0, count: 0, asOfMs: null };
  const times = new Map(
    Object.entries(logs).map(([log, minutes]) => [log, minutes === null ? null : minutes * MINUTE]),
  );
  return { id: 'a', role: 'broker', isAlive: true, report, offsetMs: 0, logs: times };
}

function planned(archived: ArchivedNode, facts: MemberFacts, request: { src?: readonly string[] } = {}) {
  const plan = planSources(request, { facts: [facts], archived: [archived] });
  const gaps = findGaps(archived, facts, { plan, range: {} });
  const minutes = (timeMs: number) => (timeMs < -1e15 ? null : timeMs / MINUTE);
  const cuts = Object.fromEntries(Object.entries(plan.cuts).map(([key, cutMs]) => [key, minutes(cutMs)]));
  return { plan, cuts, gaps };
}

describe('the cut between disk and archive', () => {
  it('is one for all logs of a node if there is one that suits them', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000, 500), shipped('slow.log', 0, 900, 600)),
      member({ 'app.log': 500, 'slow.log': 600, 'new.log': 950 }),
    );
    expect(cuts).toEqual({ a: 601 });
    expect(plan.members.floors).toEqual({ a: 601 * MINUTE });
    expect(gaps).toEqual([]);
  });

  it('is before everything of a log that has shipped nothing', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000, 500)),
      member({ 'app.log': 500, 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: 501, 'a/late.log': null });
    expect(plan.members.floors).toEqual({});
    expect(plan.archive?.ceilings.logs).toMatchObject([{ node: 'a', log: 'late.log' }]);
    expect(gaps).toEqual([]);
  });

  it('of a log that lags is not where another was deleted', () => {
    const { plan, cuts, gaps } = planned(
      archivedNode(shipped('app.log', 0, 1000, 500), shipped('late.log', 0, 200, 100)),
      member({ 'app.log': 500, 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: 501, 'a/late.log': 101 });
    expect(plan.members.floors).toEqual({ a: 101 * MINUTE });
    expect(gaps).toEqual([]);
  });

  it('of a log that is no longer on disk is after all of it', () => {
    const { cuts, gaps } = planned(
      archivedNode(shipped('gone.log', 0, 800, null), shipped('late.log', 0, 200, 100)),
      member({ 'late.log': 100 }),
    );
    expect(cuts).toEqual({ a: after(800), 'a/late.log': 101 });
    expect(gaps).toEqual([]);
  });

  it('leaves a gap where records were deleted before they were shipped, and reports it', () => {
    const { plan, gaps } = planned(archivedNode(shipped('app.log', 0, 300, 500)), member({ 'app.log': 500 }));
    expect(plan.hasGaps).toBe(true);
    expect(gaps).toMatchObject([{ log: 'app.log', fromMs: 300 * MINUTE, toMs: 500 * MINUTE }]);
  });

  it('is one for all if too many logs would need their own; what that leaves out is reported', () => {
    const late = Array.from({ length: 100 }, (_, index) => `late-${index}.txt`);
    const onDisk = Object.fromEntries(late.map((log) => [log, 100]));
    const archived = archivedNode(shipped('app.log', 0, 1000, 500));
    const { plan, cuts, gaps } = planned(archived, member({ 'app.log': 500, ...onDisk }));
    expect(cuts).toEqual({ a: null });
    expect(plan).toMatchObject({ archive: null, hasGaps: true });
    expect(gaps).toMatchObject([
      { log: 'app.log', toMs: 499 * MINUTE + 1, why: expect.stringContaining('store=archive') },
    ]);
  });

  it('is after everything that was deleted, also if a record on disk has an earlier time', () => {
    const log = { ...shipped('app.log', 0, 1000), gone: { files: 1, toMs: 7 * MINUTE } };
    const { cuts, gaps } = planned(archivedNode(log), member({ 'app.log': 0 }));
    expect(cuts).toEqual({ a: after(7) });
    expect(gaps).toEqual([]);
  });

  it('is not asked for of a log whose disk has everything', () => {
    const { plan, gaps } = planned(archivedNode(shipped('app.log', 0, 1000)), member({ 'app.log': 0 }));
    expect(plan.archive).toBeNull();
    expect(gaps).toEqual([]);
  });

  it('leaves as much as possible to the archive right after a rotation', () => {
    const { cuts, gaps } = planned(archivedNode(shipped('app.log', 0, 1000, 500)), member({ 'app.log': 600 }));
    expect(cuts).toEqual({ a: 999 });
    expect(gaps).toEqual([]);
  });

  it('stays away from what is not shipped by as much as times are out of order', () => {
    const log = { ...shipped('app.log', 0, 1000, 500), disorderMs: 30 * MINUTE };
    expect(planned(archivedNode(log), member({ 'app.log': 600 })).cuts).toEqual({ a: 970 });
  });
});

describe('a log without timestamps', () => {
  const timed = shipped('app.log', 0, 1000, 500);

  const facts = member({ 'app.log': 500, 'out.log': null });
  const family = 'out.log';

  it('is read from disk as a whole', () => {
    const { plan, cuts, gaps } = planned(archivedNode(timed, untimed(family, 0)), facts, { src: [family] });
    expect(cuts).toEqual({ a: null });
    expect(plan.archive).toBeNull();
    expect(gaps).toEqual([]);
  });

  it('of which files were deleted is reported', () => {
    const { gaps } = planned(archivedNode(timed, untimed(family, 2)), facts, { src: [family] });
    expect(gaps).toMatchObject([{ log: family, isUntimed: true, why: expect.stringContaining('store=archive') }]);
  });

  it('that is no longer on disk is read from the archive as a whole', () => {
    const { plan, gaps } = planned(archivedNode(timed, untimed(family, 2)), member({ 'app.log': 500 }), {
      src: [family],
    });
    expect(plan.archive?.ceilings.logs).toEqual([{ node: 'a', log: family, ceiling: null }]);
    expect(gaps).toEqual([]);
  });

  it('has no part in requests for all logs, nor in those with a time range', () => {
    const archived = archivedNode(timed, untimed(family, 2));
    for (const request of [{}, { fromMs: 0 }, { fromMs: 0, src: ['app.log'] }]) {
      const plan = planSources(request, { facts: [facts], archived: [archived] });
      expect(plan.cuts).toEqual({ a: 501 * MINUTE });
      expect(plan.hasGaps).toBe(false);
    }
  });

  it('is on disk if only some records have no timestamp, as long as nothing of it was deleted', () => {
    const some = { ...shipped('some.log', 100, 1000), untimed: 1 };
    const { cuts, gaps } = planned(archivedNode(timed, some), member({ 'app.log': 500, 'some.log': 100 }));
    expect(cuts).toEqual({ a: 501, 'a/some.log': null });
    expect(gaps).toEqual([]);
    const deleted = { ...shipped('some.log', 100, 1000, 200), untimed: 1 };
    const second = planned(archivedNode(timed, deleted), member({ 'app.log': 500, 'some.log': 200 }));
    expect(second.gaps).toMatchObject([{ log: 'some.log', isUntimed: true }]);
  });
});

describe('labels', () => {
  it('select nodes that are no longer members by those they had', () => {
    const gone = { ...archivedNode(shipped('app.log', 0, 9)), labels: { zone: 'a' } };
    const select = (labels: string[]) => planSources({ labels }, { facts: [], archived: [gone] }).archived.length;
    expect([select(['zone=a']), select(['zone=b'])]).toEqual([1, 0]);
  });
});
