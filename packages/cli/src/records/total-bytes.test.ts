import { expect, it } from 'vitest';
import { Receipt } from './receipt.ts';
import { totalBytes } from './record-run.ts';

const { signal } = new AbortController();

const entries = [
  { name: 'a.log', size: 300 },
  { name: 'b.log', size: 100 },
];
const state = { listLogs: async () => entries };
const packed = { listLogs: async () => [...entries, { name: 'a.log.1.gz', size: 1 }] };

it.each([
  ['all files', [{ state, selection: {} }], 400],
  ['one file', [{ state: packed, selection: { src: ['=a.log'] } }], 300],
  [
    'several sources',
    [
      { state, selection: {} },
      { state, selection: { src: ['=b.log'] } },
    ],
    500,
  ],
  ['compressed files', [{ state: packed, selection: {} }], undefined],
  ['a family', [{ state, selection: { src: ['a.log'] } }], undefined],
  ['what lists no sizes', [{ state: {}, selection: {} }], undefined],
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
