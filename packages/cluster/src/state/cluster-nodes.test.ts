import { type ClusterNode, type NodeState, PortholeError } from '@porthole/contract';
import type { Histogram, HistogramQuery } from '@porthole/logs/types';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clusterNodes } from './cluster-nodes.ts';
import { type FakeCluster, fakeDeps, NOW_MS, profile } from './testing/fake-deps.ts';
import { description, end, fakeNode, file, hang, NODE } from './testing/fake-node.ts';

const MEMBERSHIP = { kind: 'static', state: 'ok', detail: null, asOfMs: NOW_MS } as const;

const ask = (cluster: FakeCluster) =>
  clusterNodes({ ...fakeDeps(cluster), cluster: 'test', membership: { state: MEMBERSHIP } });

const counting = (counts: Histogram['buckets'][number]['counts']): Histogram => {
  const { type: _type, cursor: _cursor, ...rest } = end();
  return { bucketMs: 1, buckets: [{ startMs: 0, counts }], untimed: 0, end: rest };
};

function healthy(given: Partial<NodeState> = {}): NodeState {
  return fakeNode({
    describe: async () => description(),
    logFiles: async () => [file({ lastTimeMs: 7000 }), file({ lastTimeMs: 9000 }), file({ lastTimeMs: null })],
    logHistogram: async () => counting({ ERROR: 2, FATAL: 1 }),
    ...given,
  });
}

