import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { createNode } from '../create-node.ts';
import { selfSigned } from '../doctor/testing/self-signed.ts';
import { checkHealth } from '../grpc/testing/standard-services.ts';
import type { PartialSettings } from '../settings/settings.ts';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode, testSettings } from '../testing/test-node.ts';

const HEADERS = [
  'Forwarded',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Real-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
];
const FORWARDED = { 'x-forwarded-for': '203.0.113.7' };

/** The node's settings with a token file, and the token. */
function withToken(): { settings: PartialSettings; authorization: string } {
  const { token, line } = createToken('ann');
  const tokenFile = join(tempDir(), 'tokens');
  writeFileSync(tokenFile, `${line}\n`);
  return { settings: { auth: { tokenFile } }, authorization: `Bearer ${token}` };
}

/** A reverse proxy on the machine of the node, which listens for everyone: it adds what `proxied` has to each request. */
async function startProxy(port: number, proxied: (from: IncomingMessage) => OutgoingHttpHeaders): Promise<number> {
  const proxy = createServer((from, to) => {
    const headers = { ...from.headers, ...proxied(from) };
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: from.url, method: from.method, headers });
    outgoing.on('response', (answer) => {
      to.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(to);
    });
    from.pipe(outgoing);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return (proxy.address() as AddressInfo).port;
}

describe('without credentials, a request that a proxy passed on', () => {
  it.each(HEADERS)('is refused by its header %s, with the settings that allow it', async (name) => {
    const { port } = await startTestNode();
    const { status, code, detail } = await requestProblem(port, '/api/v1/config', { headers: { [name]: 'x' } });
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(detail).toContain(`"${name.toLowerCase()}"`);
    expect(detail).toContain('auth.token-file');
    expect(detail).toContain('auth.allow-anonymous');
  });

  it('is refused on every route but health and the files of the console, in any way it comes', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'x\n' }, settings: { mcp: { enabled: true } } });
    const likeNginx = await startProxy(port, ({ socket }) => ({
      'x-real-ip': socket.remoteAddress,
      host: 'localhost',
    }));
    const likeHaproxy = await startProxy(port, () => ({ host: 'logs.example.org' }));
    for (const proxy of [likeNginx, likeHaproxy]) {
      for (const path of ['/api/v1/log/view?file=a.log', '/metrics', '/openapi.json', '/api/v1/nodes', '/none'])
        expect((await sendRequest(proxy, path)).status, path).toBe(403);
      const mcp = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      expect((await sendRequest(proxy, '/mcp', mcp)).status).toBe(403);
    }
    for (const path of ['/health/live', '/health/ready', '/'])
      expect((await sendRequest(likeNginx, path)).status, path).toBe(200);
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log')).status).toBe(200);
  });

  it('is refused over gRPC as well, by its metadata or its authority', async () => {
    const { running } = await startTestNode();
    const { grpcPort } = running.node;
    const local = `127.0.0.1:${grpcPort}`;
    expect(await describeNode(grpcPort, { ':authority': local })).toMatchObject({ 'grpc-status': '0' });
    const refused = { 'grpc-status': '7' };
    const forbidden = { ...refused, 'porthole-code': 'FORBIDDEN' };
    expect(await describeNode(grpcPort, { ':authority': local, ...FORWARDED })).toMatchObject(forbidden);
    const host = { ...refused, 'porthole-code': 'HOST_NOT_ALLOWED' };
    expect(await describeNode(grpcPort, { ':authority': 'logs.example.org' })).toMatchObject(host);
    expect(await checkHealth(grpcPort)).toBe('SERVING');
  });

  it('is refused over HTTP/2', async () => {
    const dir = tempDir();
    const { certFile, keyFile } = selfSigned(dir);
    const { port } = await startTestNode({ settings: { tls: { certFile, keyFile } } });
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const status = async (headers: OutgoingHttpHeaders) => {
      const stream = session.request({ ':path': '/api/v1/config', ...headers });
      const head = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve));
      stream.resume();
      return head[':status'];
    };
    expect(await status({})).toBe(200);
    expect(await status(FORWARDED)).toBe(403);
    expect(await status({ ':authority': 'logs.example.org' })).toBe(403);
  });

  it('is refused by a node that is part of another server, whatever its own URL is', async () => {
    const node = await createNode({ url: 'https://shop.example.org/', settings: testSettings(tempDir()) });
    onTestFinished(() => node.close());
    const server = createServer(node.handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const proxy = await startProxy(port, () => ({ host: 'shop.example.org' }));
    expect((await sendRequest(port, '/api/v1/node')).status).toBe(200);
    expect((await sendRequest(port, '/api/v1/node', { headers: FORWARDED })).status).toBe(403);
    expect((await sendRequest(proxy, '/api/v1/node')).status).toBe(403);
    const request = new Request('http://localhost/api/v1/node', { headers: FORWARDED });
    expect((await node.fetch(request, { address: '127.0.0.1' })).status).toBe(403);
  });

  it('is served where everyone is, and with credentials as before', async () => {
    const { port: open } = await startTestNode({ settings: { auth: { allowAnonymous: true } } });
    expect((await sendRequest(open, '/api/v1/config', { headers: FORWARDED })).status).toBe(200);
    const { settings, authorization } = withToken();
    const { port, running } = await startTestNode({ settings });
    const proxy = await startProxy(port, () => ({ ...FORWARDED, host: 'logs.example.org' }));
    expect((await sendRequest(proxy, '/api/v1/config')).status).toBe(401);
    expect((await sendRequest(proxy, '/api/v1/config', { headers: { authorization } })).status).toBe(200);
    const call = { ':authority': 'logs.example.org', ...FORWARDED, authorization };
    expect(await describeNode(running.node.grpcPort, call)).toMatchObject({ 'grpc-status': '0' });
  });
});

/** The status of a call, as a client that sets any metadata sends it. */
async function describeNode(port: number, headers: OutgoingHttpHeaders): Promise<Record<string, unknown>> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const call = session.request({
    ':method': 'POST',
    ':path': '/porthole.v1.NodeStateService/Describe',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  call.end(Buffer.alloc(5));
  const status = await new Promise<Record<string, unknown>>((resolve) => {
    call.once('response', (head) => 'grpc-status' in head && resolve(head));
    call.once('trailers', resolve);
    call.resume();
  });
  return { ...status };
}
