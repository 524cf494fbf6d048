import { expect, it } from 'vitest';
import { type BatchedRecord, batchOf, bytesOf, type RecordBatch } from './record-batch.ts';
import { renderText } from './record-text.ts';

const record = (fields: object) =>
  ({ node: 'n1', type: 'record', file: 'a.log', offset: 0, bytes: 1, cursor: 'c', message: 'm', ...fields }) as const;

const RECORDS = [
  record({ message: 'said "x"\n\tat y', raw: 'INFO said "x"\n\tat y é \\' }),
  record({ node: 'n2', message: 'no raw 日本' }),
  record({
    atMs: 951_868_799_999,
    level: 'WARN',
    source: 'a.go:1',
    tags: ['shard', 'odd\t[1]'],
    message: 'first line\nsecond line',
    context: { a: 1 },
    contextText: '{"a":1.0}',
    cut: true,
    offset: 7,
  }),
  record({ message: '', raw: '' }),
] as readonly BatchedRecord[];

const texts = (batch: RecordBatch) =>
  Array.from(batch.ends, (_, index) => Buffer.from(bytesOf(batch, index, index + 1)).toString());

it.each([
  ['raw', ['INFO said "x"\n\tat y é \\\n', 'no raw 日本\n', 'first line\nsecond line\n', '\n']],
  ['node and raw', ['n1:INFO said "x"\n\tat y é \\\n', 'n2:no raw 日本\n', 'n1:first line\nsecond line\n', 'n1:\n']],
  [
    'columns',
    [
      '[n1] [a.log]: said "x"\n\tat y\n',
      '[n2] [a.log]: no raw 日本\n',
      '2000-02-29 23:59:59.999\tWARN\ta.go:1\t[n1] [a.log] [shard] [odd__1_]: first line\t{"a":1.0}\nsecond line ...\n',
      '[n1] [a.log]: \n',
    ],
  ],
] as const)('merged records as text: %s', (layout, expected) => {
  const batch = batchOf(RECORDS);
  const rendered = renderText(batch, layout);
  expect(texts(rendered)).toEqual(expected);
  const { times, offsets, origins, originOf } = batch;
  expect(rendered).toMatchObject({ times, offsets, origins, originOf });
});

it('a batch without records has no text', () => {
  expect(renderText(batchOf([]), 'raw').bytes).toHaveLength(0);
});
