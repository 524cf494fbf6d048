import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GatheredLookup } from '../shared-lookup.ts';

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
