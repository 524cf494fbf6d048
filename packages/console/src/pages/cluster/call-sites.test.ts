import type { ClusterDigest } from '@porthole/client';
import { expect, test } from 'vitest';
import { ALL_LOGS } from '../../state/view.ts';
import { groupView, longestLiteral, nodesText } from './call-sites.ts';

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

test('one node is named, several are counted', () => {
  expect(nodesText(GROUP)).toBe('a');
  expect(nodesText({ ...GROUP, nodes: { a: 1, b: 2 } })).toBe('2 nodes');
});
