import { describe, expect, it } from 'vitest';
import { AttackedNode } from './testing/attacked-node.ts';
import { exchange, openMany, statusesIn } from './testing/raw-http.ts';

const HEAD = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n';

/** After its answer the node closes, and all has been said. */
const LAST = `${HEAD}Connection: close\r\n`;
const NEVER = () => new Promise<never>(() => {});

/** What is hidden in another request; its answer cannot be taken for any other. */
const INNER_PATH = 'api/v1/log/view?file=inner.log';
const INNER = `GET /${INNER_PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const INNER_TEXT = 'the inner request was answered';
const LENGTH = INNER.length;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const READ_AT_ONCE = 64 * 1024;

/** Each is one request to some programs and two to others. */
const SMUGGLED: Readonly<Record<string, string>> = {
  'a length and chunks': `POST /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${LENGTH + 5}\r\n${CHUNKED}\r\n0\r\n\r\n${INNER}`,
  'chunks and a length': `${HEAD}${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n${INNER}`,
  'two lengths': `${HEAD}Content-Length: 0\r\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'two equal lengths': `${HEAD}Content-Length: ${LENGTH}\r\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'a list of lengths': `${HEAD}Content-Length: 0, ${LENGTH}\r\n\r\n${INNER}`,
  'a length with a sign': `${HEAD}Content-Length: +${LENGTH}\r\n\r\n${INNER}`,
  'a negative length': `${HEAD}Content-Length: -1\r\n\r\n${INNER}`,
  'a hexadecimal length': `${HEAD}Content-Length: 0x10\r\n\r\n${INNER}`,
  'a length beyond all numbers': `${HEAD}Content-Length: 99999999999999999999999\r\n\r\n${INNER}`,
  'a folded header': `${HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${INNER}`,
  'a header folded into another': `${HEAD}X: a\r\n Content-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'a blank before the colon': `${HEAD}Content-Length : ${LENGTH}\r\n\r\n${INNER}`,
  'a tab before the colon': `${HEAD}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${INNER}`,
  'bare line feeds': `GET /health/live HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n${INNER}`,
  'a bare line feed in a header': `${HEAD}X: a\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'a bare carriage return': `${HEAD}X: a\rContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'a NUL in a value': `${HEAD}X: a\0b\r\n\r\n${INNER}`,
  'a NUL in a name': `${HEAD}Content\0-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'an unknown coding': `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${INNER}`,
  'no coding': `${HEAD}Transfer-Encoding: identity\r\n\r\n${INNER}`,
  'chunks that are not last': `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${INNER}`,
  'two codings': `${HEAD}${CHUNKED}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n${INNER}`,
  'a line feed in an extension': `${HEAD}${CHUNKED}\r\n1;a\nb\r\nx\r\n0\r\n\r\n${INNER}`,
  'a line feed after a chunk size': `${HEAD}${CHUNKED}\r\n1\nx\r\n0\r\n\r\n${INNER}`,
  'a chunk size beyond all numbers': `${HEAD}${CHUNKED}\r\nffffffffffffffffff\r\nx\r\n0\r\n\r\n${INNER}`,
  'a negative chunk size': `${HEAD}${CHUNKED}\r\n-1\r\nx\r\n0\r\n\r\n${INNER}`,
  'a chunk size in C': `${HEAD}${CHUNKED}\r\n0x1\r\nx\r\n0\r\n\r\n${INNER}`,
  'a chunk that is longer': `${HEAD}${CHUNKED}\r\n1\r\nxyz\r\n0\r\n\r\n${INNER}`,
  'a length in the trailer': `${HEAD}${CHUNKED}\r\n0\r\nContent-Length: 10\r\n\r\n${INNER}`,
  'chunks in HTTP/1.0': `GET /health/live HTTP/1.0\r\nHost: localhost\r\n${CHUNKED}\r\n0\r\n\r\n${INNER}`,
  'no version': `GET /health/live\r\n\r\n${INNER}`,
  'a tunnel': `CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n${INNER}`,
  'a body after an expectation': `${HEAD}Expect: 100-continue\r\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'a body after an unknown expectation': `${HEAD}Expect: nonsense\r\nContent-Length: ${LENGTH}\r\n\r\n${INNER}`,
  'the begin of HTTP/2': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${INNER}`,
  'a second version': `GET /health/live HTTP/1.1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n${INNER}`,
};

const ODD: Readonly<Record<string, [bytes: string, statuses: number[]]>> = {
  'two hosts': [`${LAST}Host: elsewhere\r\n\r\n`, [400]],
  'no host': ['GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
  'another host in the target': [
    'GET http://elsewhere/api/v1/config HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    [403],
  ],
  'our host in the target': [
    'GET http://localhost/health/live HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n',
    [200],
  ],
  'a user before the host': [
    'GET http://x@localhost/api/v1/config HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    [403],
  ],
  'another scheme': ['GET ftp://localhost/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
  'all of the server': ['OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400]],
  'empty lines before it': [`\r\n\r\n${LAST}\r\n`, [200]],
  'a header of 1 MiB': [`${LAST}X: ${'x'.repeat(1024 ** 2)}\r\n\r\n`, [431]],
  'a header name of 1 MiB': [`${LAST}${'x'.repeat(1024 ** 2)}: x\r\n\r\n`, [431]],
  '100,000 headers': [`${LAST}${'x: y\r\n'.repeat(100_000)}\r\n`, [431]],
  'a URL of 1 MiB': [`GET /${'x'.repeat(1024 ** 2)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, [431]],
  'a method of 1 MiB': [`${'X'.repeat(1024 ** 2)} / HTTP/1.1\r\nHost: localhost\r\n\r\n`, [400]],
  'all bytes': [String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte)).repeat(64), [400]],
};

