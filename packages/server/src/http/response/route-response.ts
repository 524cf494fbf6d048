import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CallOptions, exactJson, SizedBytes } from '@porthole/contract';
import { type ByteStream, OneChunk } from '@porthole/logs';
import type { Identity } from '../../auth/identity.ts';

/** A request as routes see it: authorized, its target parsed. */
export interface RouteRequest {
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  method: 'GET' | 'HEAD' | 'DELETE';
  /** The id of the member for a member route, as written in the path. */
  member: string | undefined;
  /** Whether it is about what was recorded of the member. */
  isRecorded?: boolean;
  /** The variable end of the path, as written. */
  rest: string;
  /** The body as text, of a route with a body that has no parameters. */
  body?: string;
  /** The client, if it is known. */
  identity?: Identity | undefined;
  /** Whether the client may see all details; only relevant for routes that need no credentials. */
  trusted: boolean;
  /** Who it is, for limits per client: an identity or an address. */
  client?: string;
  /** Fires when the client disconnects or the response takes too long. */
  signal: AbortSignal;
  /** The head of the response that makes it a WebSocket; absent if it cannot become one. */
  webSocket?: OutgoingHttpHeaders | undefined;
}

/**
 * What a call gets of the request: its signal, and whose it is. The request itself would do, but calls of other members
 * would send its headers along, credentials included.
 */
type ToCallOptions = (request: Pick<RouteRequest, 'signal' | 'client'>) => CallOptions;

export const callOptions: ToCallOptions = ({ signal, client }) => ({ signal, client });

/** For this node, which hardly ever needs them: they are made only when they are read. */
export const lazyCallOptions: ToCallOptions = (request) => new LazyCallOptions(request);

class LazyCallOptions implements CallOptions {
  readonly #request: Pick<RouteRequest, 'signal' | 'client'>;

  constructor(request: Pick<RouteRequest, 'signal' | 'client'>) {
    this.#request = request;
  }

  get client(): string | undefined {
    return this.#request.client;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** A request whose handler sends subrequests. */
export interface SubrequestSource extends RouteRequest {
  body: string;
  /**
   * The response of another route to the same client with its credentials: authorized, limited, counted and logged like
   * any other request.
   */
  subrequest(url: string, init: SubrequestInit): Promise<Response>;
}

export interface SubrequestInit {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** The response of a route, as data; it is written to the socket in one place. */
export type RouteResponse = BodyResponse | StreamResponse;

interface ResponseHead {
  status: number;
  headers: OutgoingHttpHeaders;
}

export interface BodyResponse extends ResponseHead {
  body: string | Buffer;
}

interface StreamResponse extends ResponseHead {
  stream: StreamBody;
}

/** A stream of bytes. It is sent with its length if it is `SizedBytes`, which keep to it, or `OneChunk`; else chunked. */
export type StreamBody = Omit<ByteStream, 'sizeBytes'>;

/** The length of a stream that is sent with its length. */
export function streamBytes({ chunks }: StreamBody): number | undefined {
  if (chunks instanceof OneChunk) return chunks.bytes.length;
  return chunks instanceof SizedBytes ? chunks.sizeBytes : undefined;
}

export function toStreamBody({ sizeBytes, chunks, close }: ByteStream): StreamBody {
  const isKnown = sizeBytes === undefined || chunks instanceof OneChunk || chunks instanceof SizedBytes;
  return { chunks: isKnown ? chunks : new SizedBytes(sizeBytes, chunks), close };
}

export type SubrequestHandler = (request: SubrequestSource) => RouteResponse | Promise<RouteResponse>;

export type RouteHandler = (request: RouteRequest) => RouteResponse | Promise<RouteResponse>;

/** Frozen: what is sent for it is computed once. */
const JSON_HEADERS: OutgoingHttpHeaders = Object.freeze({ 'content-type': 'application/json; charset=utf-8' });
export const TEXT_HEADERS: OutgoingHttpHeaders = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' });

export function jsonResponse(value: object, status = 200): BodyResponse {
  return { status, headers: JSON_HEADERS, body: exactJson(value) };
}

/** Responses with objects that are returned again and again: each is encoded only once. */
export class RepeatedJson {
  readonly #bodies = new WeakMap<object, Buffer>();

  response(value: object): BodyResponse {
    let body = this.#bodies.get(value);
    if (body === undefined) {
      body = Buffer.from(exactJson(value));
      this.#bodies.set(value, body);
    }
    return { status: 200, headers: JSON_HEADERS, body };
  }
}

/**
 * A list as JSON. A long one is written in pieces, so that other requests are served in between: a hundred thousand files
 * would block them, and their text would take as much memory again.
 */
export function jsonListResponse(entries: readonly object[], repeated?: RepeatedJson): RouteResponse {
  if (entries.length <= ENTRIES_PER_PIECE) return repeated?.response(entries) ?? jsonResponse(entries);
  return {
    status: 200,
    headers: JSON_HEADERS,
    stream: { chunks: listPieces(entries), close: async () => {} },
  };
}

/** A document of one long list and what else there is, in pieces, too. */
export function jsonDocumentResponse<Name extends string>(
  name: Name,
  { [name]: entries, ...rest }: Record<Name, readonly object[]>,
): RouteResponse {
  if (entries.length <= ENTRIES_PER_PIECE) return jsonResponse({ [name]: entries, ...rest });
  async function* pieces() {
    yield Buffer.from(`{${JSON.stringify(name)}:`);
    yield* listPieces(entries);
    yield Buffer.from(`,${exactJson(rest).slice(1)}`);
  }
  return { status: 200, headers: JSON_HEADERS, stream: { chunks: pieces(), close: async () => {} } };
}

async function* listPieces(entries: readonly object[]): AsyncGenerator<Uint8Array> {
  for (let first = 0; first < entries.length; first += ENTRIES_PER_PIECE) {
    const piece = Buffer.from(exactJson(entries.slice(first, first + ENTRIES_PER_PIECE)));
    const isLast = first + ENTRIES_PER_PIECE >= entries.length;
    // Each piece is a list with brackets: the brackets between two of them become a comma.
    if (first > 0) piece[0] = COMMA;
    yield isLast ? piece : piece.subarray(0, -1);
    await nextTurn();
  }
}

const COMMA = 0x2c;

/** About 100 KB as text: larger strings are garbage-collected late. */
const ENTRIES_PER_PIECE = 500;

export function textResponse(body: string, contentType: string, extra: OutgoingHttpHeaders = {}): BodyResponse {
  return { status: 200, headers: { ...extra, 'content-type': contentType }, body };
}

/** The response has ended already: only the log is left to report a failure to. */
export async function closeStream({ stream }: StreamResponse, onFailure: (error: unknown) => void): Promise<void> {
  try {
    await stream.close();
  } catch (error) {
    onFailure(error);
  }
}

/**
 * A body of unknown length. The first piece is awaited before the head is sent, so that a refused request still gets its
 * status. The next piece is requested only when the one before is flushed.
 */
export async function openStream(pieces: AsyncIterable<Uint8Array>): Promise<StreamBody> {
  const iterator = pieces[Symbol.asyncIterator]();
  const close = async () => {
    await iterator.return?.();
  };
  const first = await iterator.next();
  return { chunks: chunks(first), close };

  async function* chunks(taken: IteratorResult<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = taken; !piece.done; piece = await iterator.next()) yield piece.value;
    } finally {
      await close();
    }
  }
}

const LINE_FEED = 10;

/** Counts the records of an NDJSON response: one per line, except the last line. */
export class RecordCount {
  #lines = 0;

