import { encodeFollowPositions, type MemberClock, PortholeError } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Peer } from '../../fan-out/peers.ts';
import { collectFollow } from '../../testing/collect-follow.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode, notSupported, record, recordsAt, silence } from '../../testing/fake-node.ts';
import { LiveLog } from '../../testing/live-log.ts';
import { followCluster } from './cluster-follow.ts';

const MINUTE = 60_000;

describe('the clocks of members that are followed', () => {
  /** Clocks that can be set while members are followed. */
  function settable(measured: Record<string, MemberClock>) {
    const known: Record<string, MemberClock> = {};
    return {
      known,
      of: (id: string) => known[id],
      async measure({ member }: Peer) {
        const clock = measured[member.id];
        if (!clock) throw new PortholeError('UNREACHABLE', 'no connection');
        known[member.id] = clock;
        return clock;
      },
    };
  }

  it('are measured before the first record of a member that joins', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const clocks = settable({ a: { offsetMs: 0, uncertaintyMs: 1 }, b: { offsetMs: 7000, uncertaintyMs: 1 } });
    const cluster = fakeCluster({ a });
    const follow = collectFollow({ ...cluster, clocks }, { windowMs: 0 });
    await follow.ready;
    cluster.set('b', b);
    const nowMs = Date.now();
    b.emit(record('from the future', nowMs + 7000));
    await eventually(() => expect(follow.summaries).toContain('b from the future'));
    expect(follow.items.find(({ type }) => type === 'record')).toMatchObject({ atMs: nowMs });
  });

  it('that become known later correct what comes after that, and the change is not hidden', async () => {
    const a = new LiveLog();
    const clocks = settable({});
    const follow = collectFollow({ ...fakeCluster({ a }), clocks }, { windowMs: 0 });
    await follow.ready;
    const nowMs = Date.now() - 1000;
    a.emit(record('before', nowMs + 7000, 1));
    await eventually(() => expect(follow.items).toHaveLength(1));
    clocks.known.a = { offsetMs: 7000, uncertaintyMs: 2 };
    a.emit(record('after', nowMs + 7001, 2), record('more', nowMs + 7002, 3));
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'a after?', 'a more']));
    expect(follow.items.map((item) => item.type === 'record' && item.atMs)).toEqual([
      nowMs + 7000,
      nowMs + 1,
      nowMs + 2,
    ]);
  });

  it('that were set correct each record by the offset in force when it was written', async () => {
    const a = new LiveLog();
    const setMs = Date.now() - 60_000;
    const step = { offsetMs: 0, foundMs: setMs, firstAfterMs: setMs + 10_000, lastBeforeMs: setMs };
    const clocks = { of: () => ({ offsetMs: 10_000, uncertaintyMs: 1 }), steps: () => [step] };
    const follow = collectFollow({ ...fakeCluster({ a }), clocks }, { windowMs: 0 });
    a.emit(record('before', setMs - 1000, 1), record('after', setMs + 11_000, 2));
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'a after']));
    expect(follow.items.map((item) => item.type === 'record' && item.atMs)).toEqual([setMs - 1000, setMs + 1000]);
  });

  it('that are measured again a little differently change nothing', async () => {
    const a = new LiveLog();
    const clocks = settable({});
    clocks.known.a = { offsetMs: 10, uncertaintyMs: 3 };
    const follow = collectFollow({ ...fakeCluster({ a }), clocks }, { windowMs: 0 });
    a.emit(record('one', 10_010, 1));
    await eventually(() => expect(follow.items).toHaveLength(1));
    clocks.known.a = { offsetMs: 12, uncertaintyMs: 4 };
    a.emit(record('two', 10_011, 2));
    await eventually(() => expect(follow.summaries).toEqual(['a one', 'a two']));
    expect(follow.items[1]).toMatchObject({ atMs: 10_001 });
  });
});