describe('a request within a request', () => {
  it('is never answered, however it is hidden', async () => {
    const node = await AttackedNode.start({ files: { 'inner.log': `${INNER_TEXT}\n` } });
    // Once the same request has been answered twice on another connection, it would have been on this one.
    const settled = async () => [await node.request(INNER_PATH), await node.request(INNER_PATH)];
    expect(await exchange(node.port, INNER, settled)).toContain(INNER_TEXT); // it would be, by itself
    for (const [name, bytes] of Object.entries(SMUGGLED)) {
      const answers = await exchange(node.port, bytes, settled);
      expect(answers, name).not.toContain(INNER_TEXT);
      const final = statusesIn(answers).filter((status) => status >= 200);
      expect(final.filter((status) => status < 400).length, name).toBeLessThan(2);
      expect(final.slice(1), name).toEqual(final.length > 1 ? [400] : []);
    }
    await node.expectHealthy();
  });
});

describe('a request that is odd', () => {
  it('is answered for what it is, and the next client does not notice', async () => {
    const node = await AttackedNode.start();
    for (const [name, [bytes, statuses]] of Object.entries(ODD)) {
      // If it has not read everything, the system resets the connection, and the reset may overtake the response.
      const allowed = bytes.length > READ_AT_ONCE ? [statuses, []] : [statuses];
      expect(allowed, name).toContainEqual(statusesIn(await exchange(node.port, bytes, NEVER)));
    }
    expect((await node.request('api/v1/log/list')).status).toBe(200);
    await node.expectHealthy();
  });
});

describe('many requests at once on one connection', () => {
  it('are answered all, in their order', async () => {
    const node = await AttackedNode.start({ files: { 'a.log': 'text\n' } });
    const paths = Array.from({ length: 90 }, (_, n) => (n % 2 === 0 ? '/api/v1/log/list' : '/no/such/route'));
    const bytes = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('');
    const statuses = statusesIn(await exchange(node.port, `${bytes}${LAST}\r\n`, NEVER));
    expect(statuses).toEqual(paths.map((path) => (path === '/no/such/route' ? 404 : 200)).concat(200));
    await node.expectHealthy();
  });

  it('cost little when nobody reads the answers', async () => {
    const node = await AttackedNode.start();
    await node.request('openapi.json');
    const before = node.residentMib;
    const sockets = await openMany(node.port, 8);
    const request = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'; // some hundred KiB each
    for (const socket of sockets) socket.pause().write(request.repeat(20_000));
    await node.expectHealthy();
    expect((await node.request('api/v1/log/list')).status).toBe(200);
    expect(node.residentMib - before).toBeLessThan(200);
  });
});
