import { expect, test } from 'vitest';
import { mergeStreams, Permits } from './search-history.ts';

test('streams run in parallel as far as there are permits, and each keeps its order', async () => {
  let running = 0;
  let most = 0;
  const stream = (name: string) =>
    async function* () {
      most = Math.max(most, ++running);
      try {
        for (let number = 0; number < 3; number++) {
          await Promise.resolve();
          yield `${name}${number}`;
        }
      } finally {
        running--;
      }
    };
  const permits = new Permits(2);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const got: string[] = [];
  for await (const item of mergeStreams(names.map(stream), permits)) got.push(item);
  for (const name of names)
    expect(got.filter((item) => item.startsWith(name))).toEqual([0, 1, 2].map((n) => `${name}${n}`));
  expect(most).toBe(3);
  expect(got[1]).toBe('b0');

  // A consumer that leaves early releases everything.
  for await (const item of mergeStreams(names.map(stream), permits)) if (item === 'b1') break;
  expect(running).toBe(0);
  expect([permits.tryTake(), permits.tryTake(), permits.tryTake()]).toEqual([true, true, false]);
  // Without permits one runs after the other.
  most = 0;
  for await (const _ of mergeStreams(names.map(stream), permits));
  expect(most).toBe(1);
});

test('a stream that fails ends the others', async () => {
  const ended: string[] = [];
  async function* endless() {
    try {
      for (;;) yield await Promise.resolve('x');
    } finally {
      ended.push('endless');
    }
  }
  async function* failing() {
    yield 'y';
    throw new Error('no');
  }
  const merged = mergeStreams([endless, failing], new Permits(1));
  await expect(
    (async () => {
      for await (const _ of merged);
    })(),
  ).rejects.toThrow('no');
  expect(ended).toEqual(['endless']);
});
