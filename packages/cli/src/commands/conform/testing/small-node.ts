import { closeSync, existsSync, fstatSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** What a faulty node does instead; `undefined`: as it should. */
export interface SmallNodeOptions {
  dir: string;
  /** Responds in place of the node, if it returns `true`. */
  respond?: (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;
  /** Changes what config and list respond with. */
  change?: (value: unknown, path: string) => unknown;
  /** Changes the bytes of a view. */
  changeView?: (body: Buffer, file: string, size: number) => Buffer;
  /** Reads each chunk of a view from the file of this name, not from the one it opened. */
  reopens?: boolean;
  /** Ends a view where the file ends, instead of cutting the connection. */
  endsShort?: boolean;
}

const CONFIG = {
  config: 'a = 1\n',
  node: {
    hostIp: '127.0.0.1',
    hostName: 'small',
    grpcPort: 1,
    httpPort: 2,
    version: '1',
    onlineTime: 1_700_000_000_000,
  },
};

const CHUNK = 256 * 1024;

/** The interface, as short as it can be, on a directory. The address of the node, which ends with the test. */
export async function startSmallNode(options: SmallNodeOptions): Promise<string> {
  const { dir, respond, change = (value) => value } = options;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://node');
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (respond?.(request, response, url)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') json(405, { detail: 'GET' });
    else if (url.pathname === '/api/v1/config') json(200, change(CONFIG, url.pathname));
    else if (url.pathname === '/api/v1/log/list') json(200, change(listFiles(dir), url.pathname));
    else if (url.pathname === '/api/v1/log/view') {
      const file = url.searchParams.get('file') ?? '';
      const size = Number(url.searchParams.get('size') || 2 ** 20);
      const path = join(dir, file);
      if (!isPlainFile(path) || file === '' || file.includes('/')) json(404, { detail: 'no such file' });
      else if (!Number.isInteger(size) || size < 1) json(400, { detail: 'size' });
      else void sendView(response, path, { ...options, file, size });
    } else json(404, { detail: 'no such route' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function isPlainFile(path: string): boolean {
  return existsSync(path) && lstatSync(path).isFile();
}

function listFiles(dir: string): { name: string; size: number }[] {
  const names = readdirSync(dir).filter((name) => isPlainFile(join(dir, name)));
  return names.sort().map((name) => ({ name, size: statSync(join(dir, name)).size }));
}

type View = SmallNodeOptions & { file: string; size: number };

async function sendView(response: ServerResponse, path: string, view: View): Promise<void> {
  const { size, file, changeView = (body) => body, reopens, endsShort } = view;
  let handle = openSync(path, 'r');
  const end = fstatSync(handle).size;
  const first = Buffer.alloc(Math.min(CHUNK, end));
  let at = Math.max(0, end - size);
  if (at > 0) {
    const lengthOfCut = readAt(handle, first, at - 1).indexOf('\n');
    if (lengthOfCut !== -1 && at + lengthOfCut < end) at += lengthOfCut;
  }
  if (end - at <= CHUNK || view.changeView) {
    const body = changeView(readAt(handle, Buffer.alloc(end - at), at), file, size);
    closeSync(handle);
    response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/plain', ...(!endsShort && { 'content-length': end - at }) });
  while (at < end) {
    if (reopens) {
      closeSync(handle);
      handle = openSync(existsSync(path) ? path : '/dev/null', 'r');
    }
    const chunk = readAt(handle, Buffer.alloc(Math.min(CHUNK, end - at)), at);
    if (chunk.length === 0) break;
    at += chunk.length;
    // What waits for a client that is gone ends with the server.
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    if (response.destroyed) break;
  }
  closeSync(handle);
  if (at < end && !endsShort) response.destroy();
  else response.end();
}

function readAt(handle: number, buffer: Buffer, at: number): Buffer {
  return buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, at));
}
