import { type AddressInfo, createServer, type Socket } from 'node:net';
import { scaled } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { exchange, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const SECRET = 'Zx81-spectrum';
const NODE = { hostIp: '127.0.0.1', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.4.1', onlineTime: 1 };
const CONFIG = JSON.stringify({ node: NODE, config: `password = "${SECRET}"\n` });
const DESCRIPTION = JSON.stringify({ node: NODE, clockMs: 1, timeZone: 'UTC', utcOffsetMinutes: 0, uptimeMs: 1 });
const TEXT = `2026-11-15 10:00:00.000\tINFO\tx.go:1\tlogin ${SECRET}\n`.repeat(50);
const MASKED = TEXT.replaceAll(SECRET, '*'.repeat(SECRET.length));

/** The bytes of a response. `null`: the connection is closed. */
type Answer = readonly (string | null)[];
type Respond = (method: string, path: string) => Answer | undefined;

/** A member whose responses are bytes of the test's choice. */
async function startRawMember(respond: Respond): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => {});
    socket.on('data', (data) => {
      received += data.toString();
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        const [method = '', url = ''] = received.split(' ', 2);
        received = received.slice(end + 4);
        const path = url.replace('/api/v1', '').replace(/\?.*/, '');
        for (const part of respond(method, path) ?? withLength('{"code":"ROUTE_NOT_FOUND"}', '404 Not Found'))
          if (part === null) socket.end();
          else socket.write(part);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function head(status: string, headers: readonly string[]): string {
  return [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers, '', ''].join('\r\n');
}

function withLength(body: string, status = '200 OK', headers: readonly string[] = []): Answer {
  return [head(status, [`content-length: ${Buffer.byteLength(body)}`, ...headers]), body];
}

function inChunks(body: string, status = '200 OK', headers: readonly string[] = []): Answer {
  const size = body.length.toString(16);
  const chunk = body === '' ? '' : `${size}\r\n${body}\r\n`;
  return [head(status, ['transfer-encoding: chunked', ...headers]), `${chunk}0\r\n\r\n`];
}

function untilClose(body: string, status = '200 OK', headers: readonly string[] = []): Answer {
  return [head(status, headers), body, null];
}

async function startNodeWithMember(respond: Respond): Promise<number> {
  const member = await startRawMember(respond);
  const [port = 0] = await freePorts(1);
  const members = [`n1=http://127.0.0.1:${port}`, `m=${member}`];
  await startTestNode({
    settings: { http: { port }, cluster: { nodeId: 'n1', members, memberTimeoutMs: scaled(5000) } },
  });
  return port;
}

/** The request twice and another one behind, all on one connection, which is closed after the last response. */
function pipelined(port: number, path: string): Promise<string> {
  const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`;
  return exchange(port, get(path) + get(path) + get('/health/live', 'connection: close\r\n'));
}

function statuses(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);
}

const VIEW = '/api/v1/nodes/m/log/view?file=x.log&size=100000';
const RAW = '/api/v1/nodes/m/log/raw?file=x.log';

it.each([
  ['a length', withLength(TEXT)],
  ['a length, in two parts', [head('200 OK', [`content-length: ${TEXT.length}`]), TEXT.slice(0, 100), TEXT.slice(100)]],
  ['chunks', inChunks(TEXT)],
  ['the end of the connection', untilClose(TEXT)],
])('the text of a contract-only member with %s is masked, and the connection goes on', async (_name, answer) => {
  const port = await startNodeWithMember((_method, path) => {
    if (path === '/config') return withLength(CONFIG);
    if (path === '/log/list') return withLength(`[{"name":"x.log","size":${TEXT.length}}]`);
    return path === '/log/view' ? answer : undefined;
  });
  expect((await sendRequest(port, VIEW)).body.toString()).toBe(MASKED);
  const text = await pipelined(port, VIEW);
  expect(statuses(text)).toEqual(['200', '200', '200']);
  expect(text).not.toContain(SECRET);
});

it.each([
  ['ends before its length', [head('200 OK', ['content-length: 2900']), TEXT.slice(0, 100), null]],
  ['ends after its head', [head('200 OK', ['content-length: 2900']), null]],
])('a view of a contract-only member that %s is cut or refused, never left open', async (_name, answer) => {
  const port = await startNodeWithMember((_method, path) => {
    if (path === '/config') return withLength(CONFIG);
    if (path === '/log/list') return withLength('[{"name":"x.log","size":2900}]');
    return path === '/log/view' ? answer : undefined;
  });
  const text = await pipelined(port, VIEW);
  // What is masked is held back, so that nothing was sent when it failed.
  expect(statuses(text)).toEqual(['502', '502', '200']);
  expect((await sendRequest(port, '/health/live')).status).toBe(200);
});

const ETAG = 'etag: "a-b-c"';
const RANGE = [ETAG, 'content-range: bytes 0-2899/2900'];
const PART = '206 Partial Content';

it.each([
  ['a shorter length', withLength('0123456789', PART, RANGE)],
  ['no bytes', withLength('', PART, RANGE)],
  ['a longer length', withLength('x'.repeat(3000), PART, RANGE)],
  ['no chunks', inChunks('', PART, RANGE)],
  ['an end without bytes', untilClose('', PART, RANGE)],
  ['too much in one chunk', inChunks('x'.repeat(3000), PART, RANGE)],
])('a member that announces 2,900 bytes and sends %s is refused, and the connection goes on', async (_name, answer) => {
  const port = await startNodeWithMember((method, path) => respondRaw(method, path, answer));
  const text = await pipelined(port, RAW);
  expect(statuses(text)).toEqual(['502', '502', '200']);
});

it.each([
  ['10 in a chunk', inChunks('0123456789', PART, RANGE)],
  ['10 up to the end of the connection', untilClose('0123456789', PART, RANGE)],
])(
  'a member that announces 2,900 bytes and sends %s: the response is cut, and the node goes on',
  async (_n, answer) => {
    const port = await startNodeWithMember((method, path) => respondRaw(method, path, answer));
    const text = await pipelined(port, RAW);
    expect(statuses(text)).toEqual(['200']);
    expect(text).toMatch(/0123456789$/);
    const { body } = await sendRequest(port, '/metrics');
    // The member is wrong, not this node.
    expect(body.toString()).toContain('porthole_request_faults_total{transport="http"} 0\n');
  },
);

it('a member that refuses the bytes it has announced: its error is not taken for one of this node', async () => {
  const refused = withLength('{"code":"UNAUTHENTICATED","detail":"no"}', '401 Unauthorized');
  const port = await startNodeWithMember((method, path) => respondRaw(method, path, refused));
  const { status, body } = await sendRequest(port, RAW);
  expect([status, JSON.parse(body.toString())]).toMatchObject([502, { code: 'UNREACHABLE' }]);
  expect(body.toString()).toContain('member \\"m\\"');
});

function respondRaw(method: string, path: string, answer: Answer): Answer | undefined {
  if (path === '/node') return withLength(DESCRIPTION);
  if (path === '/config') return withLength(CONFIG);
  if (path !== '/log/raw') return undefined;
  return method === 'HEAD' ? [head('200 OK', ['content-length: 2900', ETAG])] : answer;
}
