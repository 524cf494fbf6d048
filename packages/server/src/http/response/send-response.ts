// owner: creates nothing: looks whether a response is one of HTTP/1.1
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type RouteId, SizedBytes } from '@porthole/contract';
import { OneChunk } from '@porthole/logs';
import { ClientDisconnected, ReaderStalled } from '../../errors.ts';
import type { RateState } from '../../transport/request-policy.ts';
import type { HttpResponse } from './http-exchange.ts';
import { type RouteResponse, streamBytes } from './route-response.ts';

/** For responses without their own policy. The pages need one style sheet and one image of their own origin. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every response. */
const SECURITY_HEADERS = [
  'cross-origin-resource-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
  'x-content-type-options',
  'nosniff',
  'x-frame-options',
  'DENY',
] as const;

/** Lists of header objects that are used again and again, which are frozen. */
const KNOWN_LISTS = new WeakMap<OutgoingHttpHeaders, readonly string[]>();

/** A flat list: merging header objects costs a tenth of the throughput of small responses. */
function toList(headers: OutgoingHttpHeaders): string[] {
  const list: string[] = [...SECURITY_HEADERS];
  if (headers['content-security-policy'] === undefined) list.push('content-security-policy', CONTENT_SECURITY_POLICY);
  if (headers['cache-control'] === undefined) list.push('cache-control', 'no-store');
  for (const name in headers) list.push(name, String(headers[name]));
  if (Object.isFrozen(headers)) KNOWN_LISTS.set(headers, list.slice());
  return list;
}

/**
 * Writes a response; resolves when the last byte is flushed, rejects when the client disconnects or the source fails. The
 * caller must call `writer.closed()` when the connection closes meanwhile. `undefined`: all of it is flushed already.
 */
export function sendResponse(
  writer: ResponseWriter,
  response: RouteResponse,
  { headOnly }: { headOnly: boolean },
): Promise<void> | undefined {
  const isStream = 'stream' in response;
  const sizeBytes = isStream ? streamBytes(response.stream) : Buffer.byteLength(response.body);
  const empty = response.status === 304 || response.status === 204;
  const head = () => writer.head(response.status, response.headers, empty ? undefined : sizeBytes);
  const hasBody = !(headOnly || empty || sizeBytes === 0);
  if (hasBody && isStream && response.stream.chunks instanceof SizedBytes)
    return sendSized(writer, head, response.stream.chunks);
  head();
  if (!hasBody) return writer.end();
  if (!isStream) return writer.end(typeof response.body === 'string' ? Buffer.from(response.body) : response.body);
  const { chunks } = response.stream;
  return chunks instanceof OneChunk ? writer.end(chunks.bytes) : sendOpenEnded(writer, chunks);
}

/** The head is sent with the first chunk: a source that fails before it still gets its status. */
async function sendSized(writer: ResponseWriter, head: () => void, bytes: SizedBytes): Promise<void> {
  let remainingBytes = bytes.sizeBytes;
  for await (const chunk of bytes) {
    if (remainingBytes === bytes.sizeBytes) head();
    remainingBytes -= chunk.length;
    // Waiting for the flush allows the chunk's memory to be reused, and provides backpressure.
    await (remainingBytes > 0 ? writer.write(chunk) : writer.end(chunk));
  }
}

/** The first chunk may take long; the head is sent at once. */
async function sendOpenEnded(writer: ResponseWriter, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  writer.flushHead();
  for await (const chunk of chunks) if (chunk.length > 0) await writer.write(chunk);
  return writer.end();
}

/**
 * Writes as promises, which settle with the callback of the write or, if the connection is lost, with the close. Ends the
 * response once: what is written to it after that is a mistake, which Node.js would emit as an event.
 */
export class ResponseWriter {
  readonly #response: HttpResponse;
  #isEnded = false;
  #pending: ((reason: Error) => void) | undefined;
  #sentBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** Bytes of the body that are flushed. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  head(status: number, headers: OutgoingHttpHeaders, sizeBytes: number | undefined): void {
    const list = KNOWN_LISTS.get(headers)?.slice() ?? toList(headers);
    if (sizeBytes !== undefined) list.push('content-length', String(sizeBytes));
    this.#response.writeHead(status, list);
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  write(bytes: Uint8Array): Promise<void> {
    this.#requireOpen();
    return this.#settled(bytes.length, (done) => this.#response.write(bytes, done));
  }

  /** `undefined`: everything is flushed. */
  end(bytes?: Uint8Array): Promise<void> | undefined {
    this.#requireOpen();
    this.#isEnded = true;
    const response = this.#response;
    const count = bytes?.length ?? 0;
    if (!(response instanceof ServerResponse) || response.destroyed)
      return this.#settled(count, (done) => response.end(bytes, done));
    // Most short responses are taken by the system at once: neither a listener nor a promise is needed for them.
    response.end(bytes);
    if (!isFlushed(response)) return this.#settled(count, (done) => response.once('finish', done));
    this.#sentBytes += count;
    return undefined;
  }

  /** `writableFinished` does not help: it is true when the connection is lost after `end`, although no callback is called. */
  closed(): void {
    this.#pending?.(this.#why());
  }

  #requireOpen(): void {
    if (this.#isEnded) throw new Error('the response has ended already');
  }

