import { expect, it } from 'vitest';
import { Receipt } from './receipt.ts';
import { totalBytes } from './record-run.ts';

const { signal } = new AbortController();

const entries = [
  { name: 'a.log', size: 300 },
  { name: 'b.log', size: 100 },
];
const listLogs = async () => entries;
const listPacked = async () => [...entries, { name: 'a.log.1.gz', size: 1 }];

it.each([
  ['all files', [{ listLogs, selection: {} }], 400],
  ['one file', [{ listLogs: listPacked, selection: { src: ['=a.log'] } }], 300],
  [
    'several sources',
    [
      { listLogs, selection: {} },
      { listLogs, selection: { src: ['=b.log'] } },
    ],
    500,
  ],
  ['compressed files', [{ listLogs: listPacked, selection: {} }], undefined],
  ['a family', [{ listLogs, selection: { src: ['a.log'] } }], undefined],
  ['several nodes', [{ listLogs, selection: { nodes: ['*'] } }], undefined],
  ['what lists no sizes', [{ selection: {} }], undefined],
])('the bytes of %s', async (_what, sources, bytes) => {
  expect(await totalBytes(sources, signal)).toBe(bytes);
});

it('a scan shows how much of them it has read', () => {
  const receipt = new Receipt();
  receipt.add({ scannedBytes: 100, skippedBytes: 25 });
  expect(receipt.describe(500)).toMatch(/^scanned 125 B \(25 %\) in \d/);
  expect(receipt.describe(100)).toContain('(99 %)');
  expect(receipt.describe()).toMatch(/^scanned 125 B in \d/);
});
