import { expect, it } from 'vitest';
import { fakeRecord } from '../testing/fake-source.ts';
import { columnText } from './record-row.tsx';

const record = {
  ...fakeRecord(0),
  level: 'WARN' as const,
  tags: ['KV', 'Compaction'],
  message: 'slow cost=12ms note="a\tb"',
  context: {
    shard: 13,
    ids: [1, 2],
    note: '<b>\u202e\u001b[31m\nend',
    nothing: null,
    many: Array.from('abcdefghijklm'),
  },
};

it.each([
  ['shard', '13'],
  ['ids', '1, 2'],
  ['cost', '12ms'],
  ['level', 'WARN'],
  ['component', 'KV, Compaction'],
  ['nothing', 'null'],
  ['absent', ''],
  ['note', '<b>⇄␛[31m↵end'],
  ['many', 'a, b, c, d, e, f, g, h, i, j, … 3 more'],
])('the column %s shows %j', (field, text) => {
  expect(columnText(record, field)).toBe(text);
});

it('a column shows the number as it is in the log, and no more than fits a tooltip', () => {
  const exact = { ...record, context: { id: 1 }, contextText: '{"id":12345678901234567890}' };
  expect(columnText(exact, 'id')).toBe('12345678901234567890');
  expect(columnText({ ...record, context: { long: 'x'.repeat(5000) } }, 'long')).toHaveLength(1000);
});
