import { type ClusterRecord, type EventKind, kindsQuery, type NodeState, ofKinds, toEvent } from '@porthole/contract';
import type { SearchQuery } from '@porthole/logs/types';
import { expect, it } from 'vitest';
import { clusterEvents } from './cluster-events.ts';
import { joinFollow } from './joined-events.ts';
import { collectResponse } from './testing/collect-response.ts';
import { fakeCluster } from './testing/fake-cluster.ts';
import { LogDirNode } from './testing/log-dir-node.ts';

const T = Date.parse('2026-11-18T03:15:00Z');
const ASKED = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;
const RUN = T - 5_000_000;

/** A node with a log of events. */
class EventsNode extends LogDirNode {
  override events: NodeState['events'] = (request, options = {}) => this.logs.search(ofKinds(request), options);

  /** Times are after `T`, by its own clock. */
  add(kind: EventKind, atMs: number, fields: Record<string, unknown> = {}): void {
    const event = {
      time: new Date(T + atMs).toISOString(),
      level: 'INFO',
      message: `${kind} happened`,
      kind,
      ...fields,
    };
    this.append('events.log', `${JSON.stringify(event)}\n`);
  }

  lost(lastSignMs: number, firstFailureMs: number, { run = RUN }: { run?: number } = {}): void {
    const interval = { lastSignMs: T + lastSignMs, firstFailureMs: T + firstFailureMs };
    this.add('member-lost', firstFailureMs, { member: 'n3', run, ...interval });
  }
}

function threeNodes({ aheadMs = 0 }: { aheadMs?: number } = {}) {
  const nodes = { n1: new EventsNode(), n2: new EventsNode(), n3: new EventsNode() };
  const limits = { firstBatchMs: 60_000, memberTimeoutMs: 60_000 };
  const clocks = { n2: { offsetMs: aheadMs, uncertaintyMs: 1 } };
  return { ...nodes, deps: fakeCluster(nodes, { clocks, limits }) };
}

/** What is shown of a record. */
function shown(record: ClusterRecord) {
  const { kind, fields } = toEvent(record) ?? { kind: 'none', fields: {} };
  const { lastSignMs, firstFailureMs, uncertaintyMs, seenBy, reported } = fields as Record<string, number>;
  const interval = firstFailureMs !== undefined && [(lastSignMs ?? 0) - T, firstFailureMs - T, uncertaintyMs];
  return { node: record.node, kind, atMs: (record.atMs ?? 0) - T, ...(interval && { interval }), seenBy, reported };
}

async function read(deps: ReturnType<typeof fakeCluster>, asked: Partial<SearchQuery> = {}) {
  const { records, end } = await collectResponse(clusterEvents(deps, { ...ASKED, ...asked }));
  return { events: records.map(shown), records, end };
}

it('a loss that several nodes report is one event, with who saw it and the interval on which all agree', async () => {
  const { n1, n2, n3, deps } = threeNodes({ aheadMs: 60_000 });
  n1.add('config-changed', -5000);
  n1.lost(100, 2600);
  n2.lost(60_300, 60_900);
  // Reports of the node itself come with its return.
  n3.add('killed', 500, { run: RUN, pid: 9, uncertaintyMs: 2000, isReboot: false });
  n3.add('started', 9000);
  const { events, records, end } = await read(deps);
  expect(events).toEqual([
    { node: 'n1', kind: 'config-changed', atMs: -5000 },
    {
      ...{ node: 'n2', kind: 'member-lost', atMs: 900, seenBy: ['n2', 'n1'], reported: 'killed' },
      interval: [500, 900, 400],
    },
    { node: 'n3', kind: 'started', atMs: 9000 },
  ]);
  expect(records[1]?.message).toBe('member-lost happened; killed happened (seen by n2, n1)');
  expect(end).toMatchObject({ records: 3, reason: 'exhausted', cursor: null });
});

it('a failure before a sign of life that another node has seen is not the time of the loss', async () => {
  const { n1, n2, deps } = threeNodes();
  n1.lost(100, 500);
  n2.lost(800, 1200);
  expect((await read(deps)).events).toEqual([
    { node: 'n2', kind: 'member-lost', atMs: 1200, interval: [800, 1200, 400], seenBy: ['n1', 'n2'] },
  ]);
});

