import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually, openBelow } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CreateNodeOptions, createNode } from './create-node.ts';
import type { EmbeddedNode } from './embedded-node.ts';
import { startNode } from './start-node.ts';
import { exchange, openRequest, openSocket, requestJson, requestProblem, sendRequest } from './testing/send-request.ts';
import { stopClock } from './testing/stop-clock.ts';
import { testSettings } from './testing/test-node.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: hello\n';

/** A node below /ops, which shows one log. */
async function embed({ settings = {}, ...options }: CreateNodeOptions = {}) {
  const dir = tempDir();
  const logs = join(dir, 'logs');
  mkdirSync(logs);
  writeFileSync(join(logs, 'a.log'), LINE);
  const http = { basePath: '/ops', ...settings.http };
  const node = await createNode({ ...options, settings: { ...testSettings(dir, settings), http } });
  onTestFinished(() => node.close());
  return { node, dir, log: join(logs, 'a.log') };
}

/** The server of a program that embeds the node. */
async function serve(
  node: EmbeddedNode,
  before: (request: IncomingMessage, response: ServerResponse) => void = () => {},
) {
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/ops')) return void response.end('the host');
    before(request, response);
    node.handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function openStreams(port: number): Promise<number> {
  const { body } = await sendRequest(port, '/ops/metrics');
  return Number(/^porthole_open_streams (\d+)$/m.exec(body.toString())?.[1]);
}

const HERE = { address: '127.0.0.1' };

function ask(path: string, init?: RequestInit): Request {
  return new Request(`http://localhost${path}`, init);
}

describe('a node without a port', () => {
  it('serves everything below its base path, the console included, and nothing else', async () => {
    const { node } = await embed();
    const port = await serve(node);
    expect((await sendRequest(port, '/')).body.toString()).toBe('the host');
    expect(await requestJson(port, '/ops/api/v1/log/list')).toEqual([{ name: 'a.log', size: LINE.length }]);
    expect(await requestProblem(port, '/opsi/api/v1/log/list')).toMatchObject({ status: 404 });
    for (const path of ['/ops', '/ops/', '/ops/?a=1']) {
      const page = (await sendRequest(port, path, { headers: { accept: 'text/html' } })).body.toString();
      expect(page).toContain('<meta name="porthole-base" content="/ops">');
      const links = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
      expect(links.length).toBeGreaterThan(3);
      for (const link of links) expect((await sendRequest(port, link)).status, link).toBe(200);
    }
    const scripts = async (path: string) => {
      const { link = '' } = (await sendRequest(port, `/ops${path}`, { headers: { accept: 'text/html' } })).headers;
      return `${link}`.split(', ').map((one) => /^<(.+)>; rel=modulepreload$/.exec(one)?.[1] ?? one);
    };
    const [overview, logs, chosen] = await Promise.all(['/', '/logs', '/logs?last=1h&src=n1/a.log'].map(scripts));
    for (const url of chosen ?? []) expect((await sendRequest(port, url)).status, url).toBe(200);
    expect(chosen).toEqual(expect.arrayContaining(logs ?? []));
    expect([logs, chosen]).not.toContainEqual(overview);
    const docs = (await sendRequest(port, '/ops/docs')).body.toString();
    expect(docs).not.toMatch(/(?:href|src)="\/(?!ops\/)/);
    expect(await requestJson(port, '/ops/openapi.json')).toMatchObject({ servers: [{ url: '/ops' }] });
    // A cluster of one, which has no address of its own.
    expect(await requestJson(port, '/ops/api/v1/nodes')).toMatchObject({ nodes: [{ isSelf: true }] });
    expect(await requestProblem(port, '/ops/none')).toMatchObject({ detail: 'no such route; see /ops/docs' });
  });

  it('responds to fetch as to a socket, with all its headers', async () => {
    const { node } = await embed();
    const port = await serve(node);
    for (const path of ['/ops/api/v1/log/view?file=a.log', '/ops/docs', '/ops/none', '/ops/api/v1/log/list']) {
      const direct = await node.fetch(ask(path), HERE);
      const { status, headers, body } = await sendRequest(port, path);
      const { date, connection, 'keep-alive': _, ...expected } = headers;
      expect(direct.status).toBe(status);
      expect(Object.fromEntries(direct.headers)).toEqual(expected);
      expect(Buffer.from(await direct.arrayBuffer()).equals(body), path).toBe(true);
    }
    const head = await node.fetch(ask('/ops/api/v1/log/list', { method: 'HEAD' }), HERE);
    expect([head.status, head.body]).toEqual([200, null]);
    const body = JSON.stringify({ q: ['hello'] });
    const post = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    expect(await (await node.fetch(ask('/ops/api/v1/log/search', post), HERE)).text()).toContain('"message":"hello"');
  });

  it('takes what Express has done to a request: a mount path taken off, a body parsed, methods replaced', async () => {
    const { node } = await embed();
    const port = await serve(node, (request, response) => {
      Object.assign(request, { originalUrl: request.url, url: request.url?.slice('/ops'.length) });
      // As `compression` does: callbacks are dropped.
      const end = response.end.bind(response);
      Object.assign(response, { write: () => true, end: (chunk: unknown) => end(chunk) });
      if (request.method === 'POST') Object.assign(request.resume(), { body: { q: ['hello'] } });
    });
    expect(await requestJson(port, '/ops/api/v1/log/list')).toHaveLength(1);
    const found = await fetch(`http://127.0.0.1:${port}/ops/api/v1/log/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await found.text()).toContain('"message":"hello"');
  });

  it('streams a follow, and notices when its reader leaves', async () => {
    const { node, dir, log } = await embed({ settings: { follow: { pollMs: 20 } } });
    const port = await serve(node);
    const leaving = new AbortController();
    const streams = [
      await fetch(`http://127.0.0.1:${port}/ops/api/v1/log/follow`, { signal: leaving.signal }),
      await node.fetch(ask('/ops/api/v1/log/follow'), HERE),
      await node.fetch(ask('/ops/api/v1/log/follow', { signal: leaving.signal }), HERE),
    ];
    for (const { body } of streams) {
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      appendFileSync(log, LINE.replace('hello', 'again'));
      while (!text.includes('again')) text += (await reader?.read())?.value ?? '';
      if (body === streams[1]?.body) await reader?.cancel();
    }
    leaving.abort();
    await eventually(() => expect(openBelow(join(dir, 'logs'))).toBe(0));
  });

  it('keeps nothing of requests that were pipelined behind another one when their client leaves', async () => {
    const { node } = await embed();
    const port = await serve(node);
    const [follow, view] = ['log/follow', 'log/view?file=a.log'].map(
      (path) => `GET /ops/api/v1/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    const socket = openSocket(port);
    socket.write(`${view}${follow}${view}${follow}`);
    await eventually(async () => expect(await openStreams(port)).toBe(1));
    socket.destroy();
    await eventually(async () => expect(await openStreams(port)).toBe(0));
    const last = view?.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const text = await exchange(port, `${view}${last}`);
    expect(text.split(LINE)).toHaveLength(3);
  });

  it('ends follows and refuses requests when it is closed, and leaves nothing open', async () => {
    const { node, dir } = await embed();
    const port = await serve(node);
    const streams = [
      fetch(`http://127.0.0.1:${port}/ops/api/v1/log/follow`),
      node.fetch(ask('/ops/api/v1/log/follow'), HERE),
    ];
    const texts = (await Promise.all(streams)).map((response) => response.text());
    await node.close();
    await node.close();
    for (const text of await Promise.all(texts)) expect(text).toContain('"reason":"stopping"');
    // Otherwise a page that asks again and again would keep the server of the program from closing.
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const late = await sendRequest(port, '/ops/api/v1/config', { agent });
    expect({ status: late.status, connection: late.headers.connection }).toEqual({ status: 503, connection: 'close' });
    expect(await requestProblem(port, '/ops/api/v1/config')).toMatchObject({ status: 503, code: 'SHUTTING_DOWN' });
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });

  it('ends a reader of fetch that takes nothing', async () => {
    const big = Buffer.alloc(4 * 1024 * 1024, 'a line of a log file\n');
    const { node, log } = await embed({ settings: { http: { stallTimeoutMs: 50 } } });
    writeFileSync(log, big);
    const { body } = await node.fetch(ask('/ops/api/v1/log/raw?file=a.log'), HERE);
    const reader = body?.getReader();
    await reader?.read();
    await expect(reader?.closed).rejects.toThrow();
  });
});

describe('security without a port', () => {
  it('serves only its own machine while no credentials are set up', async () => {
    const { node } = await embed();
    const status = async (context?: { address?: string }) =>
      (await node.fetch(ask('/ops/api/v1/config'), context)).status;
    expect([await status({ address: '::ffff:127.0.0.1' }), await status({ address: '::1' })]).toEqual([200, 200]);
    expect([await status({ address: '192.0.2.1' }), await status()]).toEqual([403, 403]);
    const problem = await (await node.fetch(ask('/ops/api/v1/config'))).json();
    expect(problem).toMatchObject({ code: 'FORBIDDEN', detail: expect.stringContaining('fetch() was not given') });
    // What needs no credentials is served to everyone.
    expect((await node.fetch(ask('/ops/health/live'))).status).toBe(200);
    const { node: open } = await embed({ settings: { auth: { allowAnonymous: true } } });
    expect((await open.fetch(ask('/ops/api/v1/config'))).status).toBe(200);
  });

  it('checks the host, the method, the rate and the size of the URL as a server of its own does', async () => {
    const settings = { http: { maxUrlBytes: 256, maxRequestsPerSecond: 5 } };
    const { node } = await embed({ settings, url: 'https://shop.example.org/ops' });
    stopClock();
    const codeOf = async (request: Request, address: string) =>
      ((await (await node.fetch(request, { address })).json()) as { code?: string }).code;
    const from = (url: string, init?: RequestInit) => codeOf(new Request(url, init), '127.0.0.1');
    expect(await from('http://rebound.example.com/ops/api/v1/config')).toBe('HOST_NOT_ALLOWED');
    // Its own name is not rebound; but who asks for it from this machine is a proxy.
    expect(await from('https://shop.example.org/ops/health/ready')).toBeUndefined();
    expect(await from('https://shop.example.org/ops/api/v1/config')).toBe('HOST_NOT_ALLOWED');
    expect(await from('http://localhost/ops/api/v1/config', { method: 'DELETE' })).toBe('METHOD_NOT_ALLOWED');
    expect(await from(`http://localhost/ops/api/v1/config?${'a'.repeat(256)}`)).toBe('URL_TOO_LONG');
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(ask('/ops/docs'), '127.0.0.2').catch(() => '')),
    );
    expect(codes).toContain('RATE_LIMITED');
  });

  it('refuses a whole URL as the target of a request: the host has routed it by another path', async () => {
    const { node } = await embed();
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      node.handler(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    for (const target of ['http://localhost/ops/api/v1/config', 'HTTPS://localhost/ops/health/live']) {
      const answer = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":"BAD_REQUEST"/s);
      expect(paths.at(-1)).toBe(target);
    }
  });

  it('refuses options that do not exist or have another type: one that is misspelt would leave the node open', async () => {
    const settings = testSettings(tempDir());
    const authenticate = () => null;
    for (const [given, message] of [
      [{ authentciate: authenticate }, 'has no option "authentciate": did you mean "authenticate"?'],
      [{ Authenticate: authenticate }, 'has no option "Authenticate": did you mean "authenticate"?'],
      [{ auth: authenticate }, 'has no option "auth": expected settings, config, authenticate, '],
      [{ setings: {} }, 'has no option "setings": did you mean "settings"?'],
      [{ authenticate: 'ann' }, 'expected function, found string'],
      [{ authenticate: null }, 'expected function, found null'],
      [{ authenticate: undefined }, 'option authenticate: expected a function, found undefined'],
      [{ settings: [] }, 'expected object, found array'],
      [
        { settings: { auth: { tokenfile: 'x' } } },
        'option auth.tokenfile: unknown setting - did you mean "auth.tokenFile"?',
      ],
      [{ settings: { atuh: {} } }, 'option atuh: unknown section - did you mean "auth"?'],
      [null, 'takes its options as an object, not null'],
      ['porthole.toml', 'takes its options as an object, not string'],
    ] as const) {
      const options = (typeof given === 'object' && given ? { settings, ...given } : given) as never;
      await expect(createNode(options)).rejects.toThrow(message);
      await expect(startNode(options)).rejects.toThrow(message);
    }
    await expect(createNode({ grpc: false } as never)).rejects.toMatchObject({
      name: 'TypeError',
      code: 'OPTION_INVALID',
    });
    await expect(startNode({ url: 'http://a' } as never)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('says which option is wrong', async () => {
    const fails = (options: CreateNodeOptions) => expect(embed(options)).rejects;
    await fails({ url: 'shop' }).toThrow('option url: "shop" is not a URL');
    await fails({ settings: { cluster: { members: ['http://10.0.0.7:7300'] } } }).toThrow(
      'option url: a node in a cluster needs the URL',
    );
    await fails({ settings: { http: { port: 8080 } } }).toThrow('option http.port: createNode opens no port');
    await fails({ settings: { grpc: { port: 8081 } } }).toThrow('option grpc.port: createNode opens no port');
    await fails({ logger: { info() {} } as never }).toThrow('it has no debug(), warn(), error()');
    await fails({ config: 5 as never }).toThrow('expected string or object or function, found number');
    await fails({ settings: { http: { basePath: 'ops' } } }).toThrow('option http.basePath: "ops" is not a base path');
  });
});

describe('a started node', () => {
  it('listens on a Unix socket instead of a port, without gRPC, and takes over one that is left behind', async () => {
    const dir = tempDir();
    const socket = join(dir, 'node.sock');
    const start = async () => {
      const node = await startNode({ grpc: false, settings: testSettings(dir, { http: { socket } }) });
      onTestFinished(() => node.stop());
      return node;
    };
    // A socket file without a listener.
    const left = createServer();
    await new Promise<void>((resolve) => left.listen(join(dir, 'other.sock'), resolve));
    renameSync(join(dir, 'other.sock'), socket);
    await new Promise((resolve) => left.close(resolve));
    const node = await start();
    expect(node.node).toMatchObject({ httpPort: 0, grpcPort: 0 });
    expect(node.url).toBe(`unix:${socket}`);
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest({ socketPath: socket, path: '/api/v1/config' }, ({ statusCode }) => resolve(statusCode));
      sent.once('error', reject).end();
    });
    expect(status).toBe(200);
    await expect(start()).rejects.toThrow(`http.socket ${socket} cannot be bound`);
  });

  it('has its base path in its URL, and can be mounted as well', async () => {
    const dir = tempDir();
    const node = await startNode({ grpc: false, settings: testSettings(dir, { http: { basePath: '/ops/' } }) });
    onTestFinished(() => node.stop());
    expect(node.url).toBe(`http://127.0.0.1:${node.node.httpPort}/ops/`);
    expect((await fetch(new URL('api/v1/config', node.url))).status).toBe(200);
    expect((await node.fetch(ask('/ops/api/v1/config'), HERE)).status).toBe(200);
    // Who can reach the server it is mounted in is not known here either.
    expect((await node.fetch(ask('/ops/api/v1/config'), { address: '192.0.2.1' })).status).toBe(403);
    const follow = await openRequest(node.node.httpPort, '/ops/api/v1/log/follow');
    await node.close();
    follow.destroy();
  });
});
