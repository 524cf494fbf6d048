import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { ConsoleFiles } from './response/console-files.ts';
import { createPageRoutes } from './routes/node-routes.ts';
import { serveRoutes } from './testing/serve-routes.ts';

const PAGE = '<!doctype html><script type="module" src="/assets/console-ABCDEFGH.js"></script>\n';
const SCRIPT = `${'console.log("hello");\n'.repeat(50)}`;
const SECRET = 'never to be seen';

/** What a build leaves, and things beside it that are no part of it. */
function writeConsole(folder: string): void {
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'index.html.gz'), gzipSync(PAGE));
  writeFileSync(join(folder, 'secret.js'), SECRET);
  writeFileSync(join(assets, 'console-ABCDEFGH.js'), SCRIPT);
  writeFileSync(join(assets, 'console-ABCDEFGH.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(assets, 'console-ABCDEFGH.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(assets, 'console-12345678.css'), 'b{}');
  writeFileSync(join(assets, 'inter-12345678.woff2'), 'wOF2');
  writeFileSync(join(assets, 'licences.txt'), 'free');
  mkdirSync(join(assets, 'folder'));
  symlinkSync('../secret.js', join(assets, 'link.js'));
}

async function serveConsole(): Promise<{ port: number; folder: string }> {
  const folder = join(tempDir(), 'console');
  writeConsole(folder);
  const { port } = await serveFolder(folder);
  return { port, folder };
}

function serveFolder(folder: string, demoUrl?: string) {
  const routes = createPageRoutes({
    consoleFiles: new ConsoleFiles({ folder, ...(demoUrl && { demoUrl }) }),
    version: '1',
  });
  return serveRoutes(() => ({ routes }));
}

/** What the page loads before it shows anything; load what most views do not need when it is first used. */
const MAX_SCRIPT_BYTES = 358_000;

const SCRIPT_PATH = '/assets/console-ABCDEFGH.js';

