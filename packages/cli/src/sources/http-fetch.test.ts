import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpFetch } from './http-fetch.ts';

const httpFetch = createHttpFetch();

async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** What the SDK reads of a response. */
async function summarize(response: Response): Promise<unknown> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) chunks.push(read.value);
  const { status, ok, headers } = response;
  const text = Buffer.concat(chunks).toString();
  return { status, ok, type: headers.get('Content-Type'), custom: headers.get('x-custom'), text };
}

const INIT = { redirect: 'manual', headers: { 'x-sent': 'yes' } } as const;

describe('fetch on node:http', () => {
  it.each<[string, RequestListener, RequestInit?]>([
    [
      'a body in chunks',
      (_, response) => {
        response.write('one ');
        response.end('two');
      },
    ],
    ['no body', (_, response) => void response.writeHead(204).end()],
    ['an error with a body', (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('no')],
    ['a redirect, which is not followed', (_, response) => void response.writeHead(302, { location: '/x' }).end()],
    ['a repeated header', (_, response) => void response.writeHead(200, { 'x-custom': ['a', 'b'] }).end()],
    ['a HEAD request', (_, response) => void response.writeHead(200, { 'x-custom': 'h' }).end(), { method: 'HEAD' }],
    [
      'a request with a body and headers',
      async (request, response) => {
        let body = '';
        for await (const part of request) body += part;
        response.end(`${request.method} ${request.headers['x-sent']} ${body}`);
      },
      { method: 'POST', body: '{"limit":1}' },
    ],
  ])('returns the same as the global fetch: %s', async (_name, listener, init) => {
    const url = await startServer(listener);
    const expected = await summarize(await fetch(url, { ...INIT, ...init }));
    expect(await summarize(await httpFetch(url, { ...INIT, ...init }))).toEqual(expected);
  });

  it('rejects with the cause of a failed connection', async () => {
    await expect(httpFetch('http://127.0.0.1:1/')).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it.each([
    ['switches to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['says nothing', ''],
  ])('rejects if the server %s', async (_what, bytes) => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const sent = httpFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect(sent).rejects.toMatchObject({ name: 'TypeError', message: 'fetch failed' });
  });

  it('fails in the body if the connection is cut there', async () => {
    const url = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('part');
      setImmediate(() => response.destroy());
    });
    await expect(summarize(await httpFetch(url))).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('is aborted before the response and in its body', async () => {
    const silent = await startServer(() => {});
    const abort = new AbortController();
    const pending = httpFetch(silent, { signal: abort.signal });
    abort.abort();
    await expect(pending).rejects.toMatchObject({ cause: { name: 'AbortError' } });

    const endless = await startServer((_, response) => void response.write('part'));
    const leaving = new AbortController();
    const reader = (await httpFetch(endless, { signal: leaving.signal })).body?.getReader();
    await reader?.read();
    const next = reader?.read();
    leaving.abort();
    await expect(next).rejects.toThrow('aborted');
  });
});
