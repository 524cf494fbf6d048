import { once } from 'node:events';
import { type Member, type NodeState, PortholeError } from '@porthole/contract';
import { createZone, LogDir } from '@porthole/logs';
import { SHARED_THREADS } from '@porthole/logs/testing';
import type { FoundRecord } from '@porthole/logs/types';
import { batchOf, isBatch, recordsOf } from '@porthole/records';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RecordedNode } from '../../recorder/recorded-node.ts';
import { Recording } from '../../recorder/recording.ts';
import type { RecordedMember } from '../../recorder/recordings.ts';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode } from '../../testing/fake-node.ts';
import { LogDirNode, logLines } from '../../testing/log-dir-node.ts';
import { searchCluster } from './cluster-search.ts';
import type { ClusterSearch } from './search-members.ts';

const DAY_MS = Date.parse('2026-11-10T00:00:00Z');
const COUNT = 3000;

/** A member that refuses connections. */
const DEAD = new FakeNode({
  // biome-ignore lint/correctness/useYield: it yields nothing
  async *search() {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    throw new PortholeError('UNREACHABLE', 'connect ECONNREFUSED', { cause });
  },
});

/** A recording of everything that a node has in one log. */
async function recordAll(member: Member): Promise<RecordedMember> {
  const node = new LogDirNode();
  node.write(
    'app.log',
    logLines(
      'app',
      Array.from({ length: COUNT }, (_, index) => DAY_MS + 10 * index),
    ),
  );
  const recording = await Recording.open(tempDir(), { maxBytes: 1024 ** 3, maxMs: 3_600_000 });
  const query = { order: 'oldest', limit: COUNT, before: 0, after: 0, raw: true } as const;
  for await (const items of node.respond(query))
    await recording.append(items.filter((item): item is FoundRecord => item.type === 'record'));
  recording.facts = { ...recording.facts, zone: 'UTC', sinceMs: DAY_MS, asOfMs: DAY_MS + 10 * COUNT };
  const logs = new LogDir(recording.logDir, { zone: createZone('UTC'), threads: SHARED_THREADS });
  onTestFinished(() => logs.close());
  const state = new RecordedNode({ id: 'b', recording, profile: undefined, logs, label: 'recorded' });
  const facts = { departed: null, clock: null, asOfMs: DAY_MS, missingMs: 1, recordedBy: 'a', lastRecordMs: null };
  return { ...facts, member, label: 'recorded by a', state };
}

/** A cluster of one member that is dead. `change` stands between the search and its recording. */
async function deadMember(change: (state: NodeState) => NodeState['search']) {
  const deps = fakeCluster({ b: DEAD }, { limits: { firstBatchMs: 60_000, memberTimeoutMs: 60_000 } });
  const recorded = await recordAll(deps.peers.get('b').member);
  const state: NodeState = Object.assign(Object.create(recorded.state), { search: change(recorded.state) });
  const directory = { ...deps.directory, has: () => true, find: async () => ({ ...recorded, state }) };
  return { ...deps, directory };
}

/** Each way in which a recording may send its records and its end. */
const WAYS: [string, (state: NodeState) => NodeState['search']][] = [
  ['as it sends them', (state) => state.search.bind(state)],
  [
    'the end of each response later than the page waits for it',
    (state) =>
      async function* (query, options) {
        for await (const item of state.search(query, options)) {
          if (!isBatch(item) && item.cursor !== null) await once(options?.signal as AbortSignal, 'abort');
          yield item;
        }
      },
  ],
  [
    'one record at a time',
    (state) =>
      async function* (query, options) {
        for await (const item of state.search(query, options)) {
          if (!isBatch(item)) yield item;
          else for (const each of recordsOf<FoundRecord>(item)) yield batchOf([each]);
        }
      },
  ],
];

describe.each(WAYS)('the pages of a recording, %s', (_way, change) => {
  it.each(['newest', 'oldest'] as const)('%s first have every record once, whatever their size', async (order) => {
    const deps = await deadMember(change);
    const all = Array.from({ length: COUNT }, (_, index) => `app-${index}`);
    const expected = order === 'newest' ? all.toReversed() : all;
    for (const limit of [250, 333, 500, 1000, 1024, COUNT - 1, COUNT, COUNT + 1]) {
      const query: ClusterSearch = { order, limit, before: 0, after: 0 };
      const messages: string[] = [];
      for (let asked = query; ; ) {
        const { records, end } = await collectResponse(searchCluster(deps, asked));
        messages.push(...records.map(({ message }) => message));
        expect(end.members[0]).toMatchObject({ outcome: 'refused', recordedBy: 'a', isPartial: true });
        if (end.cursor === null) break;
        expect(end.reason).toBe('limit');
        asked = { ...query, start: { cursor: end.cursor } };
      }
      expect({ limit, messages }).toEqual({ limit, messages: expected });
    }
  });
});

it('a recording that cannot be read says so, and is not taken for one that ends there', async () => {
  const deps = await deadMember(
    (state) =>
      async function* (query, options) {
        for await (const item of state.search({ ...query, limit: 10 }, options)) if (isBatch(item)) yield item;
        throw new PortholeError('UNREACHABLE', 'its disk is gone');
      },
  );
  const { end } = await collectResponse(searchCluster(deps, { order: 'newest', limit: 100, before: 0, after: 0 }));
  expect(end.cursor).not.toBeNull();
  expect(end.members[0]?.detail).toMatch(/ECONNREFUSED; recorded by a, which could not be read: .*its disk is gone/);
});
