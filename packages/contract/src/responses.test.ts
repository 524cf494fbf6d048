import { expect, it } from 'vitest';
import { SizedBytes } from './responses.ts';

async function* chunks(lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length);
}

async function read(bytes: SizedBytes): Promise<number[]> {
  const lengths: number[] = [];
  for await (const chunk of bytes) lengths.push(chunk.length);
  return lengths;
}

it.each([
  [0, [], []],
  [0, [0, 0], []],
  [3, [3], [3]],
  [3, [0, 1, 0, 2, 0], [1, 2]],
])('%s bytes of chunks of %j', async (sizeBytes, given, expected) => {
  expect(await read(new SizedBytes(sizeBytes, chunks(given)))).toEqual(expected);
});

it.each([
  [3, [], 0],
  [3, [0], 0],
  [3, [1, 1], 2],
  [3, [4], 4],
  [3, [3, 0, 1], 4],
  [0, [1], 1],
])('%s bytes of chunks of %j fail, with what was given', async (sizeBytes, given, bytes) => {
  const wrong = new SizedBytes(sizeBytes, chunks(given), (count) => new Error(`${count} of ${sizeBytes}`));
  await expect(read(wrong)).rejects.toThrow(`${bytes} of ${sizeBytes}`);
});

it('whoever stops reading ends the source', async () => {
  const source = chunks([1, 1]);
  for await (const _chunk of new SizedBytes(2, source)) break;
  expect(await source.next()).toEqual({ done: true, value: undefined });
});
