import { expect, test } from 'vitest';
import type { Row } from '../../log-view/model/workspace-state.ts';
import { loadedMatches } from './use-matcher.ts';

const rows: Row[] = ['lease', 'other', 'a lease again'].map((message, offset) => ({
  kind: 'record',
  key: message,
  record: { type: 'record', node: 'n', file: 'f', offset, bytes: 1, cursor: message, message, atMs: 1000 + offset },
}));
const where = { firstMs: 1000, lastMs: 1004 };

test('returns the positions of matches in the whole log, matching each record once', () => {
  let looks = 0;
  const matcher = (text: string) => {
    looks++;
    return text.includes('lease') ? [{ start: 0, end: 1 }] : [];
  };
  expect(loadedMatches(rows, matcher, where)).toEqual([0, 0.5]);
  const before = looks;
  expect(loadedMatches(rows, matcher, where)).toEqual([0, 0.5]);
  expect(looks).toBe(before);
});

test('without a search there are none', () => {
  expect(loadedMatches(rows, null, where)).toEqual([]);
});
