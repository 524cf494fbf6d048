import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { onEnd } from '@porthole/records/testing';

/** Answers a request, or leaves it to what a good member says. */
export type Behave = (path: string, response: ServerResponse, request: IncomingMessage) => boolean;

interface FakeMemberOptions {
  /** Messages of its records, the newest last; one second apart, the last one at `timeMs`. */
  messages?: readonly string[];
  timeMs?: number;
  behave?: Behave;
}

/** A light member: speaks the routes of a node, from a list of records in memory. Ends with the test. */
export async function startFakeMember(options: FakeMemberOptions = {}): Promise<string> {
  return listen(createServer((request, response) => respond(options, request, response)));
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port where nobody should come, and how many did. */
export async function startTrap(): Promise<{ address: string; port: number; visits(): number }> {
  let visits = 0;
  const server = createTcpServer((socket) => {
    visits++;
    socket.on('error', () => {});
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, port, visits: () => visits };
}

export function respond(options: FakeMemberOptions, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://member');
  const path = pathname.replace('/api/v1', '');
  response.on('error', () => {});
  if (options.behave?.(path, response, request)) return;
  const state = STATES[path];
  if (state !== undefined) json(response, 200, state());
  else if (path === '/log/search') search(options, searchParams, response);
  else json(response, 404, { code: 'ROUTE_NOT_FOUND', detail: 'there is no such route' });
}

const NODE = { hostIp: '127.0.0.1', hostName: 'fake', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };

const END = { type: 'end', reason: 'exhausted', scannedBytes: 100, skippedBytes: 0, elapsedMs: 1, cursor: null };

const STATES: Readonly<Record<string, () => unknown>> = {
  '/node': () => ({ node: NODE, clockMs: Date.now(), timeZone: 'UTC', utcOffsetMinutes: 0, uptimeMs: 1000 }),
  '/config': () => ({ node: NODE, config: '[service]\nname = "fake"\n' }),
  '/log/list': () => [{ name: 'a.log', size: 100 }],
  '/log/files': () => ({
    files: [{ name: 'a.log', size: 100, family: 'a.log', lastTimeMs: Date.now() }],
    members: [],
  }),
  '/log/histogram': () => ({ bucketMs: 900_000, buckets: [], untimed: 0, end: END }),
};

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A record as a line of a search; `given` wins over what is right. */
export function recordLine(message: string, timeMs: number, given: object = {}): string {
  const record = { type: 'record', file: 'a.log', offset: 0, bytes: 10, cursor: 'c', timeMs, level: 'INFO', message };
  return `${JSON.stringify({ ...record, ...given })}\n`;
}

export function endLine(records: number): string {
  return `${JSON.stringify({ ...END, records })}\n`;
}

export function startLines(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
}

function search(
  { messages = [], timeMs = 0 }: FakeMemberOptions,
  wish: URLSearchParams,
  response: ServerResponse,
): void {
  const oldest = messages.map((message, index) => {
    return { message, cursor: `c${index}`, atMs: timeMs - (messages.length - 1 - index) * 1000 };
  });
  const all = wish.get('order') === 'oldest' ? oldest : oldest.toReversed();
  const start = all.findIndex(({ cursor }) => cursor === wish.get('cursor')) + 1;
  const page = all.slice(start, start + Number(wish.get('limit') ?? 200));
  startLines(response);
  response.end(
    page.map(({ message, atMs, cursor }) => recordLine(message, atMs, { cursor })).join('') + endLine(page.length),
  );
}
