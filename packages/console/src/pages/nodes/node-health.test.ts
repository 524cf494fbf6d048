import { describe, expect, test } from 'vitest';
import {
  asOfText,
  clockText,
  errorsText,
  headline,
  hiddenText,
  isClockOff,
  isShippingBad,
  isSilent,
  lagText,
  majorityVersion,
  missingNodes,
  shippingText,
  stateText,
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

test('shipping to the archive is described with what waits, what was lost and what is wrong', () => {
  const state = { lagMs: 0, lagBytes: 0, shippedRecords: 1200, lostBytes: 0, problem: null };
  expect(shippingText(state)).toBe('nothing waits · 1,200 records shipped since its start');
  expect(shippingText({ ...state, lagMs: 90_000, lagBytes: 2048, lostBytes: 1024, problem: 'refused' })).toMatch(
    /^refused · 1 min 30 s and 2.* behind · 1.* deleted before they were shipped · 1,200 records/,
  );
});

test.each([
  [0, 0, 0, 'complete'],
  [90_000, 2048, 0, '1 min 30 s behind'],
  [0, 0, 3_000_000, 'complete · 3.0 MB lost'],
])('in the list, a lag of %i ms and %i bytes with %i bytes lost', (lagMs, lagBytes, lostBytes, text) => {
  const archive = { lagMs, lagBytes, lostBytes };
  expect(lagText(archive)).toBe(text);
  expect(isShippingBad({ archive, problems: [] })).toBe(lostBytes > 0);
  expect(isShippingBad({ archive, problems: [{ check: 'archive', detail: 'too far behind' }] })).toBe(true);
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
    expect(headline(nodes)).toBe(text);
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

test('what is shown of a node that is up has its age, if it is old', () => {
  const ofAge = (ageMs: number) => asOfText(clusterNode('a', { asOfMs: NOW - ageMs }), NOW);
  expect([asOfText(clusterNode('a'), NOW), ofAge(30_000), ofAge(150_000)]).toEqual([
    undefined,
    undefined,
    expect.stringMatching(/^as of 2 min/),
  ]);
  expect(asOfText({ ...down, asOfMs: 1 }, NOW)).toBeUndefined();
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

const up = { state: 'up' } as const;

const failed = { state: 'failed' } as const;

const leftNode = { state: 'left' } as const;

test.each([
  [[up], null, 'Errors on this node', false],
  [[up, up], null, 'Errors across the cluster', false],
  [[up], { errors: 0, counted: 1 }, 'No errors on this node', false],
  [[up, up, leftNode], { errors: 0, counted: 2 }, 'No errors on all 2 nodes', false],
  [[up, up, failed], { errors: 0, counted: 2 }, 'No errors on 2 of 3 nodes', true],
  [[up, up], { errors: 1, counted: 2 }, '1 error on all 2 nodes', true],
  [[up, failed], { errors: 1200, counted: 1 }, 'At least 1,200 errors, 1 of 2 nodes counted', true],
  [[up], { errors: 0, counted: 0 }, 'Errors not counted', true],
  [[up, failed], { errors: 0, counted: 0 }, 'Errors not counted on any node', true],
])('%j with %j: %s', (nodes, counts, text, isAlarm) => {
  expect(errorsText(nodes, counts)).toEqual({ text, isAlarm });
});
