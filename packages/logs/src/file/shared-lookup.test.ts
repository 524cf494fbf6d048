import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GatheredLookup, SharedLookup } from './shared-lookup.ts';

/** A lookup that is resolved by hand. */
function byHand() {
  const lookups: { name: string; resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const shared = new SharedLookup<number>(
    (name) => new Promise((resolve, reject) => lookups.push({ name, resolve, reject })),
  );
  return { lookups, shared };
}

test('requests made during a lookup share the next one', async () => {
  const { lookups, shared } = byHand();
  const first = shared.get('a');
  const later = [shared.get('a'), shared.get('a'), shared.get('a')];
  expect(lookups).toHaveLength(1);
  lookups[0]?.resolve(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(lookups).toHaveLength(2);
  lookups[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
});

test('a failed lookup fails only for those waiting for it, and the next one runs', async () => {
  const { lookups, shared } = byHand();
  const first = shared.get('a');
  const second = shared.get('a');
  lookups[0]?.reject(new Error('deleted'));
  await expect(first).rejects.toThrow('deleted');
  await Promise.resolve();
  lookups[1]?.resolve(2);
  expect(await second).toBe(2);
});

test('names do not wait for each other, and nothing is cached', async () => {
  const { lookups, shared } = byHand();
  const [a, b] = [shared.get('a'), shared.get('b')];
  expect(lookups.map(({ name }) => name)).toEqual(['a', 'b']);
  lookups[1]?.resolve(20);
  expect(await b).toBe(20);
  lookups[0]?.resolve(10);
  expect(await a).toBe(10);
  const again = shared.get('a');
  expect(lookups).toHaveLength(3);
  lookups[2]?.resolve(11);
  expect(await again).toBe(11);
});

test('requests of one turn share a lookup that takes place after the last of them', async () => {
  let value = 0;
  const found: string[] = [];
  const lookups = new GatheredLookup((name) => {
    found.push(name);
    return `${name}${value}`;
  });
  const first = [lookups.get('a'), lookups.get('b')];
  value = 1;
  await Promise.resolve();
  first.push(lookups.get('a'));
  value = 2;
  expect(found).toEqual([]);
  expect(await Promise.all(first)).toEqual(['a2', 'b2', 'a2']);
  expect(found).toEqual(['a', 'b']);
});

test('nothing is kept: a request of the next turn gets a lookup of its own', async () => {
  let count = 0;
  const lookups = new GatheredLookup(() => ++count);
  expect(await lookups.get('a')).toBe(1);
  expect(await lookups.get('a')).toBe(2);
  await nextTurn();
  expect(await Promise.all([lookups.get('a'), lookups.get('a')])).toEqual([3, 3]);
});

test('a failure is that of all requests that share it, and of no other', async () => {
  let fails = true;
  const lookups = new GatheredLookup(() => {
    if (fails) throw new Error('gone');
    return 1;
  });
  const settled = await Promise.allSettled([lookups.get('a'), lookups.get('a')]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await lookups.get('a')).toBe(1);
});
