import { expect, test } from 'vitest';
import type { SourceChoice } from '../../../state/view.ts';
import { readPart } from '../details/read-part.ts';
import { bytesAround, downloadUrl } from './download.ts';

/** A file in memory, told in small chunks whose memory is used again. */
function nodeWith(text: string) {
  const bytes = new TextEncoder().encode(text);
  let isClosed = false;
  const openLog = ({ file }: { file: string }) =>
    Promise.resolve({
      ...{ name: file, sizeBytes: bytes.length, modifiedMs: 0, etag: '"x"' },
      async *read(start: number, end: number) {
        const chunk = new Uint8Array(2);
        for (let at = start; at < end; at += 2) {
          chunk.set(bytes.subarray(at, Math.min(end, at + 2)));
          yield chunk.subarray(0, Math.min(2, end - at));
        }
      },
      close: () => {
        isClosed = true;
        return Promise.resolve();
      },
    });
  return { openLog, isClosed: () => isClosed };
}

const { signal } = new AbortController();

test('a single file is fetched as it is, everything else as records', () => {
  const family = { node: 'n', log: { kind: 'family', name: 'x.log' } } as const;
  const file = { node: 'n:1', log: { kind: 'file', name: 'x.log.1' } } as const;
  const url = (sources: readonly SourceChoice[], filter = {}, withNode = false) =>
    downloadUrl({ sources, filter, withNode });
  expect(url([file])).toBe('/api/v1/cluster/nodes/n%3A1/log/raw?file=x.log.1');
  expect(url([])).toBe('/api/v1/cluster/log/download');
  // A log is more than its live file.
  expect(url([family])).toBe('/api/v1/cluster/log/download?src=n%2Fx.log');
  expect(url([file, family], { minLevel: 'WARN', terms: ['a b'] }, true)).toBe(
    '/api/v1/cluster/log/download?src=n%3A1%2F%3Dx.log.1&src=n%2Fx.log&level=warn&q=a+b&prefix=true',
  );
});

test('what is around a record is copied out of chunks that are used again, and the file closed', async () => {
  const node = nodeWith('hello, world');
  const content = await bytesAround(node, { file: 'x.log', offset: 3, bytes: 2 }, signal);
  expect(await content.text()).toBe('hello, world');
  expect(node.isClosed()).toBe(true);
});

test('characters over the borders of chunks are whole', async () => {
  expect(await readPart(nodeWith('aéü€z'), { file: 'x', start: 0, end: 99 }, signal)).toBe('aéü€z');
});
