import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { createDispatchFetch } from './member-fetch.ts';

async function start(respond: RequestListener) {
  const sockets = new Set<Socket>();
  const server = createServer(respond).on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  onTestFinished(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const controller = new AbortController();
  const send = createDispatchFetch(() => agent);
  const ask = (path = '/', init: { body?: string } = {}) =>
    send(`${url}${path}`, {
      method: init.body === undefined ? 'GET' : 'POST',
      headers: { 'x-sent': 'yes' },
      redirect: 'manual',
      cache: 'no-store',
      signal: controller.signal,
      ...init,
    });
  return { ask, controller, sockets };
}

async function readAll({ body }: Awaited<ReturnType<Awaited<ReturnType<typeof start>>['ask']>>): Promise<string> {
  const reader = body?.getReader();
  const parts: Uint8Array[] = [];
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return Buffer.concat(parts).toString();
    parts.push(value);
  }
}

it('sends what it is given, and passes on the response', async () => {
  const { ask } = await start((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeHead(201, { 'x-many': ['a', 'b'] });
      response.end(`${request.method} ${request.url} ${request.headers['x-sent']} ${Buffer.concat(parts)}`);
    });
  });
  const response = await ask('/a/b?c=d%20e', { body: 'grüße' });
  expect(response).toMatchObject({ status: 201, ok: true, type: 'default' });
  expect(response.headers.get('X-Many')).toBe('a, b');
  expect(response.headers.get('x-none')).toBeNull();
  expect(await readAll(response)).toBe('POST /a/b?c=d%20e yes grüße');
});

it('follows no redirect, and has responses with an error', async () => {
  const { ask } = await start((_request, response) => void response.writeHead(302, { location: '/other' }).end());
  const response = await ask();
  expect(response).toMatchObject({ status: 302, ok: false });
  expect(response.headers.get('location')).toBe('/other');
  expect(await readAll(response)).toBe('');
});

it('reads no further ahead than its reader, loses nothing, and leaves the connection to others', async () => {
  const text = 'x'.repeat(8 * 1024 ** 2);
  let isSent = false;
  const seen: Socket[] = [];
  const { ask } = await start(({ url, socket }, response) => {
    seen.push(socket);
    if (url === '/short') return response.end();
    return response.end(text, () => {
      isSent = true;
    });
  });
  const response = await ask();
  expect(isSent).toBe(false);
  expect(await readAll(response)).toBe(text);
  await eventually(async () => {
    await readAll(await ask('/short'));
    expect(new Set(seen).size).toBeLessThan(seen.length);
  });
});

it('joins what has come of a long body, in its order', async () => {
  const text = Array.from({ length: 300_000 }, (_, at) => `line ${at}\n`).join('');
  const { ask } = await start((_request, response) => void response.end(text));
  const reader = (await ask()).body?.getReader();
  let all = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) break;
    expect(value.length).toBeLessThan(512 * 1024);
    all += Buffer.from(value).toString();
  }
  expect(all === text).toBe(true);
});

it('gives what came before a failure first', async () => {
  const text = 'y'.repeat(300_000);
  const { ask } = await start((_request, response) => {
    response.writeHead(200, { 'content-length': '1000000' });
    response.write(text, () => response.destroy());
  });
  const reader = (await ask()).body?.getReader();
  let bytes = 0;
  const readOn = async () => {
    for (;;) bytes += (await reader?.read())?.value?.length ?? 0;
  };
  await expect(readOn()).rejects.toThrow('terminated');
  expect(bytes).toBe(text.length);
});

it('fails as fetch does: what is wrong is the cause', async () => {
  const { ask, sockets } = await start((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
  });
  const reader = (await ask()).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('half');
  const next = reader?.read();
  for (const socket of sockets) socket.destroy();
  await expect(next).rejects.toMatchObject({ name: 'TypeError', message: 'terminated', cause: expect.any(Error) });
  await expect(reader?.read()).rejects.toThrow('terminated');
  const { ask: askNobody } = { ask: createDispatchFetch(() => new Agent()) };
  const init = { method: 'GET', headers: {}, redirect: 'manual', cache: 'no-store' } as const;
  const failed = askNobody('http://127.0.0.1:1/', { ...init, signal: new AbortController().signal });
  await expect(failed).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } });
});

it('ends with the signal, before the response and within it', async () => {
  const { ask, controller, sockets } = await start((request, response) => {
    if (request.url === '/slow') return;
    response.writeHead(200).write('begun');
  });
  const reader = (await ask()).body?.getReader();
  await reader?.read();
  const waiting = [ask('/slow'), reader?.read()];
  const reason = new Error('enough');
  controller.abort(reason);
  for (const each of waiting) await expect(each).rejects.toBe(reason);
  await expect(ask()).rejects.toBe(reason);
  await eventually(() => expect(sockets.size).toBe(0));
});

it('closes the connection of a response that is not read', async () => {
  const { ask, sockets } = await start((_request, response) => void response.writeHead(200).write('begun'));
  const reader = (await ask()).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(await reader?.read()).toEqual({ done: true });
  await eventually(() => expect(sockets.size).toBe(0));
});

it('refuses a compressed response, which would be passed on as the text', async () => {
  const { ask, sockets } = await start((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('text with a secret\n'));
  });
  await expect(ask()).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  await eventually(() => expect(sockets.size).toBe(0));
});
