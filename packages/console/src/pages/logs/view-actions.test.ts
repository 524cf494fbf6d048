import { expect, test } from 'vitest';
import type { SourceChoice } from '../../state/view.ts';
import { downloadPath, readBytes } from './view-actions.ts';

/** A file in memory, read in small chunks that reuse their memory. */
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

test('a single file is downloaded as it is, everything else as records', () => {
  const family = { node: 'n', log: { kind: 'family', name: 'x.log' } } as const;
  const file = { node: 'n:1', log: { kind: 'file', name: 'x.log.1' } } as const;
  const url = (sources: readonly SourceChoice[], filter = {}, withNode = false) =>
    downloadPath({ sources, filter, withNode });
  expect(url([file])).toBe('/api/v1/nodes/n%3A1/log/raw?file=x.log.1');
  expect(url([])).toBe('/api/v1/log/download?nodes=*');
  // A log is more than its live file.
  expect(url([family])).toBe('/api/v1/log/download?nodes=n&src=x.log');
  expect(url([file, family], { minLevel: 'WARN', terms: ['a b'] }, true)).toBe(
    '/api/v1/log/download?src=n%3A1%2F%3Dx.log.1&src=n%2Fx.log&level=warn&q=a+b&prefix=true',
  );
  // The query is sent as it is written, also if it is not valid: the node refuses it.
  expect(url([file], { query: 'shard=13 (' })).toBe(
    '/api/v1/log/download?nodes=n%3A1&src=%3Dx.log.1&query=shard%3D13+%28',
  );
});

test('copies a part of a file out of reused chunks and closes the file', async () => {
  const node = nodeWith('hello, world');
  const content = await readBytes(node, { file: 'x.log', start: -9, end: 99 }, signal);
  expect(await content.text()).toBe('hello, world');
  expect(await (await readBytes(node, { file: 'x.log', start: 3, end: 8 }, signal)).text()).toBe('lo, w');
  expect(node.isClosed()).toBe(true);
});
