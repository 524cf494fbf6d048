import type { ClusterNode, MemberReport } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import type { ShownEvent } from '../../events/event-text.ts';
import type { ErrorStrip } from '../nodes/error-counts.ts';
import { clusterNode } from '../nodes/testing/cluster-node.ts';
import { countsText, headline, subline } from './headline.ts';

const nowMs = Date.UTC(2026, 10, 15, 3, 20);

const down: ClusterNode = {
  ...clusterNode('storage-3'),
  state: 'unreachable',
  lastSeenMs: Date.UTC(2026, 10, 15, 3, 15, 42),
};

const report = (id: string, given: Partial<MemberReport> = {}): MemberReport => ({
  ...{ id, outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null, ...given },
});

const strip = (errors: Record<string, number>, members = Object.keys(errors).map((id) => report(id))): ErrorStrip => ({
  range: { fromMs: 0, toMs: 1, bucketMs: 1, count: 1 },
  byNode: new Map(Object.entries(errors).map(([id, count]) => [id, { cells: [count], errors: count }])),
  most: 1,
  members,
});

const burst = (node: string): ShownEvent => ({
  ...{ key: node, kind: 'log-burst', timeMs: Date.UTC(2026, 10, 15, 3, 12, 8), node, title: '', detail: null },
  ...{ icon: 'rise', tone: 'err', fields: {} },
});

const say = (nodes: ClusterNode[], counts: ErrorStrip | null, events: ShownEvent[] = []) => {
  const text = countsText(counts, { nodes: nodes.length, when: 'in the last hour' });
  const parts = headline({ nodes, names: new Map(), events, strip: counts, zone: 'utc' }, text);
  return parts.map((part) => `${part.about}: ${part.text}`);
};

describe('the headline', () => {
  const [a, b] = [clusterNode('a'), clusterNode('b')];

  it('says what is wrong, and since when', () => {
    expect(say([a, down], strip({ a: 3 }), [burst('a')])).toEqual([
      'nodes: storage-3 is down',
      'errors: errors rose on a at 03:12',
    ]);
    expect(say([a, b], strip({ a: 3 }), [burst('a'), burst('b')])).toEqual(['errors: Errors rose on a and b at 03:12']);
    const rising = { ...strip({ a: 90 }), byNode: new Map([['a', { cells: [...Array(12).fill(0), 90], errors: 90 }]]) };
    expect(say([a, b], { ...rising, range: { fromMs: 0, toMs: 780_000, bucketMs: 60_000, count: 13 } })).toEqual([
      'errors: Errors rose on a at 00:12',
    ]);
    const news = { ...burst('a'), kind: 'new-pattern' } as const;
    expect(say([a, b], strip({ a: 3 }), [news])).toEqual(['errors: New errors began on a at 03:12']);
  });

  it('says what has happened and is over, in its order', () => {
    const killed = { ...burst('b'), kind: 'killed', timeMs: Date.UTC(2026, 10, 15, 3, 14) } as const;
    expect(say([a, b], strip({ a: 3 }), [killed, burst('a')])).toEqual([
      'errors: Errors rose on a at 03:12',
      'nodes: b was killed at 03:14',
    ]);
    expect(say([a, b], strip({ a: 3 }), [killed])).toEqual([
      'nodes: b was killed at 03:14',
      'errors: 3 errors on 1 node in the last hour',
    ]);
    const lost = { ...killed, kind: 'member-lost', node: 'storage-3' } as const;
    expect(say([a, down], strip({ a: 0 }), [lost])).toEqual([
      'nodes: storage-3 is down',
      'errors: no errors in the last hour',
    ]);
    expect(say([a, b], null, [killed, { ...lost, node: 'a' }])).toEqual(['nodes: b and a stopped responding at 03:14']);
  });

  it('says that nothing is wrong only of a complete answer', () => {
    expect(say([a, b], strip({ a: 0, b: 0 }))).toEqual([
      'calm: All 2 nodes are up',
      'errors: no errors in the last hour',
    ]);
    const members = [report('a'), report('b', { outcome: 'timeout' })];
    expect(say([a, b], strip({ a: 0, b: 0 }, members))).toEqual([
      'calm: All 2 nodes are up',
      'errors: no errors found on 1 of 2 nodes',
    ]);
    expect(say([a, b], strip({ a: 7, b: 0 }, members))).toEqual([
      'calm: All 2 nodes are up',
      'errors: at least 7 errors on 1 node in the last hour',
    ]);
    expect(say([a], null)).toEqual(['calm: 1 node is up']);
  });

  it('says nothing of nodes that were dismissed', () => {
    expect(say([a], strip({ a: 0 }), [burst('gone')])).toEqual([
      'calm: 1 node is up',
      'errors: no errors in the last hour',
    ]);
  });

  it('names a node once', () => {
    const [on, lost] = [burst('storage-3'), { ...burst('a'), kind: 'member-lost' } as const];
    expect(say([a, down], null, [on])).toEqual(['nodes: storage-3 is down', 'errors: errors rose on it at 03:12']);
    expect(say([a, b], null, [burst('a'), lost])).toEqual([
      'errors: Errors rose on a at 03:12',
      'nodes: it stopped responding at 03:12',
    ]);
  });

  it('counts nodes where there are many', () => {
    const many = ['x', 'y', 'z'].map((id): ClusterNode => ({ ...clusterNode(id), state: 'unreachable' }));
    expect(say([a, ...many], null)).toEqual(['nodes: 3 of 4 nodes are down']);
  });
});

it('the line below says who responded, and what is kept of those who did not', () => {
  const kept = report('storage-3', {
    ...{ outcome: 'refused', asOfMs: Date.UTC(2026, 10, 15, 3, 15, 41), recordedBy: 'a', missingMs: 300 },
  });
  expect(subline([clusterNode('a'), down], [kept], { names: new Map(), nowMs, zone: 'utc' })).toBe(
    '1 of 2 nodes responded · storage-3 is gone since 03:15:41, 4 min 18 s ago; recorded by a, until 03:15:41.000 (0.3 s before it was lost)',
  );
  expect(subline([clusterNode('a'), down], [], { names: new Map(), nowMs, zone: 'utc' })).toBe(
    '1 of 2 nodes responded · storage-3 last responded 03:15:42, 4 min 18 s ago',
  );
  expect(subline([clusterNode('a')], [], { names: new Map(), nowMs, zone: 'utc' })).toBe('Not part of a cluster');
});
