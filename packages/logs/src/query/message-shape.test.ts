import { expect, test } from 'vitest';
import { matchesShape } from '../shapes/testing/matches-shape.ts';
import { messageShape } from './message-shape.ts';

test.each([
  ['', ''],
  ['flush took 17ms', 'flush took *'],
  ['flush took 17 ms', 'flush took *'],
  ['block blk_-38865 of size 67108864 from /10.251.91.84', 'block * of size * from *'],
  ['accepted 10.0.0.7:52814, id 0x1f', 'accepted *, id *'],
  ['link is fe80::c6b3:1ff:fecd:467f on b8:27:eb:aa:ff:cc', 'link is * on *'],
  ['request 7f9950ab-80c1-4e0f-9d42-06e2aabbccdd is deadbeef', 'request * is *'],
  ['reading /etc/app/app.toml and C:\\app\\app.ini', 'reading * and C:*'],
  ['power/control problem: read/write', 'power/control problem: read/write'],
  ['GET https://example.org/x?y failed', 'GET * failed'],
  ['proxy.example.org:443 open through SOCKS5', '* open through SOCKS5'],
  ["can't open 'my file' as \"x y\"", "can't open * as *"],
  ['sent 3637 bytes (3.55 KB), 0 bytes received, lifetime <1 sec', 'sent *, * received, lifetime *'],
  ['estimated size 5.2 KB, free (14.0 GB)', 'estimated size *, free (*)'],
  ['session of user alice, not the user', 'session of user *, not the user'],
  ['connection from 10.0.0.1 () at Sun Jul 17 15:09:16 2005', 'connection from * (*) at * * * * *'],
  ['rhost=example.org tty=ssh ruser= uid=0', 'rhost=* tty=ssh ruser= uid=*'],
  ['10.0.0.1 "POST /v2/servers HTTP/1.1" status: 202', '* "POST * *" status: *'],
  ['GET /api/v1/users/17/avatar?size=2 HTTP/1.1', 'GET /api/*/users/*/avatar* *'],
  ['in\tcolumns   of 1\r\nand another line 2', 'in columns of *'],
])('the shape of %j is %j', (message, shape) => {
  expect(messageShape(message)).toBe(shape);
  expect(matchesShape(shape, message)).toBe(true);
});

test('long messages are compared by their start', () => {
  const words = messageShape('word '.repeat(100)).split(' ');
  expect([words.length, words.at(-1)]).toEqual([65, '*']);
  expect(messageShape(`a ${'x'.repeat(2000)}`)).toBe('a *');
  expect(messageShape('x'.repeat(2000))).toBe('*');
});
