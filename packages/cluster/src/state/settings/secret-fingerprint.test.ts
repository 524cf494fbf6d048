import { expect, it } from 'vitest';
import { secretFingerprint } from './secret-fingerprint.ts';

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
