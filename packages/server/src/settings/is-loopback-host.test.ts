import { expect, test } from 'vitest';
import { isLoopbackHost } from './is-loopback-host.ts';

test.each([
  '127.0.0.1',
  '127.9.8.7',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
])('%s is reached from this machine only', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.7',
  '128.0.0.1',
  'fe80::1',
  '::ffff:10.0.0.7',
  'db-7',
  'localhost.example.org',
  '',
])('%j may be reached from elsewhere', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