it('a node that stopped was not lost, whatever others took it for', async () => {
  const { n1, n2, n3, deps } = threeNodes();
  n1.lost(100, 700);
  n3.add('stopped', 650, { run: RUN });
  expect((await read(deps)).events).toEqual([{ node: 'n3', kind: 'stopped', atMs: 650, seenBy: ['n1'] }]);
  n2.add('member-left', 400, { member: 'n3', run: RUN, lastSignMs: T + 300 });
  expect((await read(deps)).events).toEqual([
    { node: 'n2', kind: 'member-left', atMs: 400, seenBy: ['n2', 'n1'], reported: 'stopped' },
  ]);
});

it('losses of different runs, or of one run at different times, are different events', async () => {
  const { n1, n2, deps } = threeNodes();
  for (const node of [n1, n2]) {
    node.lost(0, 4600);
    node.add('member-back', 8000, { member: 'n3', run: RUN, lastSignMs: T, isRestarted: false });
    node.lost(10_000, 14_600);
    node.lost(20_000, 24_000, { run: RUN + 1 });
  }
  const kinds = (await read(deps)).events.map(({ kind, seenBy }) => `${kind} ${seenBy}`);
  expect(kinds).toEqual(['member-lost n1,n2', 'member-back n1,n2', 'member-lost n1,n2', 'member-lost n1,n2']);
});

it('pages of any size, in both orders, have every event once', async () => {
  const { n1, n2, n3, deps } = threeNodes({ aheadMs: 700 });
  for (let index = 0; index < 5; index++) {
    const [atMs, run] = [index * 60_000, RUN + index];
    n1.lost(atMs + 100, atMs + 500 + ((index * 37) % 400), { run });
    n2.lost(atMs + 900, atMs + 1150, { run });
    n2.add('clock-stepped', atMs + 1200);
    if (index % 3 > 0) n3.add('killed', atMs + 300, { run, pid: index, uncertaintyMs: 2000 });
    n3.add('started', atMs + 30_000);
  }
  const all = await read(deps);
  expect(all.events).toHaveLength(15);
  for (const order of ['oldest', 'newest'] as const)
    for (const limit of [1, 3, 7]) {
      const found = [];
      let start: SearchQuery['start'];
      for (let page = 0; page < 40; page++) {
        const { events, end } = await read(deps, { order, limit, ...(start && { start }) });
        expect(events.length).toBe(end.records);
        if (end.cursor !== null) expect(events.length).toBe(limit);
        found.push(...events);
        if (end.cursor === null) break;
        start = { cursor: end.cursor };
      }
      expect(order === 'oldest' ? found : found.toReversed()).toEqual(all.events);
    }
});

it('the time of an event is that of the report that is shown, and filters apply to reports', async () => {
  const { n1, n2, n3, deps } = threeNodes();
  n1.lost(100, 2600);
  n2.lost(300, 900);
  n3.add('killed', 200, { run: RUN, uncertaintyMs: 2000 });
  const kindsIn = async (asked: Partial<SearchQuery>) =>
    (await read(deps, asked)).events.map(({ kind, node, seenBy }) => `${kind} ${node} ${seenBy}`);
  expect(await kindsIn({ fromMs: T + 1000 })).toEqual([]);
  expect(await kindsIn({ fromMs: T + 800, toMs: T + 1000 })).toEqual(['member-lost n2 n2,n1']);
  expect(await kindsIn({ query: kindsQuery(['killed']) })).toEqual(['killed n3 n2,n1']);
  expect(await kindsIn({ query: kindsQuery(['member-lost']) })).toEqual(['member-lost n2 n2,n1']);
  const only = await collectResponse(clusterEvents(deps, { ...ASKED, nodes: ['n1'] }));
  expect(only.records.map(shown)).toMatchObject([{ node: 'n1', kind: 'member-lost', atMs: 2600, seenBy: ['n1'] }]);
});

it('a follow emits the first report of a loss, and where the nodes of the others stand', async () => {
  const { n1, n2, n3, deps } = threeNodes();
  n1.lost(100, 2600);
  n2.lost(300, 900);
  n3.add('killed', 200, { run: RUN, uncertaintyMs: 2000 });
  n3.lost(100_000, 100_600);
  const nodes = ['n1', 'n2', 'n3'];
  const records = await Promise.all(
    nodes.map(async (id) => (await collectResponse(clusterEvents(deps, { ...ASKED, nodes: [id] }))).records),
  );
  const join = joinFollow();
  const items = records.flat().flatMap((record) => join([record]));
  expect(items.map((item) => ('node' in item ? `${item.type} ${item.node}` : item.type))).toEqual([
    'record n1',
    'position n2',
    'position n3',
    'record n3',
  ]);
});
