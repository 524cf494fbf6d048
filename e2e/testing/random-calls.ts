import { connect, type Socket } from 'node:net';
import {
  codeOf,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  ROUTE_IDS,
  type Route,
  type RouteId,
} from '@porthole/contract';
import { scaled } from '@porthole/logs/testing';
import { GrpcConnection } from '@porthole/server/testing';
import { onTestFinished } from 'vitest';

/** Far above every timeout that the nodes are given: finds what is never answered. */
const HANGS_MS = scaled(20_000);

/** How much of a response is waited for by a client that leaves. */
const MOST_BYTES = 1500;

/** One request of a client. */
export interface Call {
  name: string;
  method: string;
  path: string;
  body?: string;
  /** Has no end of its own: the client always leaves. */
  isEndless: boolean;
}

/** With these, a route has something to do. Those of the others need nothing, or are refused, which is fine as well. */
const QUERIES: Readonly<Partial<Record<RouteId, string>>> = {
  logView: 'file=service.log&size=1000',
  logRaw: 'file=service.log',
  logSearch: 'limit=5',
  logTop: 'by=level',
  logExplain: 'query=level%3Ainfo',
  logAround: 'time=-1m',
  logDownload: 'since=1h',
  downloadTicket: 'for=%2Fapi%2Fv1%2Flog%2Fdownload',
};

const BODY_HEADERS = ['Content-Type: application/json', 'Accept: application/json, text/event-stream'];

const TOOL = { name: 'search_logs', arguments: {} };
const BODIES: Readonly<Partial<Record<RouteId, string>>> = {
  mcp: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: TOOL }),
};

/**
 * Every route of a node, of it alone, of each member and of all of them, and every route of its members through it; what the
 * archive can answer, also by that alone.
 */
export function everyCall(members: readonly string[]): Call[] {
  const own = ROUTE_IDS.flatMap((id) => callsOf(id, getRoute(id), members));
  const ofMembers = MEMBER_ROUTE_IDS.flatMap((id) => callsOf(id, getMemberRoute(id), members));
  return [...own, ...ofMembers];
}

function callsOf(
  id: RouteId,
  { path, method: given, response, parameters }: Route,
  members: readonly string[],
): Call[] {
  const method = given ?? 'GET';
  const query = QUERIES[id] === undefined ? '' : `?${QUERIES[id]}`;
  const paths = path.includes('{id}') ? members.map((member) => path.replace('{id}', member)) : [path];
  const calls = paths.map((each) => ({
    name: `${method} ${each}`,
    method,
    path: `${each.replace('{name}', 'none.js')}${query}`,
    ...(method === 'POST' && { body: BODIES[id] ?? '{}' }),
    isEndless: response.each === 'event',
  }));
  const has = (name: string) => parameters.some((parameter) => parameter.name === name);
  const separator = query === '' ? '?' : '&';
  const withParameter = (suffix: string, parameter: string) =>
    calls.map((call) => ({ ...call, name: `${call.name} ${suffix}`, path: `${call.path}${separator}${parameter}` }));
  const ofNodes = has('nodes') ? [...members, '*'].flatMap((node) => withParameter(`of ${node}`, `nodes=${node}`)) : [];
  return [...calls, ...ofNodes, ...(has('store') ? withParameter('(archive)', 'store=archive') : [])];
}

interface Target {
  port: number;
  /** The start of all paths: where an embedded node is mounted. */
  base: string;
  headers?: readonly string[];
}

/** When a client closes its connection, whatever has come until then. */
interface Leaving {
  afterBytes: number;
  afterMs: number;
}