describe('a follow of the cluster', () => {
  it.each([-86_400_000, 86_400_000])('continues when the clock of this node jumps by %d ms', async (byMs) => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const a = new LiveLog();
    const follow = collectFollow(fakeCluster({ a }), { windowMs: 20 });
    await follow.ready;
    a.emit(record('before', 10_000, 1));
    vi.setSystemTime(Date.now() + byMs);
    a.emit(record('after', 10_001, 2));
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'a after']));
  });

  it('reports a member that was restarted as followed again after it was reported as failing', async () => {
    const failing = new FakeNode({
      // biome-ignore lint/correctness/useYield: it yields nothing
      async *follow() {
        throw new PortholeError('UNREACHABLE', 'no connection');
      },
    });
    const cluster = fakeCluster({ a: failing, b: new LiveLog() });
    const follow = collectFollow(cluster, { windowMs: 0, firstWaitMs: 60_000 });
    await eventually(() => expect(follow.summaries).toEqual(['a failed']));
    cluster.set('a', new LiveLog());
    await eventually(() => expect(follow.summaries).toEqual(['a failed', 'a ok']));
    expect(follow.items.at(-1)).toMatchObject({ report: { state: 'up' } });
  });

  it('continues each member at its own record, whatever the times are', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const cursor = encodeFollowPositions(new Map([['a', 'c7~c8']]));
    const query = { start: { cursor, sinceMs: 5000 } };
    const clocks = { a: { offsetMs: 100, uncertaintyMs: 1 }, b: { offsetMs: -100, uncertaintyMs: 1 } };
    await collectFollow(fakeCluster({ a, b }, { clocks }), { query }).ready;
    expect([...a.follows, ...b.follows].map(({ start }) => start)).toEqual([
      { cursor: 'c7~c8', sinceMs: 5100 },
      { timeMs: 4900 },
    ]);
  });

  it('reports that the record to continue after no longer exists, and continues with new ones', async () => {
    const a: FakeNode = new FakeNode({
      async *follow({ start }) {
        yield* [];
        if (typeof start === 'object' && 'cursor' in start) throw new PortholeError('CURSOR_GONE', 'it is gone');
        yield [];
        yield [record('new', 1000)];
        await new Promise(() => {});
      },
    });
    const query = { start: { cursor: encodeFollowPositions(new Map([['a', 'c7']])), sinceMs: 5000 } };
    const follow = collectFollow(fakeCluster({ a }), { query, windowMs: 0 });
    await eventually(() => expect(follow.summaries).toEqual(['gap', 'a new']));
    expect(a.follows.map(({ start }) => start)).toEqual([{ cursor: 'c7', sinceMs: 5000 }, { timeMs: 5000 }]);
  });

  it('emits records that arrive within the window in the order they happened, whatever the clocks', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const clocks = { a: { offsetMs: 5 * MINUTE, uncertaintyMs: 1 }, b: { offsetMs: -3 * MINUTE, uncertaintyMs: 1 } };
    const follow = collectFollow(fakeCluster({ a, b }, { clocks }), { windowMs: 300 });
    await follow.ready;
    const nowMs = Date.now() - 1000;
    a.emit(record('second', nowMs + 20 + 5 * MINUTE), record('fourth', nowMs + 40 + 5 * MINUTE));
    b.emit(record('first', nowMs + 10 - 3 * MINUTE), record('third', nowMs + 30 - 3 * MINUTE));
    await eventually(() => expect(follow.items).toHaveLength(4));
    expect(follow.summaries).toEqual(['b first', 'a second', 'b third', 'a fourth']);
    expect(follow.items[0]).toMatchObject({ node: 'b', atMs: nowMs + 10 });
  });

  it('emits a record that comes too late at once, as unsure', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const follow = collectFollow(fakeCluster({ a, b }), { windowMs: 0 });
    a.emit(record('later', 2000));
    await eventually(() => expect(follow.items).toHaveLength(1));
    b.emit(record('earlier', 1000));
    await eventually(() => expect(follow.summaries).toEqual(['a later', 'b earlier?']));
  });

  it('passes on events of logs, after the records before them', async () => {
    const a = new LiveLog();
    const follow = collectFollow(fakeCluster({ a }), { windowMs: 10 });
    const rotated = { type: 'rotated', family: 'a.log', from: 'a.log', to: 'a.log.1' } as const;
    a.emit(record('before', 1000), rotated, record('untimed', Number.NaN), record('after', 2000));
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'rotated', 'a untimed', 'a after']));
    expect(follow.items[1]).toEqual({ ...rotated, node: 'a' });
  });

  it('is not held up by a record from the future', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const follow = collectFollow(fakeCluster({ a, b }), { windowMs: 5 });
    a.emit(record('future', Date.now() + 1e9));
    await eventually(() => expect(follow.summaries).toEqual(['a future']));
    await eventually(() => {
      b.emit(record('now', Date.now()));
      expect(follow.summaries).toContain('b now');
    });
  });

  it('reports a member that fails, resumes after its last record, and reports that it is back', async () => {
    const a = new LiveLog();
    const follow = collectFollow(fakeCluster({ a, b: new LiveLog() }), { windowMs: 0 });
    a.emit(record('one', 1000, 7));
    a.fail(new PortholeError('INTERNAL', 'it broke'));
    a.emit(record('two', 2000, 8));
    await eventually(() => expect(follow.summaries).toContain('a two'));
    expect(follow.summaries.filter((line) => line.startsWith('a '))).toEqual(
      expect.arrayContaining(['a one', 'a failed', 'a ok', 'a two']),
    );
    expect(a.follows.map(({ start }) => start)).toEqual([
      'end',
      { cursor: expect.stringMatching(/^c7\.a\./), sinceMs: expect.any(Number) },
    ]);
  });

  it('resumes where all logs of a member stood, and emits that only to those who ask', async () => {
    const a = new LiveLog();
    const cluster = fakeCluster({ a });
    const follow = collectFollow(cluster, { windowMs: 0, positions: true });
    const other = new LiveLog();
    const plain = collectFollow(fakeCluster({ other }), { windowMs: 0 });
    for (const log of [a, other]) {
      log.emit(record('one', 1000, 6), { type: 'position', cursor: 'start~c6~d1' }, record('two', 1, 7));
      log.fail(new PortholeError('INTERNAL', 'it broke'));
      log.emit(record('three', 2, 8));
    }
    await eventually(() => expect(follow.summaries.filter((line) => line.startsWith('a t'))).toHaveLength(2));
    await eventually(() => expect(plain.summaries).toContain('other three'));
    expect(follow.items).toContainEqual({ type: 'position', cursor: 'start~c6~d1', node: 'a' });
    expect(plain.summaries).not.toContain('position');
    expect(a.follows.map(({ start }) => start)).toEqual([
      'end',
      { cursor: expect.stringMatching(/^start~c6~d1~c7\.a\./), sinceMs: expect.any(Number) },
    ]);
  });

  it('reports once that a member is unreachable, and follows it as soon as possible', async () => {
    const live = new LiveLog();
    let attempts = 0;
    const flaky: FakeNode = new FakeNode({
      async *follow(query, options) {
        if (attempts++ < 3)
          throw new PortholeError('UNREACHABLE', 'no connection', {
            cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
          });
        yield* live.followLogs(query, options);
      },
    });
    const follow = collectFollow(fakeCluster({ a: flaky, b: new LiveLog() }), { windowMs: 0 });
    live.emit(record('here', 1));
    await eventually(() => expect(follow.summaries).toEqual(['a refused', 'a ok', 'a here']));
  });

  it('turns the reconnecting of a client into a report', async () => {
    const a = new LiveLog();
    const follow = collectFollow(fakeCluster({ a }), { windowMs: 0 });
    a.emit({ type: 'reconnecting', reason: 'the connection was lost', waitMs: 10 });
    a.emit();
    await eventually(() => expect(follow.summaries).toEqual(['a refused', 'a ok']));
  });

  it('reports a member that cannot do it once, and one that takes too long', async () => {
    const lindb = new FakeNode({ follow: () => throws(notSupported()) });
    const slow = new FakeNode({ follow: (_query, { signal }) => silence(signal) });
    const follow = collectFollow(fakeCluster({ a: new LiveLog(), lindb, slow }, { limits: { firstBatchMs: 20 } }));
    await follow.ready;
    await eventually(() => expect(follow.summaries).toEqual(['lindb not supported', 'slow timeout']));
    expect(lindb.follows).toHaveLength(1);
  });

  it('starts with so many of the newest records of all members together', async () => {
    const members = {
      a: new FakeNode({ records: recordsAt('a', [1, 2, 5]), follow: (_query, { signal }) => silence(signal) }),
      b: new FakeNode({ records: recordsAt('b', [3, 4]), follow: (_query, { signal }) => silence(signal) }),
      c: new FakeNode({ records: recordsAt('c', [1]), follow: (_query, { signal }) => silence(signal) }),
      d: new FakeNode({ search: () => throws(notSupported()), follow: (_query, { signal }) => silence(signal) }),
    };
    const deps = fakeCluster(members, { limits: { firstBatchMs: 20 } });
    const follow = collectFollow(deps, { query: { start: { back: 3 }, minLevel: 'INFO' } });
    await follow.ready;
    const starts = Object.values(members).map(({ follows }) => follows[0]?.start);
    // One that cannot say how many of them it has begins with as many itself.
    expect(starts).toEqual([{ back: 1 }, { back: 2 }, 'end', { back: 3 }]);
    expect(members.a.searches[0]).toMatchObject({ minLevel: 'INFO', order: 'newest' });
  });

  it('reports members that join, from when they came online, and members that leave', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const deps = fakeCluster({ a });
    const follow = collectFollow(deps, { windowMs: 0, query: { start: { back: 10 } } });
    await follow.ready;
    const beforeMs = Date.now();
    deps.set('b', b);
    b.emit(record('hello', 1));
    await eventually(() => expect(follow.summaries).toEqual(['b ok', 'b hello']));
    expect(a.follows[0]?.start).toEqual({ back: 10 });
    const start = b.follows[0]?.start as { timeMs: number };
    expect(start.timeMs).toBeLessThanOrEqual(beforeMs);
    expect(start.timeMs).toBeGreaterThan(beforeMs - 10_000);
    deps.set('a', undefined);
    await eventually(() => expect(follow.summaries).toEqual(['b ok', 'b hello', 'a gone']));
    await eventually(() => expect(a.openStreams).toBe(0));
  });

  it('resumes where a member was when it left and comes back', async () => {
    const [a, again] = [new LiveLog(), new LiveLog()];
    const deps = fakeCluster({ a, b: new LiveLog() });
    const follow = collectFollow(deps, { windowMs: 0 });
    await follow.ready;
    a.emit(record('before', 1));
    await eventually(() => expect(follow.summaries).toEqual(['a before']));
    deps.set('a', undefined);
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'a gone']));
    deps.set('a', again);
    again.emit(record('after', 2));
    await eventually(() => expect(follow.summaries).toEqual(['a before', 'a gone', 'a ok', 'a after']));
    expect(again.follows[0]?.start).toMatchObject({ cursor: expect.any(String), sinceMs: expect.any(Number) });
  });

  it('takes no more from members than it can hold while its reader is slow, and loses nothing', async () => {
    const a = new LiveLog();
    const total = 30_000;
    for (let at = 0; at < total; at += 100)
      a.emit(...Array.from({ length: 100 }, (_, index) => record(String(at + index), at + index)));
    const batches = followCluster(fakeCluster({ a }), { start: 'end' }, { windowMs: 0 });
    await batches.next();
    await eventually(() => expect(a.taken).toBeGreaterThanOrEqual(40));
    await new Promise(setImmediate);
    expect(a.taken).toBeLessThan(60);
    let next = 0;
    for await (const batch of batches) {
      for (const item of batch) expect(item).toMatchObject({ message: String(next++) });
      if (next === total) break;
    }
    expect(a.openStreams).toBe(0);
  });

  it('ends with an end when the signal fires, after the records it held back', async () => {
    const [a, b] = [new LiveLog(), new LiveLog()];
    const follow = collectFollow(fakeCluster({ a, b }), { windowMs: 60_000 });
    await follow.ready;
    a.emit(record('held', 1));
    await eventually(() => expect(a.taken).toBe(1));
    await follow.stop();
    expect(follow.summaries).toEqual(['a held', 'end']);
    expect([a.openStreams, b.openStreams]).toEqual([0, 0]);
  });

  it('throws the error of a request that no member accepts', async () => {
    const bad = new FakeNode({ follow: () => throws(new PortholeError('REGEX_INVALID', 'no')) });
    const follow = collectFollow(fakeCluster({ a: bad }));
    await expect(follow.ready).rejects.toMatchObject({ code: 'REGEX_INVALID' });
    await expect(collectFollow(fakeCluster({}), { query: { start: { cursor: 'c1' } } }).ready).rejects.toMatchObject({
      code: 'CURSOR_INVALID',
    });
  });
});

// biome-ignore lint/correctness/useYield: it yields nothing
async function* throws(error: unknown): AsyncGenerator<never, void, undefined> {
  throw error;
}