describe('a member', () => {
  it('that responds is up, with its own description in the time of this node', async () => {
    const clocks = { a: { offsetMs: 1000, uncertaintyMs: 3 } };
    const { cluster, membership, nodes } = await ask({ states: { a: healthy() }, clocks });
    expect([cluster, membership]).toEqual(['test', MEMBERSHIP]);
    expect(nodes).toMatchObject([
      {
        id: 'a',
        state: 'up',
        report: { outcome: 'ok' },
        clock: clocks.a,
        timeZone: 'Europe/Berlin',
        uptimeMs: 5000,
        lastRecordMs: 8000,
        recentErrors: 3,
        lastSeenMs: NOW_MS,
      },
    ]);
  });

  it('that is still counting is listed without what it has not counted, however long it may take', async () => {
    const [logFiles, logHistogram] = [hang, hang];
    const { nodes } = await ask({ states: { a: healthy({ logHistogram, logFiles }) }, timeoutMs: 2 ** 30 });
    expect(nodes).toMatchObject([
      { id: 'a', state: 'up', report: { outcome: 'ok' }, uptimeMs: 5000, lastRecordMs: null, recentErrors: null },
    ]);
  });

  it('that is still counting delays the list no longer where there are hundreds of them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const busy = healthy({ logHistogram: hang, logFiles: hang });
    const states = Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`m${number}`, busy]));
    let listed: ClusterNode[] = [];
    void ask({ states, timeoutMs: 2 ** 30 }).then(({ nodes }) => {
      listed = nodes;
    });
    // Four at a time: fifty rounds, each of which waited 600 ms.
    await vi.advanceTimersByTimeAsync(4000);
    expect(listed).toHaveLength(200);
    for (const node of listed) expect(node).toMatchObject({ state: 'up', uptimeMs: 5000, recentErrors: null });
  });

  it('that ships to the archive is listed with its lag, unless it sends nonsense', async () => {
    const shipping = (lagMs: number) =>
      healthy({
        describe: async () => ({
          ...description(),
          archive: { lagMs, lagBytes: 2048, shippedRecords: 5, lostBytes: 0, problem: null },
        }),
      });
    const { nodes } = await ask({ states: { a: shipping(3000), b: shipping(-1), c: healthy() } });
    expect(nodes.map(({ archive }) => archive)).toEqual([
      { lagMs: 3000, lagBytes: 2048, lostBytes: 0 },
      undefined,
      undefined,
    ]);
  });

  it('whose clock is off is queried for the errors of its own last fifteen minutes', async () => {
    const asked: HistogramQuery[] = [];
    const logHistogram = async (query: HistogramQuery) => {
      asked.push(query);
      return counting({});
    };
    await ask({ states: { a: healthy({ logHistogram }) }, clocks: { a: { offsetMs: 1000.4, uncertaintyMs: 3 } } });
    expect(asked).toMatchObject([{ minLevel: 'ERROR', fromMs: NOW_MS + 1000 - 900_000, toMs: NOW_MS + 1000 }]);
  });

  it('that is contract-only is up, and the rest is not known', async () => {
    const state = fakeNode({ config: async () => ({ config: '', node: { ...NODE, version: '0.4.1' } }) });
    const { nodes } = await ask({ states: { lindb: state } });
    expect(nodes).toMatchObject([
      { state: 'up', node: { version: '0.4.1' }, timeZone: null, lastRecordMs: null, recentErrors: null },
    ]);
  });

  it.each<[string, Partial<NodeState>, object]>([
    [
      'cannot list its files',
      { logFiles: () => Promise.reject(new PortholeError('LOG_FILE_UNREADABLE', 'no')) },
      { lastRecordMs: null, recentErrors: 3 },
    ],
    ['lists for ever', { logFiles: hang }, { lastRecordMs: null, recentErrors: 3 }],
    ['counts for ever', { logHistogram: hang }, { lastRecordMs: 9000, recentErrors: null }],
    [
      'counts only a part',
      { logHistogram: async () => ({ ...counting({ ERROR: 1 }), end: { ...end(), reason: 'time budget' } }) },
      { lastRecordMs: 9000, recentErrors: null },
    ],
    [
      'sends nonsense',
      { logFiles: () => Promise.reject(new PortholeError('BAD_ANSWER', 'no list')) },
      { lastRecordMs: null, recentErrors: 3 },
    ],
  ])('that %s is up all the same', async (_what, odd, expected) => {
    const { nodes } = await ask({ states: { a: healthy(odd) }, timeoutMs: 100 });
    expect(nodes).toMatchObject([{ state: 'up', ...expected }]);
  });

  it('is not shown as up by a mistake in this program, which is reported', async () => {
    const { nodes } = await ask({ states: { a: healthy({ logFiles: async () => undefined as never }), b: healthy() } });
    expect(nodes).toMatchObject([
      { id: 'a', report: { outcome: 'failed', detail: expect.stringMatching(/^INTERNAL: Cannot read properties/) } },
      { id: 'b', state: 'up' },
    ]);
  });

  it('that does not respond is unreachable, and costs the others nothing', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const refused = fakeNode({
      describe: () => Promise.reject(new PortholeError('UNREACHABLE', 'refused', { cause })),
    });
    const states = { a: healthy(), b: fakeNode({ describe: hang }), c: refused };
    const heard = profile('b', {
      files: [file({ lastTimeMs: 5000 })],
      clock: { offsetMs: 100, uncertaintyMs: 1 },
    });
    const { nodes } = await ask({ states, profiles: [heard], timeoutMs: 50 });
    expect(nodes).toMatchObject([
      { id: 'a', state: 'up' },
      {
        id: 'b',
        state: 'unreachable',
        report: { outcome: 'timeout' },
        lastSeenMs: NOW_MS - 60_000,
        lastRecordMs: 4900,
      },
      { id: 'c', state: 'unreachable', report: { outcome: 'refused' }, lastSeenMs: null, lastRecordMs: null },
    ]);
  });

  it('that has left is listed as long as its profile is kept', async () => {
    const { nodes } = await ask({ states: { b: healthy() }, profiles: [profile('a')] });
    expect(nodes).toMatchObject([
      { id: 'a', state: 'failed', report: { outcome: 'gone', asOfMs: NOW_MS - 60_000 }, lastSeenMs: NOW_MS - 60_000 },
      { id: 'b', state: 'up' },
    ]);
  });
});
