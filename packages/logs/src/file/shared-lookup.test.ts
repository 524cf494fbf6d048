import { expect, test } from 'vitest';
import { SharedLookup } from './shared-lookup.ts';

/** A lookup that is resolved by hand. */
function byHand() {
  const asked: { name: string; resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const shared = new SharedLookup<number>(
    (name) => new Promise((resolve, reject) => asked.push({ name, resolve, reject })),
  );
  return { asked, shared };
}

test('requests made during a lookup share the next one', async () => {
  const { asked, shared } = byHand();
  const first = shared.get('a');
  const later = [shared.get('a'), shared.get('a'), shared.get('a')];
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
});

test('a failed lookup fails only for those waiting for it, and the next one runs', async () => {
  const { asked, shared } = byHand();
  const first = shared.get('a');
  const second = shared.get('a');
  asked[0]?.reject(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await Promise.resolve();
  asked[1]?.resolve(2);
  expect(await second).toBe(2);
});

test('names do not wait for each other, and nothing is cached', async () => {
  const { asked, shared } = byHand();
  const [a, b] = [shared.get('a'), shared.get('b')];
  expect(asked.map(({ name }) => name)).toEqual(['a', 'b']);
  asked[1]?.resolve(20);
  expect(await b).toBe(20);
  asked[0]?.resolve(10);
  expect(await a).toBe(10);
  const again = shared.get('a');
  expect(asked).toHaveLength(3);
  asked[2]?.resolve(11);
  expect(await again).toBe(11);
});
