import { expect, it } from 'vitest';
import type { EtcdConnection } from './etcd-connection.ts';
import { Registration } from './registration.ts';

it('a departure that cannot be written is reported, and the node deregisters all the same', async () => {
  const calls: string[] = [];
  let isFull = false;
  const connection = {
    call: async (name: string) => {
      calls.push(name);
      if (isFull && name === 'Put') throw new Error('no space');
      return { ID: '7' };
    },
  } as unknown as EtcdConnection;
  const departure = { key: '/left/a', value: () => '{}', keepSeconds: 60 };
  const registration = new Registration(connection, { key: '/nodes/a', value: '{}', leaseSeconds: 10, departure });
  await registration.write(new AbortController().signal);
  isFull = true;
  const errors: unknown[] = [];
  await registration.leave(1000, (error) => errors.push(error));
  expect(errors).toEqual([new Error('no space')]);
  expect(calls.at(-1)).toBe('LeaseRevoke');
});
