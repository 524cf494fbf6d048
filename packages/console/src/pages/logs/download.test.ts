import { expect, test } from 'vitest';
import type { LogSource, PageRequest, ShownRecord } from '../../log-view/log-source.ts';
import { fileBytes, foundRecords } from './download.ts';
import { readPart } from './read-part.ts';

const recordOf = (message: string): ShownRecord => ({
  ...{ type: 'record', node: 'n', file: 'f', offset: 0, bytes: 1, cursor: message, message },
});

/** Pages of one record each. */
function sourceOf(messages: readonly string[]): LogSource {
  const page = ({ from }: PageRequest) => {
    const index = typeof from === 'object' && 'page' in from ? Number(from.page) : 0;
    const next = index + 1 < messages.length ? String(index + 1) : null;
    const records = [recordOf(messages[index] ?? '')];
    return Promise.resolve({
      records,
      next,
      isOutOfTime: false,
      scannedBytes: 0,
      reachedMs: null,
      problems: [],
      members: [],
    });
  };
  const never = () => new Promise<never>(() => undefined);
  return {
    nodes: ['n'],
    page,
    follow: async function* () {},
    histogram: never,
    extent: never,
    fractionOf: () => undefined,
  };
}

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

test('found records are fetched page by page, to the last', async () => {
  const { content, isCut } = await foundRecords(sourceOf(['one', 'two', 'three']), {}, signal);
  expect(await content.text()).toBe('one\ntwo\nthree\n');
  expect(isCut).toBe(false);
});

test('a file is copied out of chunks that are used again, and closed', async () => {
  const node = nodeWith('hello, world');
  const { content, name } = await fileBytes(node, { file: 'x.log' }, signal);
  expect([name, await content.text()]).toEqual(['x.log', 'hello, world']);
  expect(node.isClosed()).toBe(true);
});

test('characters over the borders of chunks are whole', async () => {
  expect(await readPart(nodeWith('aéü€z'), { file: 'x', start: 0, end: 99 }, signal)).toBe('aéü€z');
});
