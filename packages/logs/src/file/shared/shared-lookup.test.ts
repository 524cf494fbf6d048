import { expect, test } from 'vitest';
import { SharedLookup } from '../shared-lookup.ts';

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
