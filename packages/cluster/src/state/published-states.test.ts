import type { NodeProblem } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { StateKeys } from '../membership/membership.ts';
import { clusterNodes } from './cluster-nodes.ts';
import { encodeState, PublishedStates, readState, recentFacts } from './published-states.ts';
import { fakeDeps, NOW_MS } from './testing/fake-deps.ts';
import { description, end, fakeNode, file, NODE } from './testing/fake-node.ts';

const FACTS = {
  node: NODE,
  timeZone: 'UTC',
  uptimeMs: 1000,
  lastRecordMs: NOW_MS - 5,
  recentErrors: 3,
  problems: [] as NodeProblem[],
};
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('a published state', () => {
  it('is some 200 bytes, and read as it was written', () => {
    const archive = { lagMs: 3000, lagBytes: 12, lostBytes: 0 };
    const text = encodeState(
      { ...FACTS, problems: [{ check: 'configuration', detail: 'no such file' }], archive },
      NOW_MS,
    );
    expect(text.length).toBeLessThan(300);
    expect(readState(bytes(text))).toEqual({
      ...{ onlineTime: NODE.onlineTime, atMs: NOW_MS, timeZone: 'UTC', uptimeMs: 1000, lastRecordAgeMs: 5 },
      ...{ recentErrors: 3, problems: [{ check: 'configuration', detail: 'no such file' }], archive },
    });
  });

  it('of anybody else is bounded, and has nothing that a terminal acts on', () => {
    const problem = { check: '\u001b[31m'.repeat(100), detail: 'y\n'.repeat(1000) };
    const value = { onlineTime: 1, atMs: 2, timeZone: 'z'.repeat(9999), problems: Array(8).fill(problem) };
    const state = readState(bytes({ ...value, recentErrors: -1, uptimeMs: '7', archive: { lagMs: -1 } }));
    expect(JSON.stringify(state).length).toBeLessThan(700);
    expect(JSON.stringify(state)).not.toMatch(/\\u001b|\\n/);
    expect(state).toMatchObject({ recentErrors: null, uptimeMs: null, lastRecordAgeMs: null });
    expect(state).not.toHaveProperty('archive');
  });

  it.each([
    '',
    'no JSON',
    '[]',
    'null',
    { onlineTime: 1 },
    { onlineTime: -1, atMs: 1 },
    { onlineTime: 1, atMs: 2 ** 60 },
  ])('that is invalid is none: %j', (value) => {
    expect(readState(bytes(value))).toBeUndefined();
  });

  it('counts by the clock of this node, for two and a half minutes', () => {
    const state = readState(bytes(encodeState(FACTS, NOW_MS + 500_000)));
    const at = (nowMs: number) => state && recentFacts(state, { offsetMs: 500_000, nowMs });
    expect(at(NOW_MS + 40_000)).toMatchObject({
      asOfMs: NOW_MS,
      facts: { uptimeMs: 41_000, lastRecordMs: NOW_MS - 500_005, recentErrors: 3 },
    });
    expect(at(NOW_MS - 100)).toMatchObject({ asOfMs: NOW_MS - 100, facts: { uptimeMs: 1000 } });
    expect([at(NOW_MS + 150_001), at(NOW_MS - 60_001)]).toEqual([undefined, undefined]);
  });
});

describe('a list of many members', () => {
  const state = (given: object = {}) => ({ ...FACTS, ...given });
  const setUp = (values: Record<string, string>, { hasFailed = [] as string[], isLarge = true } = {}) => {
    const contacted: string[] = [];
    const ids = ['a', 'b', 'c'];
    const member = (id: string) =>
      fakeNode({
        describe: async () => {
          contacted.push(id);
          return description();
        },
        logFiles: async () => [file({ lastTimeMs: 7000 })],
        logHistogram: async () => ({ bucketMs: 1, buckets: [], untimed: 0, end: end() }),
      });
    const deps = fakeDeps({ states: Object.fromEntries(ids.map((id) => [id, member(id)])) });
    for (const peer of deps.peers.all()) Object.assign(peer, { hasFailed: hasFailed.includes(peer.member.id) });
    let reads = 0;
    const keys: StateKeys = {
      publish: () => {},
      read: async () => {
        reads++;
        return new Map(Object.entries(values).map(([id, text]) => [id, bytes(text)]));
      },
    };
    const states = new PublishedStates({
      keys,
      self: member('self'),
      selfId: 'self',
      isLarge: () => isLarge,
      timeoutMs: 1000,
      report: () => {},
      nowMs: () => NOW_MS,
    });
    const membership = { state: { kind: 'etcd', state: 'ok', detail: null, asOfMs: NOW_MS } } as const;
    const list = () => clusterNodes({ ...deps, cluster: 'test', membership, states });
    return { list, contacted, reads: () => reads };
  };

  it('comes from one read, for seconds, with the age of each row; members without a valid state are contacted', async () => {
    const { list, contacted, reads } = setUp({ a: encodeState(state(), NOW_MS - 20_000), b: '{}', z: '{}' });
    const { nodes } = await list();
    expect(nodes.map(({ id, state: shown, asOfMs }) => [id, shown, asOfMs])).toEqual([
      ['a', 'up', NOW_MS - 20_000],
      ['b', 'up', undefined],
      ['c', 'up', undefined],
    ]);
    expect(nodes[0]).toMatchObject({
      recentErrors: 3,
      node: NODE,
      lastSeenMs: NOW_MS - 20_000,
      report: { outcome: 'ok' },
    });
    expect(contacted).toEqual(['b', 'c']);
    await list();
    expect(reads()).toBe(1);
  });

  it.each([
    ['is of another run', encodeState(state({ node: { ...NODE, onlineTime: 1 } }), NOW_MS), []],
    ['is old', encodeState(state(), NOW_MS - 200_000), []],
    ['is of a member that did not respond to this node', encodeState(state(), NOW_MS), ['a']],
  ])('does not use a state that %s', async (_what, text, hasFailed) => {
    const { list, contacted } = setUp({ a: text }, { hasFailed });
    await list();
    expect(contacted).toContain('a');
  });

  it('of few members is always fresh', async () => {
    const { list, contacted, reads } = setUp({ a: encodeState(state(), NOW_MS) }, { isLarge: false });
    await list();
    expect([contacted, reads()]).toEqual([['a', 'b', 'c'], 0]);
  });
});

it('a node publishes its state again when a check fails, and its counts once a minute', async () => {
  const published: string[] = [];
  let problems: NodeProblem[] = [];
  const self = fakeNode({
    describe: async () => ({ ...description(), problems }),
    logFiles: async () => [file({ lastTimeMs: NOW_MS - 100 })],
    logHistogram: async () => ({
      bucketMs: 1,
      buckets: [{ startMs: 0, counts: { ERROR: 2 } }],
      untimed: 0,
      end: end(),
    }),
  });
  const keys: StateKeys = { publish: (value) => published.push(value), read: async () => new Map() };
  const states = new PublishedStates({
    keys,
    self,
    selfId: 'self',
    isLarge: () => true,
    timeoutMs: 1000,
    report: () => {},
    nowMs: () => NOW_MS,
  });
  await states.renew();
  await states.renew();
  expect(published).toHaveLength(1);
  problems = [{ check: 'log directory', detail: 'gone' }];
  await states.renew();
  expect(published.map((text) => readState(bytes(text)))).toMatchObject([
    { recentErrors: 2, lastRecordAgeMs: 100, problems: [] },
    { problems },
  ]);
});
