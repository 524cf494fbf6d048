import type { ClusterDigest, ClusterHistogram, MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { ALL_LOGS } from '../../state/view.ts';
import {
  errorStrip,
  groupView,
  isUnconfigured,
  longestLiteral,
  newSitesText,
  stripRange,
} from './overview-resources.ts';

function entry(key: string, changed: boolean) {
  return { key, value: 1, default: 0, changed, source: 'flag', secret: false } as const;
}

test('a node with nothing but ports set is unconfigured', () => {
  const settings = [entry('http.port', true), entry('grpc.port', true), entry('service.log-dir', false)];
  expect(isUnconfigured({ observes: 'self', settings })).toBe(true);
  expect(isUnconfigured({ observes: 'self', settings: [...settings, entry('logging.level', true)] })).toBe(false);
  expect(isUnconfigured({ observes: 'service', settings: [] })).toBe(false);
});

const GROUP: ClusterDigest['groups'][number] = {
  level: 'ERROR',
  source: 'kv/job.go:175',
  shape: null,
  count: 31,
  firstMs: 1000,
  lastMs: 2000,
  isNew: true,
  nodes: { a: 31 },
  sample: { type: 'record', node: 'a', file: 'a.log', offset: 0, bytes: 1, cursor: 'c', message: 'failed' },
};

test('a call site links to its records, from the first one', () => {
  expect(groupView(GROUP)).toEqual({
    ...ALL_LOGS,
    range: { kind: 'fixed', fromMs: 1000, toMs: null },
    minLevel: 'ERROR',
    callSite: 'kv/job.go:175',
    isLive: false,
  });
});

test('without a call site, the longest constant part of the message is searched for', () => {
  const sample = { ...GROUP.sample, message: '1 Error 2: storage 3:4 does not answer' };
  const shape = '* Error *: storage *:* does not answer';
  expect(groupView({ ...GROUP, source: null, shape, sample })).toMatchObject({
    text: 'does not answer',
    isOnlyMatches: true,
    callSite: null,
  });
  expect(longestLiteral('* * *', '1 2 3')).toBe('');
  expect(longestLiteral('storage * does not answer', 'storage 1 does  not answer')).toBe('storage');
});

test('nothing is said to be new or not, unless everything was read', () => {
  const report = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 0, asOfMs: null } as const;
  const read = { fromMs: null, isComplete: true };
  const empty: ClusterDigest = { groups: [], totalGroups: 0, ungrouped: 0, baseline: read, members: [report] };
  expect(newSitesText(empty)).toMatch(/^Nothing new/);
  const unread = { fromMs: null, isComplete: false, detail: 'b: scan stopped: time budget' };
  expect(newSitesText({ ...empty, baseline: unread })).toBe(
    'Whether anything is new is not known: not everything was read (b: scan stopped: time budget).',
  );
  const stopped = { ...report, id: 'c', outcome: 'timeout' } as const;
  expect(newSitesText({ ...empty, members: [report, stopped] })).toMatch(
    /^Whether anything is new is not known: not everything was read\.$/,
  );
  const { baseline: _baseline, ...earlier } = empty;
  expect(newSitesText(earlier)).toMatch(/^Whether anything is new is not known/);
  expect(newSitesText({ ...empty, groups: [GROUP], totalGroups: 1 })).toBeNull();
  expect(newSitesText({ ...empty, groups: [GROUP], totalGroups: 9 })).toBe('About 8 more.');
  const unknown = { ...GROUP, isNew: false, isNewUnknown: true } as const;
  expect(newSitesText({ ...empty, baseline: unread, groups: [unknown] })).toMatch(
    /^Which of these are new is not known/,
  );
});

test('cells are whole units of the clock, and the last one contains the end', () => {
  const toMs = Date.UTC(2026, 10, 15, 10, 41, 6);
  expect(stripRange({ fromMs: toMs - 3_600_000, toMs })).toEqual({
    ...{ fromMs: Date.UTC(2026, 10, 15, 9, 42), toMs: Date.UTC(2026, 10, 15, 10, 42), bucketMs: 60_000, count: 60 },
  });
  expect(stripRange({ fromMs: toMs - 7 * 86_400_000, toMs }).bucketMs).toBe(3 * 3_600_000);
  expect(stripRange({ fromMs: toMs - 5000, toMs })).toMatchObject({ bucketMs: 1000, count: 60 });
});

test('only what was read is a number: nothing of a silent node, nothing after the end of one that is gone', () => {
  const member = (id: string, given: Partial<MemberReport> = {}): MemberReport => ({
    ...{ id, outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null, ...given },
  });
  const histogram: ClusterHistogram = {
    ...{ bucketMs: 10, untimed: 0, counted: null },
    buckets: [
      { startMs: 0, counts: { ERROR: 3 }, nodes: { a: 2, c: 1 } },
      { startMs: 20, counts: { FATAL: 4 }, nodes: { a: 4 } },
    ],
    members: [member('a'), member('b', { outcome: 'timeout' }), member('c', { outcome: 'refused', asOfMs: 14 })],
  };
  const { byNode, most } = errorStrip({ fromMs: 0, toMs: 40, bucketMs: 10, count: 4 }, histogram);
  expect(Object.fromEntries(byNode)).toEqual({
    a: { cells: [2, 0, 4, 0], errors: 6 },
    b: { cells: [null, null, null, null], errors: 0 },
    c: { cells: [1, 0, null, null], errors: 1 },
  });
  expect(most).toBe(4);
  const part = errorStrip(
    { fromMs: 0, toMs: 40, bucketMs: 10, count: 4 },
    { ...histogram, counted: { fromMs: 20, toMs: 40 } },
  );
  expect(part.byNode.get('a')?.cells).toEqual([2, null, 4, 0]);
});
