import { expect, it } from 'vitest';
import { rememberByText, secretFingerprint } from './secrets.ts';

it('masks a text once, and one that cannot be masked is not tried again', async () => {
  const asked: string[] = [];
  const mask = rememberByText((text) => {
    asked.push(text);
    return text === 'broken' ? undefined : text.toUpperCase();
  });
  for (const text of ['a', 'b', 'a', 'broken', 'broken', 'b'])
    expect(await mask(text)).toBe(text === 'broken' ? undefined : text.toUpperCase());
  expect(asked).toEqual(['a', 'b', 'broken']);
});

it('forgets when there is too much', async () => {
  let count = 0;
  const mask = rememberByText((text) => {
    count++;
    return text;
  });
  const large = (n: number) => String(n).repeat(1024 ** 2);
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await mask(large(n));
  await mask(large(9));
  await mask(large(1));
  expect(count).toBe(10);
});

it('masks a text once for all who ask at the same time, and tries what failed again', async () => {
  let count = 0;
  const mask = rememberByText(async (text) => {
    if (++count === 1) throw new Error('too slow');
    return text;
  });
  await expect(mask('a')).rejects.toThrow('too slow');
  expect(await Promise.all([mask('a'), mask('a'), mask('a')])).toEqual(['a', 'a', 'a']);
  expect(count).toBe(2);
});

it('nodes with the same credential make the same fingerprint of the same secret', () => {
  expect(secretFingerprint('credential')('db.password', 'hunter2')).toBe(
    secretFingerprint('credential')('db.password', 'hunter2'),
  );
});

it('another secret, key or cluster makes another one, which reveals nothing about either', () => {
  const prints = [
    secretFingerprint('credential')('db.password', 'hunter2'),
    secretFingerprint('credential')('db.password', 'hunter3'),
    secretFingerprint('credential')('etcd.password', 'hunter2'),
    secretFingerprint('other')('db.password', 'hunter2'),
  ];
  expect(new Set(prints).size).toBe(4);
  for (const print of prints) expect(print).toMatch(/^[\w-]{12}$/);
});
