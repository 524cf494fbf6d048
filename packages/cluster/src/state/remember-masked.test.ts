import { expect, it } from 'vitest';
import { rememberMasked } from './remember-masked.ts';

it('masks a text once, and one that cannot be masked is not tried again', () => {
  const asked: string[] = [];
  const mask = rememberMasked((text) => {
    asked.push(text);
    return text === 'broken' ? undefined : text.toUpperCase();
  });
  for (const text of ['a', 'b', 'a', 'broken', 'broken', 'b'])
    expect(mask(text)).toBe(text === 'broken' ? undefined : text.toUpperCase());
  expect(asked).toEqual(['a', 'b', 'broken']);
});

it('forgets when there is too much', () => {
  let count = 0;
  const mask = rememberMasked((text) => {
    count++;
    return text;
  });
  const large = (n: number) => String(n).repeat(1024 ** 2);
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) mask(large(n));
  mask(large(9));
  mask(large(1));
  expect(count).toBe(10);
});