/** A few requests on one connection, all sent at once. Returns their responses, as far as they came. */
async function send(target: Target, calls: readonly Call[], leaving?: Leaving): Promise<RawResponse[]> {
  const socket = connect(target.port, '127.0.0.1');
  const parts: Buffer[] = [];
  let bytes = 0;
  const timers: NodeJS.Timeout[] = [];
  const closed = new Promise<void>((resolve, reject) => {
    timers.push(setTimeout(() => reject(new Error(`no end within ${HANGS_MS} ms, after ${bytes} bytes`)), HANGS_MS));
    socket.once('close', () => resolve());
    socket.on('error', () => {}); // a connection that is cut, which is seen by what came
  });
  socket.on('data', (part) => {
    parts.push(part);
    bytes += part.length;
    if (leaving && bytes > leaving.afterBytes) leave(socket, bytes);
  });
  if (leaving) timers.push(setTimeout(() => leave(socket, bytes), leaving.afterMs));
  socket.write(calls.map((call, index) => render(call, target, index === calls.length - 1)).join(''));
  try {
    await closed;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    socket.destroy();
  }
  return parseResponses(
    Buffer.concat(parts),
    calls.map(({ method }) => method),
  );
}

function leave(socket: Socket, bytes: number): void {
  if (bytes % 2 === 0) socket.destroy();
  else socket.resetAndDestroy();
}

