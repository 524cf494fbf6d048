import type { ClusterDigest } from '@porthole/client';
import { expect, test } from 'vitest';
import { ALL_LOGS } from '../../state/view.ts';
import { groupView, isUnconfigured, newSitesText } from './overview-resources.ts';

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

test('without a call site, they are selected by what their messages have in common', () => {
  const sample = { ...GROUP.sample, message: '1 Error 2: storage 3:4 does not answer' };
  const shape = '* Error *: storage *:* does not answer';
  expect(groupView({ ...GROUP, source: null, shape, sample })).toMatchObject({
    query: 'level=error "does not answer" ": storage" Error',
    minLevel: null,
    callSite: null,
  });
  expect(groupView({ ...GROUP, source: null, shape: '* *' })).toMatchObject({ query: '', minLevel: 'ERROR' });
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
  const { baseline: _baseline, ...uncompared } = empty;
  expect(newSitesText(uncompared)).toMatch(/^Whether anything is new is not known/);
  expect(newSitesText({ ...empty, groups: [GROUP], totalGroups: 1 })).toBeNull();
  expect(newSitesText({ ...empty, groups: [GROUP], totalGroups: 9 })).toBe('About 8 more.');
  const unknown = { ...GROUP, isNew: false, isNewUnknown: true } as const;
  expect(newSitesText({ ...empty, baseline: unread, groups: [unknown] })).toMatch(
    /^Which of these are new is not known/,
  );
});
