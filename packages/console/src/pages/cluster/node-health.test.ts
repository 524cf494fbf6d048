import { describe, expect, test } from 'vitest';
import { clockText, headline, isClockOff, isSilent, missingNodes, stateText, usualVersion } from './node-health.ts';
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

describe('the headline', () => {
  test.each([
    [[clusterNode('a')], '1 node up'],
    [[sick], '1 node degraded'],
    [[clusterNode('a'), clusterNode('b')], 'All 2 nodes up'],
    [[clusterNode('a'), sick], 'All 2 nodes up · 1 degraded'],
    [[clusterNode('a'), clusterNode('b'), down], '2 of 3 nodes up'],
    [[clusterNode('a'), clusterNode('b'), left], 'All 2 nodes up'],
    [[clusterNode('a'), sick, gone], '2 of 3 nodes up · 1 degraded'],
  ])('counts those that are expected to be up, and those that are degraded', (nodes, text) => {
    expect(headline(nodes)).toBe(text);
  });

  test('is followed by those that are missing, the last seen first', () => {
    const nodes = [clusterNode('a'), { ...down, lastSeenMs: 1 }, { ...gone, lastSeenMs: 2 }, left];
    expect(missingNodes(nodes).map(({ id }) => id)).toEqual(['gone', 'down']);
  });
});

test('a node that is not up, or not well, says why', () => {
  expect([clusterNode('a'), sick, down, gone, left].map(stateText)).toEqual([
    'up',
    'degraded: log directory: /logs does not exist',
    'not responding: timed out',
    'failed: no longer registered',
    'left the cluster',
  ]);
});

describe('a clock', () => {
  test('is off when it is so beyond doubt', () => {
    expect(isClockOff({ offsetMs: 412, uncertaintyMs: 2 })).toBe(true);
    expect(isClockOff({ offsetMs: -412, uncertaintyMs: 2 })).toBe(true);
    expect(isClockOff({ offsetMs: 412, uncertaintyMs: 400 })).toBe(false);
  });

  test('is told with what is not known of it', () => {
    expect(clockText({ offsetMs: 412.3, uncertaintyMs: 1.2 })).toBe('+412 ms ± 2');
    expect(clockText({ offsetMs: -1.4, uncertaintyMs: 0 })).toBe('−1 ms ± 0');
    expect(clockText({ offsetMs: -0.3, uncertaintyMs: 1 })).toBe('0 ms ± 1');
  });
});

describe('a silent node', () => {
  test('is one whose last line is much older than those of the others', () => {
    const nodes = [wrote('a', 500), wrote('b', 1200), wrote('quiet', 9 * 60_000)];
    expect(nodes.map((node) => isSilent(node, nodes, NOW))).toEqual([false, false, true]);
  });

  test('is not one among others that write as rarely, nor one that is alone or not known', () => {
    const rare = [wrote('a', 5 * 60_000), wrote('b', 6 * 60_000), wrote('c', 9 * 60_000)];
    expect(rare.some((node) => isSilent(node, rare, NOW))).toBe(false);
    const alone = wrote('a', 9 * 60_000);
    expect(isSilent(alone, [alone], NOW)).toBe(false);
    const unknown = clusterNode('b', { lastRecordMs: null });
    expect(isSilent(unknown, [unknown, wrote('a', 0)], NOW)).toBe(false);
  });
});

test('the usual version is that of more than half of those that are up', () => {
  expect(usualVersion([version('a', '2'), version('b', '2'), version('c', '1')])).toBe('2');
  expect(usualVersion([version('a', '2'), version('b', '1')])).toBeNull();
  expect(usualVersion([version('a', '2'), { ...version('b', '1'), state: 'failed' }])).toBe('2');
});