describe('the console', () => {
  it('has a search thread started when it is opened, and nothing else does before a search', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'text\n' }, settings: { search: { workers: 1 } } });
    const threads = async () => {
      const { body } = await sendRequest(port, '/metrics');
      return /^porthole_scan_threads (\d+)$/m.exec(body.toString())?.[1];
    };
    expect((await sendRequest(port, '/api/v1/log/list')).status).toBe(200);
    expect(await threads()).toBe('0');
    await sendRequest(port, '/');
    await eventually(async () => expect(await threads()).toBe('1'));
  });

  it('names the demo cluster that runs beside the node', async () => {
    const folder = join(tempDir(), 'console');
    writeConsole(folder);
    writeFileSync(join(folder, 'index.html'), '<head></head>');
    const { port } = await serveFolder(folder, 'http://127.0.0.1:7310/?a="b"&c=$&');
    const { headers, body } = await sendRequest(port, '/', { headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBeUndefined();
    const tag = '<meta name="porthole-demo" content="http://127.0.0.1:7310/?a=%22b%22&c=$&">';
    expect(body.toString()).toBe(`<head>${tag}\n</head>`);
  });

  it('shows a browser that there is no such page, with the status for machines', async () => {
    const { port } = await serveConsole();
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    const { status, headers, body } = await sendRequest(port, '/nothing', { headers: browser });
    expect({ status, text: body.toString() }).toEqual({ status: 404, text: PAGE });
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept-Encoding, Accept' });
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    const again = await sendRequest(port, '/nothing', { headers: { ...browser, 'if-none-match': `${headers.etag}` } });
    expect(again.status).toBe(404);
  });

  it.each([
    ['/nothing', {}],
    ['/nothing', { accept: '*/*' }],
    ['/nothing', { accept: 'application/json, text/plain, */*' }],
    ['/api/v1/nothing', { accept: 'text/html' }],
    ['/assets/nothing.js', { accept: 'text/html' }],
  ])('is not given for %s to one who asks with %o', async (path, headers) => {
    const { port } = await serveConsole();
    const { status, headers: received } = await sendRequest(port, path, { headers });
    expect(status).toBe(404);
    expect(received['content-type']).toContain('application/problem+json');
  });

  it.each([
    '/',
    '/?x=1',
    '/logs',
    '/logs?src=a/b.log',
    '/config',
    '/incidents?last=1h',
    '/nodes',
    '/nodes/x',
    '/nodes/x/y',
    '/nodes/a%3A1/../z',
    '/nodes/',
  ])('is one page, which %s gives', async (path) => {
    const { port } = await serveConsole();
    const { status, headers, body } = await sendRequest(port, path);
    expect({ status, text: body.toString() }).toEqual({ status: 200, text: PAGE });
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  });

  it.each(['/', '/logs', '/config', '/nodes/x'])(
    'may at %s run scripts and ask, of its own origin alone, and is out of reach for other windows',
    async (path) => {
      const { port } = await serveConsole();
      const { headers } = await sendRequest(port, path);
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      });
    },
  );

  it('is revalidated every time, and sent only when it has changed', async () => {
    const { port } = await serveConsole();
    const { etag = '' } = (await sendRequest(port, '/')).headers;
    const again = await sendRequest(port, '/logs', { headers: { 'if-none-match': `"x", W/${etag}` } });
    expect({ status: again.status, length: again.body.length }).toEqual({ status: 304, length: 0 });
    expect(again.headers).toMatchObject({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding' });
    expect(again.headers['content-security-policy']).toContain("script-src 'self'");
    expect((await sendRequest(port, '/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const { status, code } = await requestProblem(port, '/', { headers: { 'if-match': '"other"' } });
    expect({ status, code }).toEqual({ status: 412, code: 'PRECONDITION_FAILED' });
  });

  it('has no date that a condition could be about', async () => {
    const { port } = await serveConsole();
    for (const header of ['if-modified-since', 'if-unmodified-since'])
      for (const date of ['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT'])
        expect((await sendRequest(port, '/', { headers: { [header]: date } })).status).toBe(200);
  });
});

describe('a part of the console', () => {
  it.each([
    { name: 'console-ABCDEFGH.js', type: 'text/javascript; charset=utf-8' },
    { name: 'console-12345678.css', type: 'text/css; charset=utf-8' },
    { name: 'inter-12345678.woff2', type: 'font/woff2' },
  ])('$name, named after its content, may be kept for good', async ({ name, type }) => {
    const { port } = await serveConsole();
    const { status, headers } = await sendRequest(port, `/assets/${name}`);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' });
    // What is no page needs none of its rights.
    expect(headers['content-security-policy']).not.toContain('script-src');
  });

  it('that keeps its name is revalidated', async () => {
    const { port } = await serveConsole();
    expect((await sendRequest(port, '/assets/licences.txt')).headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
    });
  });

  it('that is the icon is kept: browsers ask for it at every change of the address', async () => {
    const { port } = await serveConsole();
    const { headers } = await sendRequest(port, '/assets/porthole.svg');
    expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' });
  });

  it('comes as the build has compressed it, if the client takes that', async () => {
    const { port } = await serveConsole();
    const get = async (encoding: string) =>
      sendRequest(port, SCRIPT_PATH, { headers: { 'accept-encoding': encoding } });
    const [brotli, gzip, plain] = [await get('gzip, br'), await get('gzip'), await get('deflate')];
    expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
    expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT);
    expect(plain.body.toString()).toBe(SCRIPT);
    const replies = [brotli, gzip, plain];
    expect(replies.map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined]);
    expect(replies.map(({ headers }) => headers.vary)).toEqual(Array(3).fill('Accept-Encoding'));
    expect(replies.map(({ headers, body }) => headers['content-length'] === String(body.length))).toEqual([
      true,
      true,
      true,
    ]);
    expect(new Set(replies.map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('that was not compressed comes as it is', async () => {
    const { port } = await serveConsole();
    const headers = { 'accept-encoding': 'gzip, br' };
    const reply = await sendRequest(port, '/assets/console-12345678.css', { headers });
    expect({ encoding: reply.headers['content-encoding'], text: reply.body.toString() }).toEqual({ text: 'b{}' });
    expect((await sendRequest(port, '/', { headers })).headers['content-encoding']).toBe('gzip');
  });

  it('that the client has in the same encoding is not sent again', async () => {
    const { port } = await serveConsole();
    const { etag = '' } = (await sendRequest(port, SCRIPT_PATH, { headers: { 'accept-encoding': 'br' } })).headers;
    const status = async (encoding: string) =>
      (await sendRequest(port, SCRIPT_PATH, { headers: { 'accept-encoding': encoding, 'if-none-match': etag } }))
        .status;
    expect([await status('br'), await status('gzip')]).toEqual([304, 200]);
  });

  it('has the same head without a body for HEAD', async () => {
    const { port } = await serveConsole();
    const options = { headers: { 'accept-encoding': 'br' } };
    const [get, head] = [
      await sendRequest(port, SCRIPT_PATH, options),
      await sendRequest(port, SCRIPT_PATH, { ...options, method: 'HEAD' }),
    ];
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
    expect({ status: head.status, length: head.body.length }).toEqual({ status: 200, length: 0 });
  });

  it.each([
    '',
    '.',
    '..',
    '../secret.js',
    '..%2fsecret.js',
    '..%2Findex.html',
    '%2e%2e/secret.js',
    '..\\secret.js',
    '..%5csecret.js',
    './console-ABCDEFGH.js',
    '/console-ABCDEFGH.js',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    'console-ABCDEFGH.js.br',
    'console-ABCDEFGH.js.gz',
    'console-ABCDEFGH.js/',
    'console-ABCDEFGH.js%00',
    'console-ABCDEFGH.JS',
    'console%2DABCDEFGH.js',
    'folder',
    'folder/',
    'link.js',
    'index.html',
    '__proto__',
    'constructor',
    '{name}',
    'x'.repeat(4000),
  ])('is none that is called %j', async (name) => {
    const { port } = await serveConsole();
    const { status, code, headers } = await requestProblem(port, `/assets/${name}`);
    expect({ status, code }).toEqual({ status: 404, code: 'ROUTE_NOT_FOUND' });
    expect(headers['cache-control']).toBe('no-store');
  });
});

describe('the files of the console', () => {
  it('are read once: what is built later is for the next start', async () => {
    const { port, folder } = await serveConsole();
    await sendRequest(port, '/');
    renameSync(folder, `${folder}-gone`);
    expect((await sendRequest(port, '/')).body.toString()).toBe(PAGE);
    expect((await sendRequest(port, SCRIPT_PATH)).body.toString()).toBe(SCRIPT);
  });

  it('may be missing, which is reported, and be built later', async () => {
    const folder = join(tempDir(), 'console');
    const { port } = await serveFolder(folder);
    for (const path of ['/', '/nodes/x', SCRIPT_PATH]) {
      const { status, code, detail } = await requestProblem(port, path);
      expect({ status, code }).toEqual({ status: 404, code: 'ROUTE_NOT_FOUND' });
      expect(detail).toContain('without the console');
      expect(detail).not.toContain(folder);
    }
    expect((await sendRequest(port, '/docs')).status).toBe(200);
    writeConsole(folder);
    expect((await sendRequest(port, '/')).body.toString()).toBe(PAGE);
  });

  it('of the workspace are the ones that its build has made', async () => {
    const { port } = await startTestNode();
    const page = (await sendRequest(port, '/nodes/x')).body.toString();
    const parts = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(parts.length).toBeGreaterThanOrEqual(3);
    let scriptBytes = 0;
    for (const path of parts) {
      const { status, body } = await sendRequest(port, path);
      expect(status, path).toBe(200);
      if (path.endsWith('.js')) scriptBytes += body.length;
    }
    expect(scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES);
    // The policy would keep these from working.
    expect(page).not.toMatch(/<style|style="|<script>|data:|https?:/);
  });
});
