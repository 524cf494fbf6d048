import type { ClusterNode } from '@porthole/client';
import { describe, expect, it, test } from 'vitest';
import {
  clockText,
  hiddenText,
  isClockOff,
  isSilent,
  lostMs,
  majorityVersion,
  missingNodes,
  nodeNotes,
  nodesText,
  shortNames,
  stateSentence,
  stateText,
  stateWord,
  waitingText,
  worstFirst,
} from './node-health.ts';
import { clusterNode, version } from './testing/cluster-node.ts';

const NOW = 10_000_000;

const wrote = (id: string, agoMs: number) => clusterNode(id, { lastRecordMs: NOW - agoMs });

const down = clusterNode('down', {
  state: 'unreachable',
  report: { ...clusterNode('down').report, outcome: 'timeout' },
});

const gone = clusterNode('gone', { state: 'failed' });

const left = clusterNode('left', { state: 'left' });

const sick = clusterNode('sick', { problems: [{ check: 'log directory', detail: '/logs does not exist' }] });

test('what waits for the archive is described, and what was lost', () => {
  expect(waitingText({ lagMs: 0, lagBytes: 0, lostBytes: 0 })).toBe('nothing waits');
  expect(waitingText({ lagMs: 90_000, lagBytes: 2048, lostBytes: 1024 })).toMatch(
    /^1 min 30 s and 2.* behind · 1.* deleted before they were shipped$/,
  );
});

describe('nodes that a filter hides', () => {
  test.each([
    [0, [], null],
    [1, [], '1 other node hidden'],
    [3, [], '3 other nodes hidden'],
    [3, ['n0'], '3 other nodes hidden, 1 of them not healthy'],
    [1, ['n0'], '1 other node hidden, not healthy'],
  ])('%i, not up: %j', (count, down, text) => {
    const state = (id: string) => ({
      state: down.some((other) => other === id) ? ('failed' as const) : ('up' as const),
    });
    const hidden = Array.from({ length: count }, (_, index) => clusterNode(`n${index}`, state(`n${index}`)));
    const shown = clusterNode('shown');
    expect(hiddenText([...hidden, shown], [shown])).toBe(text);
  });
});

describe('the headline', () => {
  test.each([
    [[clusterNode('a')], '1 node up'],
    [[sick], '1 node degraded'],
    [[clusterNode('a'), clusterNode('b')], 'All 2 nodes up'],
    [[clusterNode('a'), sick], 'All 2 nodes up · 1 degraded'],
    [[clusterNode('a'), clusterNode('b'), down], '2 of 3 nodes up'],
    [[clusterNode('a'), clusterNode('b'), left], 'All 2 nodes up'],
    [[clusterNode('a'), sick, gone], '2 of 3 nodes up · 1 degraded'],
  ])('counts nodes that should be up, and degraded ones', (nodes, text) => {
    expect(nodesText(nodes)).toBe(text);
  });

  test('is followed by missing nodes, last seen first', () => {
    const nodes = [clusterNode('a'), { ...down, lastSeenMs: 1 }, { ...gone, lastSeenMs: 2 }, left];
    expect(missingNodes(nodes).map(({ id }) => id)).toEqual(['gone', 'down']);
  });
});

test('a node that is down or degraded has a reason', () => {
  expect([clusterNode('a'), sick, down, gone, left].map(stateText)).toEqual([
    'up',
    'degraded: log directory: /logs does not exist',
    'not responding: timed out',
    'stopped responding, lease expired',
    'left the cluster',
  ]);
});

test('the state of a node is a word, and a sentence: of one that is gone with its end, and nothing that goes on', () => {
  expect([clusterNode('a'), sick, down, gone, left].map(stateWord)).toEqual(['up', 'degraded', 'gone', 'gone', 'left']);
  const at = { nowMs: NOW, zone: 'utc' };
  const up = version('a', '1');
  expect(stateSentence({ ...up, node: { ...up.node, onlineTime: NOW - 1_680_000 } }, undefined, at)).toBe(
    'up for 28 min',
  );
  const report = { ...down.report, asOfMs: NOW - 60_000, recordedBy: 'b', missingMs: 300 };
  const sentence = 'gone since 02:45:40; recorded by b, until 02:45:40.000 (0.3 s before it was lost)';
  expect(stateSentence(down, report, at)).toBe(sentence);
  expect(stateSentence(down, report, { ...at, nowMs: NOW + 600_000 })).toBe(sentence);
  expect(stateSentence({ ...down, lastSeenMs: null }, undefined, at)).toBe('gone, since when is not known');
  expect(lostMs({ lastSeenMs: 5 }, undefined)).toBe(5);
  expect(lostMs({ lastSeenMs: 5 }, report)).toBe(NOW - 59_700);
});

