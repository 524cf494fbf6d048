import type { ClusterEnd, ClusterRecord } from '@porthole/contract';
import { codeOf, PortholeError } from '@porthole/contract';
import { isBatch, toItems } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { endItem, FakeNode, notSupported, record, recordsAt, silence } from '../../testing/fake-node.ts';
import { searchCluster } from './cluster-search.ts';
import type { ClusterSearch } from './search-members.ts';

const ASKED: ClusterSearch = { order: 'newest', limit: 1000, before: 0, after: 0 };
const MINUTE = 60_000;

/** What really happened when: each says the times as its own clock showed them. */
function skewedCluster(order: 'newest' | 'oldest') {
  const offsets = { a: 0, b: 7 * MINUTE, c: -13 * MINUTE };
  const truth = Array.from({ length: 60 }, (_, index) => 1_000_000_000 + index * 1000);
  const states = Object.entries(offsets).map(([id, offsetMs], lane) => {
    const own = truth
      .filter((_, index) => index % 3 === lane)
      .map((timeMs) => record(String(timeMs), timeMs + offsetMs));
    return [id, new FakeNode({ records: own.map((item, index) => ({ ...item, cursor: `c${index}` })) })] as const;
  });
  const clocks = Object.fromEntries(
    Object.entries(offsets).map(([id, offsetMs]) => [id, { offsetMs, uncertaintyMs: 10 }]),
  );
  const expected = truth.map(String);
  return {
    parts: fakeCluster(Object.fromEntries(states), { clocks }),
    expected: order === 'newest' ? expected.reverse() : expected,
  };
}