  #settled(count: number, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#response.destroyed) return reject(this.#why());
      this.#pending = reject;
      start((error) => {
        this.#pending = undefined;
        if (error) return reject(this.#why());
        this.#sentBytes += count;
        resolve();
      });
    });
  }

  /** Whatever error a write fails with, the connection is lost, unless we ended it because the client stalled. */
  #why(): Error {
    const { errored } = this.#response;
    return errored instanceof ReaderStalled ? errored : new ClientDisconnected();
  }
}

/** Right after `end`: whether the system has taken all of it. */
function isFlushed({ socket, writableFinished }: ServerResponse): boolean {
  return writableFinished && socket !== null && !socket.destroyed && socket.errored === null;
}

const NDJSON = 'application/x-ndjson';
const LINE_FEED = 10;
const START = Buffer.from('{"records":[');
const COMMA = Buffer.from(',');
const END = Buffer.from('],"end":');
const CLOSE = Buffer.from('}\n');
const NOTHING = new Uint8Array(0);

/**
 * Lines of JSON as one document for clients that ask for it: `{"records": [...], "end": {...}}`, where `end` is the closing
 * record. It is written as the lines come, so it takes no more memory than they do.
 */
export function asJsonDocument(response: RouteResponse, { accept }: IncomingHttpHeaders): RouteResponse {
  if (!('stream' in response) || response.headers['content-type'] !== NDJSON) return response;
  const vary = 'Accept';
  if (!prefersDocument(accept)) return { ...response, headers: { ...response.headers, vary } };
  const headers = { ...response.headers, vary, 'content-type': 'application/json; charset=utf-8' };
  return { ...response, headers, stream: { ...response.stream, chunks: joinLines(response.stream.chunks) } };
}

/** Only if it is named: a wildcard gets lines, as every client did before there was a choice. */
function prefersDocument(accept = ''): boolean {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim());
    const [, weight = '1'] = /^q=([\d.]+)$/.exec(parameters.find((text) => text.startsWith('q=')) ?? '') ?? [];
    weights.set(type, Number(weight));
  }
  const document = weights.get('application/json') ?? 0;
  return document > 0 && document > (weights.get(NDJSON) ?? 0);
}

/** The last line is the closing record, so each line is held back until the next one comes. */
async function* joinLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = NOTHING;
  let isFirst = true;
  for await (const chunk of chunks) {
    const parts: Uint8Array[] = [];
    for (
      let start = 0, end = chunk.indexOf(LINE_FEED);
      end >= 0;
      start = end + 1, end = chunk.indexOf(LINE_FEED, start)
    ) {
      if (held.length > 0) {
        parts.push(isFirst ? START : COMMA, held);
        isFirst = false;
      }
      held = chunk.subarray(start, end);
    }
    const joined = Buffer.concat(parts);
    // The memory of the chunk is used again.
    held = Buffer.from(held);
    yield joined;
  }
  yield Buffer.concat([isFirst ? START : NOTHING, END, held, CLOSE]);
}

/* Headers about the handling of a request, besides those of its route. Most responses have none. */

/** Routes that may take long: those that scan logs or wait for members. */
const TIMED: ReadonlySet<RouteId> = new Set<RouteId>([
  'logSearch',
  'logHistogram',
  'logDigest',
  'logFields',
  'logTop',
  'nodes',
  'settings',
  'configDiff',
  'logFiles',
  'logAround',
]);

/** When a request was received and when its route began. */
interface RouteTimes {
  receivedMs: number;
  begunMs: number;
}

/**
 * `Server-Timing`: `queue` is what came before the route (credentials, a body), `scan` the whole of a response that is sent
 * at once, `open` of a stream what it took to begin.
 */
export function timingHeaders(
  route: RouteId,
  { receivedMs, begunMs }: RouteTimes,
  response: RouteResponse,
): OutgoingHttpHeaders | undefined {
  if (!TIMED.has(route)) return undefined;
  const work = 'stream' in response ? 'open' : 'scan';
  const durations = { queue: begunMs - receivedMs, [work]: performance.now() - begunMs };
  const entries = Object.entries(durations).map(([name, ms]) => `${name};dur=${Math.max(0, ms).toFixed(1)}`);
  return { 'server-timing': entries.join(', ') };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers; the bucket of a client is full again within a second. */
export function rateHeaders(rate: RateState | undefined): OutgoingHttpHeaders | undefined {
  if (rate === undefined) return undefined;
  const { perSecond, remaining } = rate;
  return { 'ratelimit-policy': `"requests";q=${perSecond};w=1`, ratelimit: `"requests";r=${remaining};t=1` };
}

/** The response with further headers, of which there may be none; the values of `Vary` are joined. */
export function withHeaders(
  response: RouteResponse,
  first: OutgoingHttpHeaders | undefined,
  second?: OutgoingHttpHeaders,
  third?: OutgoingHttpHeaders,
): RouteResponse {
  // Most have none, and this is done for every response.
  if (first === undefined && second === undefined && third === undefined) return response;
  const headers = { ...response.headers, ...first, ...second, ...third };
  const varied = [response.headers.vary, first?.vary].filter((part) => part !== undefined);
  return { ...response, headers: varied.length === 0 ? headers : { ...headers, vary: varied.join(', ') } };
}
