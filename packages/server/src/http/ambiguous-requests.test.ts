import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGuardedNode } from '../auth/testing/guarded-node.ts';
import { createToken } from '../auth/tokens.ts';
import { createNode } from '../create-node.ts';
import { exchange, requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode, testSettings } from '../testing/test-node.ts';

const { token, line } = createToken('ann');
const good = `Bearer ${token}`;
const TWICE = ['Authorization', 'authorization', 'AUTHORIZATION'].flatMap((second) => [
  [
    ['Authorization', good],
    [second, 'Bearer other'],
  ],
  [
    ['Authorization', 'Bearer other'],
    [second, good],
  ],
  [
    ['Authorization', good],
    [second, good],
  ],
]);

function tokenFile(): string {
  const path = join(tempDir(), 'tokens');
  writeFileSync(path, `${line}\n`);
  return path;
}

/** The bytes of a request with exactly these headers. */
function written(headers: readonly (readonly string[])[], path = '/api/v1/config'): string {
  const lines = [['Host', 'localhost'], ['Connection', 'close'], ...headers].map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

const REFUSED = /^HTTP\/1\.1 400 .*there is more than one \\"Authorization\\" header.*"code":"BAD_REQUEST"/s;

describe('two Authorization headers', () => {
  it('are refused, whichever of them is valid and however they are written', async () => {
    const { port } = await startTestNode({ settings: { auth: { tokenFile: tokenFile() } } });
    expect(await exchange(port, written([['Authorization', good]]))).toMatch(/^HTTP\/1\.1 200 /);
    for (const headers of TWICE) expect(await exchange(port, written(headers))).toMatch(REFUSED);
    // One whose parts are separated by commas is not two.
    const digest = ['Authorization', 'Digest username="a", realm="b", nonce=c'];
    expect(await exchange(port, written([digest]))).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('are refused by a node in the server of a program, before that is asked who it is', async () => {
    let asked = 0;
    const authenticate = () => {
      asked++;
      return { name: 'ann', roles: ['admin'] as const };
    };
    const node = await createNode({ authenticate, settings: testSettings(tempDir()) });
    onTestFinished(() => node.close());
    const server = createServer(node.handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    for (const headers of TWICE) expect(await exchange(port, written(headers))).toMatch(REFUSED);
    // The Fetch standard joins them.
    const request = new Request('http://localhost/api/v1/config', { headers: TWICE[0] as [string, string][] });
    expect(request.headers.get('authorization')).toBe(`${good}, Bearer other`);
    const response = await node.fetch(request, { address: '127.0.0.1' });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
    const hosts = new Request('http://localhost/api/v1/config', { headers: { host: 'a.example, b.example' } });
    expect((await node.fetch(hosts, { address: '127.0.0.1' })).status).toBe(400);
    expect(asked).toBe(0);
  });

  it('are refused over HTTP/2, and so is a Host header that differs from the authority', async () => {
    const { port, tokens, authority } = await startGuardedNode();
    const open = () => connectTls({ host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: ['h2'] });
    const mine = `Bearer ${tokens.admin}`;
    const ask = (...headers: [string, string][]) =>
      readUntil(open(), requestBytes({ method: 'GET', path: '/api/v1/config', headers }), /"code":|"config":/);
    expect(await ask(['authorization', mine])).toContain('"config":');
    expect(await ask(['authorization', mine], ['authorization', 'Bearer x'])).toContain('"code":"BAD_REQUEST"');
    expect(await ask(['authorization', 'Bearer x'], ['authorization', mine])).toContain('"code":"BAD_REQUEST"');
    expect(await ask(['authorization', mine], ['host', 'other.example'])).toContain('"code":"BAD_REQUEST"');
    expect(await ask(['authorization', mine], ['host', 'localhost'])).toContain('"config":');
  });

  it('are refused over gRPC', async () => {
    const { running, port } = await startTestNode({
      settings: { auth: { tokenFile: tokenFile(), protectMetrics: false } },
    });
    const call = (...headers: [string, string][]) => {
      const socket = connect(running.node.grpcPort, '127.0.0.1');
      const path = '/porthole.v1.NodeStateService/Describe';
      const standard: [string, string][] = [
        ['content-type', 'application/grpc'],
        ['te', 'trailers'],
      ];
      socket.write(requestBytes({ method: 'POST', path, headers: [...standard, ...headers], body: Buffer.alloc(5) }));
      onTestFinished(() => void socket.destroy());
    };
    const ended = async (status: string, count: number) =>
      eventually(async () =>
        expect((await sendRequest(port, '/metrics')).body.toString()).toContain(
          `porthole_grpc_calls_total{method="NodeStateService/Describe",status="${status}"} ${count}\n`,
        ),
      );
    call(['authorization', good]);
    await ended('OK', 1);
    call(['authorization', good], ['authorization', 'Bearer x']);
    await ended('INVALID_ARGUMENT', 1);
    call(['authorization', 'Bearer x'], ['authorization', good]);
    await ended('INVALID_ARGUMENT', 2);
  });
});

it('two tickets are refused, and the one they contain can still be used', async () => {
  const { port } = await startTestNode({ files: { 'a.log': 'x\n' }, settings: { auth: { tokenFile: tokenFile() } } });
  const target = '/api/v1/log/raw?file=a.log';
  const headers = { authorization: good };
  const path = `/api/v1/download/ticket?for=${encodeURIComponent(target)}`;
  const { ticket } = await requestJson<{ ticket: string }>(port, path, { headers });
  for (const twice of [`ticket=x&ticket=${ticket}`, `ticket=${ticket}&ticket=x`, `ticket=${ticket}&ticket=${ticket}`])
    expect(await requestProblem(port, `${target}&${twice}`)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  expect((await sendRequest(port, `${target}&ticket=${ticket}`)).status).toBe(200);
});

interface RawRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: [string, string][];
  body?: Buffer;
}

/** A request over HTTP/2, byte by byte: Node's client sends no header twice. */
function requestBytes({ method, path, headers, body }: RawRequest): Buffer {
  const fields = [[':method', method], [':scheme', 'https'], [':authority', 'localhost'], [':path', path], ...headers];
  const block = Buffer.concat(fields.map(([name = '', value = '']) => literal(name, value)));
  const [SETTINGS, HEADERS, DATA, END_STREAM, END_HEADERS] = [4, 1, 0, 1, 4];
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(SETTINGS, 0, 0),
    frame(HEADERS, END_HEADERS | (body ? 0 : END_STREAM), 1, block),
    ...(body ? [frame(DATA, END_STREAM, 1, body)] : []),
  ]);
}

/** HPACK: a header that is written in full and not kept. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Sends the bytes and reads until the response has what is expected. */
function readUntil(socket: Socket, bytes: Buffer, expected: RegExp): Promise<string> {
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
    socket.on('data', (part) => {
      text += part.toString('latin1');
      if (expected.test(text)) resolve(text);
    });
  });
}
