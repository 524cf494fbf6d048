import type { ClusterNode, MemberReport } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import type { ShownEvent } from '../../events/event-text.ts';
import type { ErrorStrip } from '../nodes/error-counts.ts';
import { clusterNode } from '../nodes/testing/cluster-node.ts';
import { headline, subline } from './headline.ts';

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
  const said = headline({ nodes, names: new Map(), strip: counts, events, when: 'in the last hour', zone: 'utc' });
  return `[${said.alarm}]${said.between}(${said.errors})`;
};

describe('the headline', () => {
  const [a, b] = [clusterNode('a'), clusterNode('b')];

  it('says what is wrong, and since when', () => {
    expect(say([a, down], strip({ a: 3 }), [burst('a')])).toBe('[storage-3 is down], and (errors rose on a at 03:12)');
    expect(say([a, b], strip({ a: 3 }), [burst('a'), burst('b')])).toBe('[](Errors rose on a and b at 03:12)');
  });

  it('says that nothing is wrong only of a complete answer', () => {
    expect(say([a, b], strip({ a: 0, b: 0 }))).toBe('[]All 2 nodes are up, (no errors in the last hour)');
    const members = [report('a'), report('b', { outcome: 'timeout' })];
    expect(say([a, b], strip({ a: 0, b: 0 }, members))).toBe('[]All 2 nodes are up, (no errors found on 1 of 2 nodes)');
    expect(say([a, b], strip({ a: 7, b: 0 }, members))).toBe(
      '[]All 2 nodes are up, (at least 7 errors on 1 node in the last hour)',
    );
    expect(say([a], null)).toBe('[]1 node is up()');
  });

  it('counts nodes where there are many', () => {
    const many = ['x', 'y', 'z'].map((id): ClusterNode => ({ ...clusterNode(id), state: 'unreachable' }));
    expect(say([a, ...many], null)).toBe('[3 of 4 nodes are down]()');
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