describe('a search of the cluster', () => {
  it.each(['newest', 'oldest'] as const)(
    'returns records in their true order, %s first, whatever the clocks say',
    async (order) => {
      const { parts: deps, expected } = skewedCluster(order);
      const { messages, records, end } = await collectResponse(searchCluster(deps, { ...ASKED, order }));
      expect(messages).toEqual(expected);
      expect(records.map(({ atMs }) => String(atMs))).toEqual(expected);
      expect(records.some(({ isUnsure }) => isUnsure)).toBe(false);
      expect(end).toMatchObject({ reason: 'exhausted', records: 60, scannedBytes: 30, cursor: null });
      expect(end.members.map(({ id, outcome, count }) => [id, outcome, count])).toEqual([
        ['a', 'ok', 20],
        ['b', 'ok', 20],
        ['c', 'ok', 20],
      ]);
    },
  );

  it('reports the time that a member took itself, not that of the slowest', async () => {
    const fast = new FakeNode({ records: recordsAt('f', [10, 20, 30, 40, 50, 60]), batchRecords: 2 });
    const slow = new FakeNode({ search: (_query, { signal }) => silence(signal) });
    const deps = fakeCluster({ fast, slow }, { limits: { firstBatchMs: 500 } });
    const { end } = await collectResponse(searchCluster(deps, { ...ASKED, limit: 1 }));
    const [own = 0, longest = 0] = end.members.map(({ elapsedMs }) => elapsedMs);
    expect(own).toBeLessThan(longest);
  });

  it('lists the files that members left out as copies, and nothing else that they send there', async () => {
    const copy = { file: 'a.log.1.gz', sameAs: 'a.log.1' };
    const sending = (duplicates: unknown) =>
      new FakeNode({
        async *search() {
          yield [endItem({ duplicates } as Parameters<typeof endItem>[0])];
        },
      });
    const many = Array.from({ length: 1000 }, (_, number) => ({ file: `${number}`, sameAs: 'a.log' }));
    const states = {
      a: sending([{ ...copy, node: 'b', more: 1 }]),
      b: new FakeNode(),
      c: sending([null, 1, { file: 1 }]),
    };
    const { end } = await collectResponse(searchCluster(fakeCluster({ ...states, d: sending('x') }), ASKED));
    expect(end.duplicates).toEqual([{ node: 'a', ...copy }]);
    expect(
      (await collectResponse(searchCluster(fakeCluster({ a: sending(many) }), ASKED))).end.duplicates,
    ).toHaveLength(100);
    expect((await collectResponse(searchCluster(fakeCluster({ b: states.b }), ASKED))).end).not.toHaveProperty(
      'duplicates',
    );
  });

  it('requests times by the clock of each member', async () => {
    const node = new FakeNode();
    const deps = fakeCluster({ a: node }, { clocks: { a: { offsetMs: 5000.4, uncertaintyMs: 1 } } });
    await collectResponse(
      searchCluster(deps, { ...ASKED, fromMs: 100, toMs: 200, start: { timeMs: 150 }, nodes: ['a*'], role: 'node' }),
    );
    expect(node.searches).toEqual([{ ...ASKED, fromMs: 5100, toMs: 5200, start: { timeMs: 5150 } }]);
  });

  it('marks neighbours of different members that are closer than their clocks are known', async () => {
    const clocks = { a: { offsetMs: 0, uncertaintyMs: 2 }, b: { offsetMs: 0, uncertaintyMs: 3 } };
    const deps = fakeCluster(
      {
        a: new FakeNode({ records: recordsAt('a', [100, 101, 200]) }),
        b: new FakeNode({ records: recordsAt('b', [105, 300]) }),
      },
      { clocks },
    );
    const { records } = await collectResponse(searchCluster(deps, { ...ASKED, order: 'oldest' }));
    expect(records.map(({ message, isUnsure }) => [message, isUnsure])).toEqual([
      ['a0', undefined],
      ['a1', undefined],
      ['b0', true],
      ['a2', undefined],
      ['b1', undefined],
    ]);
  });

  it('reports a member that does not respond as a timeout, and returns the records of the others', async () => {
    const dead = new FakeNode({ search: (_query, { signal }) => silence(signal) });
    const deaf = new FakeNode({ search: () => silence() });
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [1, 2]) }), dead, deaf },
      { limits: { firstBatchMs: 30, memberTimeoutMs: 60_000 } },
    );
    const { messages, end } = await collectResponse(searchCluster(deps, ASKED));
    expect(messages).toEqual(['a1', 'a0']);
    expect(end.members.map(({ outcome }) => outcome)).toEqual(['ok', 'timeout', 'timeout']);
    expect(end.cursor).toBeNull();
    expect(dead.openStreams).toBe(0);
  });

  it('waits for a member that has been seen lately, and says of one that it is slow', async () => {
    const late: FakeNode = new FakeNode({
      records: recordsAt('late', [10]),
      search: async function* (query) {
        await new Promise((resolve) => setTimeout(resolve, 300)); // pause: longer than first records are waited for
        yield* late.respond(query);
      },
    });
    const slow = new FakeNode({ search: (_query, { signal }) => silence(signal) });
    const limits = { firstBatchMs: 100, memberTimeoutMs: 1500 };
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [15]) }), late, slow },
      { limits, alive: ['late', 'slow'] },
    );
    const { messages, end } = await collectResponse(searchCluster(deps, { ...ASKED, order: 'oldest' }));
    expect(messages).toEqual(['late0', 'a0']);
    expect(end.members).toMatchObject([
      { id: 'a', outcome: 'ok' },
      { id: 'late', outcome: 'ok', count: 1 },
      { id: 'slow', outcome: 'slow', count: 0 },
    ]);
    expect(end.coverage).toMatchObject({ isComplete: false, missing: [{ node: 'slow', reason: 'slow' }] });
  });

  it('ends where the request to a member that has been seen lately was given up', async () => {
    const given = fakeCluster(
      {
        a: new FakeNode({ records: recordsAt('a', [15]) }),
        slow: new FakeNode({ search: () => throws(new PortholeError('DEADLINE_EXCEEDED', 'sent no byte')) }),
      },
      { alive: ['slow'] },
    );
    const deps = { ...given, directory: { ...given.directory, has: () => true } };
    const { messages, end } = await collectResponse(searchCluster(deps, ASKED));
    expect(messages).toEqual(['a0']);
    expect(end.members).toMatchObject([{ outcome: 'ok' }, { id: 'slow', outcome: 'slow', detail: 'sent no byte' }]);
  });

  it('returns the records of a late member after the others, in its own order', async () => {
    let release = () => {};
    const isAllowed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: FakeNode = new FakeNode({
      records: recordsAt('slow', [10, 20]),
      async *search(query) {
        yield [];
        await isAllowed;
        yield* slow.respond(query);
      },
    });
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [15, 16]) }), slow },
      { limits: { firstBatchMs: 20 } },
    );
    const emitted: string[] = [];
    for await (const batch of toItems<ClusterRecord, ClusterEnd>(searchCluster(deps, { ...ASKED, order: 'oldest' }))) {
      for (const item of batch) if (item.type === 'record') emitted.push(`${item.message}${item.isUnsure ? '?' : ''}`);
      if (emitted.length === 2) release();
    }
    expect(emitted).toEqual(['a0', 'a1', 'slow0?', 'slow1']);
  });

  it('drops a member that stalls within its records, and keeps those it has sent', async () => {
    const stalling = new FakeNode({
      async *search(_query, { signal }) {
        yield recordsAt('s', [50]);
        yield* silence(signal);
      },
    });
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [10, 60, 70]) }), s: stalling },
      { limits: { memberTimeoutMs: 40 } },
    );
    const { messages, end } = await collectResponse(searchCluster(deps, { ...ASKED, order: 'oldest' }));
    expect(messages).toEqual(['a0', 's0', 'a1', 'a2']);
    expect(end.members[1]).toMatchObject({ id: 's', outcome: 'timeout', count: 1 });
  });

  it('reports members that fail at once, break off or lack the operation', async () => {
    const states = {
      auth: new FakeNode({ search: () => throws(new PortholeError('UNAUTHENTICATED', 'a token is needed')) }),
      broken: new FakeNode({
        async *search() {
          yield recordsAt('b', [5]);
          throw new PortholeError('INTERNAL', 'it broke');
        },
      }),
      endless: new FakeNode({
        async *search() {
          for (let index = 0; ; index++) yield recordsAt('e', [1e6 + index]);
        },
      }),
      lindb: new FakeNode({ search: () => throws(notSupported()) }),
      short: new FakeNode({ search: () => gives([record('x', 3)]) }),
      well: new FakeNode({ records: recordsAt('w', [1, 2]) }),
    };
    const deps = fakeCluster(states);
    const { messages, end } = await collectResponse(searchCluster(deps, { ...ASKED, order: 'oldest', limit: 10 }));
    expect(messages.slice(0, 4)).toEqual(['w0', 'w1', 'x', 'b0']);
    expect(Object.fromEntries(end.members.map(({ id, outcome }) => [id, outcome]))).toEqual({
      auth: 'auth',
      broken: 'failed',
      endless: 'ok',
      lindb: 'not supported',
      short: 'failed',
      well: 'ok',
    });
    expect(Object.values(states).map(({ openStreams }) => openStreams)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('is fine where some members have no such log, and throws where none has', async () => {
    const missing = () =>
      new FakeNode({ search: () => throws(new PortholeError('LOG_FILE_NOT_FOUND', 'no log file named "x"')) });
    const well = new FakeNode({ records: recordsAt('w', [1]) });
    const { end } = await collectResponse(
      searchCluster(fakeCluster({ a: missing(), w: well }), { ...ASKED, src: ['=x'] }),
    );
    expect(end.members.map(({ outcome, count }) => [outcome, count])).toEqual([
      ['ok', 0],
      ['ok', 1],
    ]);
    const nowhere = collectResponse(
      searchCluster(fakeCluster({ a: missing(), b: missing() }), { ...ASKED, src: ['=x'] }),
    );
    await expect(nowhere).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  });

  it('throws the error of an invalid request before it returns anything', async () => {
    const bad = new FakeNode({ search: () => throws(new PortholeError('REGEX_INVALID', 'no')) });
    const first = searchCluster(fakeCluster({ a: bad, b: bad }), ASKED).next();
    await expect(first).rejects.toMatchObject({ code: 'REGEX_INVALID' });
    const refused = [{ start: { record: 'c1' } }, { start: { offset: 1 }, src: ['=a'] }, { until: 'c1' }];
    for (const part of refused) {
      const response = collectResponse(searchCluster(fakeCluster({}), { ...ASKED, ...part }));
      expect(await response.then(() => 'ok', codeOf)).toBe('PARAMETER_INVALID');
    }
  });

  it('closes all streams when its reader leaves, and when the signal fires', async () => {
    const nodes = Array.from(
      { length: 5 },
      (_, index) => new FakeNode({ records: recordsAt(`n${index}`, range(500)) }),
    );
    const waiting = new FakeNode({
      async *search(_query, { signal }) {
        yield [];
        yield* silence(signal);
      },
    });
    const deps = fakeCluster(Object.fromEntries([...nodes, waiting].map((node, index) => [`n${index}`, node])), {
      limits: { firstBatchMs: 20 },
    });
    for await (const item of searchCluster(deps, ASKED)) if (isBatch(item) && item.ends.length > 0) break;
    expect([...nodes, waiting].map(({ openStreams }) => openStreams)).toEqual([0, 0, 0, 0, 0, 0]);

    const controller = new AbortController();
    const response = (async () => {
      for await (const item of searchCluster(deps, ASKED, { signal: controller.signal }))
        if (isBatch(item) && item.ends.length > 0) controller.abort(new Error('enough'));
    })();
    await expect(response).rejects.toThrow('enough');
    expect([...nodes, waiting].map(({ openStreams }) => openStreams)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('opens no more members at a time than it may', async () => {
    let [open, most] = [0, 0];
    const search = async function* () {
      most = Math.max(most, ++open);
      await new Promise(setImmediate);
      open--;
      yield [record('x', 1), endItem()];
    };
    const states = Array.from({ length: 20 }, (_, index) => [`n${index}`, new FakeNode({ search })]);
    const { end } = await collectResponse(
      searchCluster(fakeCluster(Object.fromEntries(states), { limits: { maxParallel: 3 } }), ASKED),
    );
    expect([end.records, most]).toEqual([20, 3]);
  });

  it('of no member is a response, too', async () => {
    const { end } = await collectResponse(
      searchCluster(fakeCluster({ a: new FakeNode() }), { ...ASKED, role: 'broker' }),
    );
    expect(end).toMatchObject({ reason: 'exhausted', records: 0, members: [], cursor: null });
  });
});

// biome-ignore lint/correctness/useYield: it yields nothing
async function* throws(error: unknown): AsyncGenerator<never, void, undefined> {
  throw error;
}

async function* gives<T>(...batches: T[]): AsyncGenerator<T, void, undefined> {
  yield* batches;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