test('a usual node has no notes, others have what is notable', () => {
  const nodes = [wrote('a', 500), wrote('b', 1200), version('c', '1.0')];
  const notes = (given: Partial<ClusterNode>, differing = 0) =>
    nodeNotes({ ...wrote('x', 500), ...given }, nodes, { nowMs: NOW, differing });
  expect(notes({})).toEqual([]);
  expect(notes({ clock: { offsetMs: 412, uncertaintyMs: 2 } })).toEqual(['clock +412 ms ± 2']);
  expect(notes({ asOfMs: NOW - 150_000 })).toEqual([expect.stringMatching(/^as of 2 min/)]);
  expect(notes({ archive: { lagMs: 0, lagBytes: 0, lostBytes: 3_000_000 } })).toHaveLength(1);
  expect(notes({ node: version('x', '0.9').node }, 2)).toEqual(['most run 1.0', 'configuration differs in 2 keys']);
  expect(notes({ state: 'failed', clock: { offsetMs: 412, uncertaintyMs: 2 } })).toEqual([]);
});

test('problems come first, and among equals nothing moves', () => {
  const nodes = [clusterNode('a'), left, clusterNode('b'), sick, clusterNode('c'), down];
  expect(worstFirst(nodes).map(({ id }) => id)).toEqual(['down', 'sick', 'a', 'b', 'c', 'left']);
  expect(worstFirst(nodes, ({ id }) => (id === 'b' ? 7 : 0)).map(({ id }) => id)[2]).toBe('b');
});

describe('a clock', () => {
  test('is off only if it is certain', () => {
    expect(isClockOff({ offsetMs: 412, uncertaintyMs: 2 })).toBe(true);
    expect(isClockOff({ offsetMs: -412, uncertaintyMs: 2 })).toBe(true);
    expect(isClockOff({ offsetMs: 412, uncertaintyMs: 400 })).toBe(false);
  });

  test('is shown with its uncertainty', () => {
    expect(clockText({ offsetMs: 412.3, uncertaintyMs: 1.2 })).toBe('+412 ms ± 2');
    expect(clockText({ offsetMs: -1.4, uncertaintyMs: 0 })).toBe('−1 ms ± 0');
    expect(clockText({ offsetMs: -0.3, uncertaintyMs: 1 })).toBe('0 ms ± 1');
  });
});

describe('a silent node', () => {
  test('has a last line much older than those of the others', () => {
    const nodes = [wrote('a', 500), wrote('b', 1200), wrote('quiet', 9 * 60_000)];
    expect(nodes.map((node) => isSilent(node, nodes, NOW))).toEqual([false, false, true]);
  });

  test('does not include nodes among equally quiet ones, single or unknown nodes', () => {
    const rare = [wrote('a', 5 * 60_000), wrote('b', 6 * 60_000), wrote('c', 9 * 60_000)];
    expect(rare.some((node) => isSilent(node, rare, NOW))).toBe(false);
    const alone = wrote('a', 9 * 60_000);
    expect(isSilent(alone, [alone], NOW)).toBe(false);
    const unknown = clusterNode('b', { lastRecordMs: null });
    expect(isSilent(unknown, [unknown, wrote('a', 0)], NOW)).toBe(false);
  });
});

test('the majority version is that of more than half of the nodes that are up', () => {
  expect(majorityVersion([version('a', '2'), version('b', '2'), version('c', '1')])).toBe('2');
  expect(majorityVersion([version('a', '2'), version('b', '1')])).toBeNull();
  expect(majorityVersion([version('a', '2'), { ...version('b', '1'), state: 'failed' }])).toBe('2');
});

describe('short names', () => {
  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['demo-broker-1', 'demo-broker-2'],
      ['demo-broker-1', 'demo-broker-2'],
    ],
    [
      ['lindb-prod-broker-1', 'lindb-prod-broker-2'],
      ['broker-1', 'broker-2'],
    ],
    [
      ['lindb-prod-broker-1', 'lindb-prod-storage-1'],
      ['broker-1', 'storage-1'],
    ],
    [
      ['broker-1.eu.example.org', 'broker-2.eu.example.org'],
      ['broker-1', 'broker-2'],
    ],
  ])('%j', (ids, names) => {
    expect([...shortNames(ids).values()]).toEqual(names);
  });
});