  get records(): number {
    return Math.max(0, this.#lines - 1);
  }

  /** The same response, counted while it is sent; `undefined` if it is not NDJSON. */
  static wrap(response: RouteResponse): { response: RouteResponse; count: RecordCount } | undefined {
    if (!('stream' in response) || response.headers['content-type'] !== 'application/x-ndjson') return undefined;
    const count = new RecordCount();
    const { chunks } = response.stream;
    return { response: { ...response, stream: { ...response.stream, chunks: count.#counted(chunks) } }, count };
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) this.#lines++;
      yield chunk;
    }
  }
}

/** What conditional requests are compared with. */
interface Validators {
  etag: string;
  /** `NaN` if unknown: then it is neither newer nor older than any date. */
  modifiedMs: number;
}

type ConditionVerdict = 'proceed' | 'not-modified' | 'failed';

/**
 * Evaluates the preconditions in the order of RFC 9110, 13.2.2. `If-Modified-Since` is ignored: dates have whole seconds
 * and can be set back, so that a changed file could be taken for unchanged. Entity tags do not have these problems.
 */
export function evaluateConditions(headers: IncomingHttpHeaders, file: Validators): ConditionVerdict {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    if (!hasTag(match, file.etag)) return 'failed';
  } else if (isOlder(headers['if-unmodified-since'], file)) {
    return 'failed';
  }
  if (noneMatch !== undefined) return hasTag(noneMatch, file.etag, { weak: true }) ? 'not-modified' : 'proceed';
  return 'proceed';
}

/** Whether a range may be served from the current file. A date is never strong enough for a file that is being written. */
export function rangeStillHolds(ifRange: string | undefined, file: Validators): boolean {
  return ifRange === undefined || ifRange.trim() === file.etag;
}

function hasTag(list: string, etag: string, { weak = false } = {}): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((part) => {
    const tag = part.trim();
    return tag === etag || (weak && tag === `W/${etag}`);
  });
}

function isOlder(date: string | undefined, { modifiedMs }: Validators): boolean {
  const limit = Date.parse(date ?? '');
  return wholeSeconds(modifiedMs) > limit;
}

/** HTTP dates have no fraction. */
function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

/** Lines of JSON as they become known. */
export async function linesResponse(lines: AsyncIterable<Uint8Array>): Promise<RouteResponse> {
  const stream = await openStream(lines);
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, stream };
}