function render({ method, path, body }: Call, { base, port, headers = [] }: Target, isLast: boolean): string {
  const framing = body === undefined ? [] : [...BODY_HEADERS, `Content-Length: ${body.length}`];
  const lines = [`Host: 127.0.0.1:${port}`, `Connection: ${isLast ? 'close' : 'keep-alive'}`, ...headers, ...framing];
  return `${[`${method} ${base}${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Checks a response that came whole. Throws what is wrong with it. */
export type Check = (call: Call, response: RawResponse) => void;

/** Calls a node at random, and keeps what must not happen. */
export class Callers {
  readonly #target: Target;
  readonly #random: () => number;
  readonly #check: Check;
  readonly troubles: string[] = [];

  constructor(target: Target, random: () => number, check: Check) {
    this.#target = target;
    this.#random = random;
    this.#check = check;
  }

  /** Some of the calls, pipelined; in so many of all cases the client leaves early, within so many milliseconds. */
  async call(
    calls: readonly Call[],
    { leaves, mostMs, most = 1 }: { leaves: number; mostMs: number; most?: number },
  ): Promise<void> {
    const below = (limit: number) => Math.floor(this.#random() * limit);
    const picked = Array.from({ length: 1 + below(most) }, () => calls[below(calls.length)] as Call);
    const isLeaving = this.#random() < leaves || picked.some(({ isEndless }) => isEndless);
    const leaving = { afterBytes: below(MOST_BYTES), afterMs: below(mostMs) };
    const names = picked.map(({ name }) => name).join(' + ');
    try {
      const responses = await send(this.#target, picked, isLeaving ? leaving : undefined);
      if (!isLeaving) this.#judge(picked, responses);
    } catch (error) {
      this.troubles.push(`${names}: ${error instanceof Error ? error.message : error}`);
    }
  }

  #judge(calls: readonly Call[], responses: readonly RawResponse[]): void {
    for (const [index, response] of responses.entries()) {
      const call = calls[index] as Call;
      if (response.isWhole) checkWhole(response, () => this.#check(call, response));
    }
    // A response that fails after its head is cut, and with it those behind it. Without a head, it has to be an error.
    if (responses.length < calls.length && responses.every(({ isWhole, isLast }) => isWhole && !isLast))
      throw new Error('no response');
  }
}

function checkWhole({ status, contentType, body }: RawResponse, check: () => void): void {
  const text = body.toString();
  if (status === 500 && text.includes('"INTERNAL"')) throw new Error(text);
  if (contentType.startsWith('application/x-ndjson') && status === 200) {
    const items = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; records?: number });
    const records = items.filter(({ type }) => type === 'record').length;
    const last = items.at(-1);
    if (last?.type !== 'end' || last.records !== records)
      throw new Error(`a search looks whole and is not: ${records} records, then ${JSON.stringify(last)}`);
  } else if (/^application\/(problem\+)?json/.test(contentType) && text !== '') JSON.parse(text);
  check();
}

/** The node itself has failed, or has gone. */
const FAULTS: ReadonlySet<string> = new Set(['INTERNAL', 'UNREACHABLE']);

const CLUSTER = { selection: { nodes: ['*'], role: '', labels: [], store: '' } };
const SEARCH = { order: '', cursor: '', record: '', until: '', raw: false, fields: [] };

/** Calls a node over gRPC, and cancels some of the calls. What must not happen is added to `troubles`. */
export class GrpcCallers {
  readonly troubles: string[] = [];
  readonly #connection: GrpcConnection;
  readonly #random: () => number;

  constructor(port: number, random: () => number) {
    this.#connection = new GrpcConnection(port);
    this.#random = random;
    onTestFinished(() => this.#connection.close());
  }

  async call(): Promise<void> {
    const options = { signal: AbortSignal.timeout(this.#random() < 0.5 ? Math.ceil(this.#random() * 25) : HANGS_MS) };
    const calls = [
      () => this.#connection.call('GetConfig', {}, options),
      () => this.#connection.call('ListLogs', {}, options),
      () => this.#connection.call('CountLogs', CLUSTER, options),
      () => this.#connection.call('DigestLogs', { ...CLUSTER, onlyNew: false }, options),
      () => drain(this.#connection.stream('ViewLog', { file: 'service.log' }, options)),
      () => drain(this.#connection.stream('SearchLogs', { ...SEARCH, ...CLUSTER }, options)),
    ];
    const startedMs = performance.now();
    try {
      await calls[Math.floor(this.#random() * calls.length)]?.();
    } catch (error) {
      const tookMs = performance.now() - startedMs;
      if (tookMs >= HANGS_MS) this.troubles.push(`gRPC: no end within ${HANGS_MS} ms`);
      else if (FAULTS.has(codeOf(error)) && !options.signal.aborted) this.troubles.push(`gRPC: ${error}`);
    }
  }
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of messages);
}

/** One response as it stands in the bytes of a connection. */
interface RawResponse {
  status: number;
  contentType: string;
  body: Buffer;
  /** All of it came: as many bytes as were announced, or the last chunk. */
  isWhole: boolean;
  /** The server closes the connection after it. */
  isLast: boolean;
}

/**
 * The responses on a connection that the server has closed, read strictly: a body that is longer or shorter than announced
 * is not taken for a whole one, and bytes that belong to no response throw.
 */
function parseResponses(bytes: Buffer, methods: readonly string[]): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  for (const method of methods) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const lines = bytes.toString('latin1', at, headEnd).split('\r\n');
    const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(lines[0] ?? '') ?? [];
    if (status === '') throw new Error(`no head of a response: ${JSON.stringify(lines[0])}`);
    const header = (name: string) =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim();
    at = headEnd + 4;
    const response: RawResponse = {
      status: Number(status),
      contentType: header('content-type') ?? '',
      body: Buffer.alloc(0),
      isWhole: true,
      isLast: header('connection') === 'close',
    };
    responses.push(response);
    if (method === 'HEAD' || status === '204' || status === '304') continue;
    const length = header('content-length');
    if (header('transfer-encoding') === 'chunked') at = readChunks(bytes, at, response);
    else if (length === undefined) throw new Error(`a response without a length: ${lines.join(', ')}`);
    else {
      response.body = bytes.subarray(at, at + Number(length));
      response.isWhole = response.body.length === Number(length);
      at += response.body.length;
    }
    if (!response.isWhole) break;
  }
  if (responses.every(({ isWhole }) => isWhole) && responses.length === methods.length && at < bytes.length)
    throw new Error(`bytes after the last response: ${JSON.stringify(bytes.toString('latin1', at, at + 100))}`);
  return responses;
}

function readChunks(bytes: Buffer, start: number, response: RawResponse): number {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(next <= bytes.length)) {
      response.isWhole = false;
      response.body = Buffer.concat(parts);
      return bytes.length;
    }
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
    if (size === 0) {
      response.body = Buffer.concat(parts);
      return at;
    }
  }
}
