import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import {
  codeOf,
  ERROR_KINDS,
  getRoute,
  MAX_BODY_BYTES,
  parseBodyParameters,
  type RecordingRouteId,
  type RouteId,
} from '@porthole/contract';
import { TooManyFailures } from '../../auth/access.ts';
import { clientKey, type Identity, plainAddress } from '../../auth/identity.ts';
import { ClientDisconnected, hasCode } from '../../errors.ts';
import type { LostConnections } from '../../transport/connections.ts';
import { Deadline, type DeadlineTimer } from '../../transport/deadline.ts';
import { RateExceeded, type RateState } from '../../transport/request-policy.ts';
import type { StreamSlots, StreamUser } from '../../transport/stream-slots.ts';
import { compressResponse } from '../response/compress-response.ts';
import {
  FetchResponse,
  type HttpRequest,
  type HttpResponse,
  remoteAddress,
  requestUrl,
} from '../response/http-exchange.ts';
import { acceptsPages, HttpRefusal, problemResponse } from '../response/problem-response.ts';
import {
  closeStream,
  RecordCount,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
  type SubrequestHandler,
  type SubrequestInit,
  type SubrequestSource,
  TEXT_HEADERS,
} from '../response/route-response.ts';
import {
  asJsonDocument,
  ResponseWriter,
  rateHeaders,
  sendResponse,
  timingHeaders,
  withHeaders,
} from '../response/send-response.ts';
import { UpgradeResponse, webSocketHeaders } from '../web-socket.ts';
import {
  type AuthorizedRequest,
  authorizeRequest,
  type RequestContext,
  type RequestGate,
  readCredentials,
} from './authorize-request.ts';
import { parseTarget, type RouteTarget, routeOperation } from './find-route.ts';
import type { createCors } from './hosts-and-origins.ts';
import { NO_QUERY, type OutcomeDeps, RequestOutcome } from './request-outcome.ts';

export interface RequestHandlerDeps extends OutcomeDeps {
  gate: RequestGate;
  routes: Readonly<Record<Exclude<RouteId, 'mcp'>, RouteHandler>> & { readonly mcp: SubrequestHandler };
  /** Routes of a member of the cluster; the request has its id. */
  memberRoutes: Readonly<Record<RecordingRouteId, RouteHandler>>;
  cors: ReturnType<typeof createCors>;
  slots: StreamSlots;
  timer: DeadlineTimer;
  /** Ends follows whose clients are gone. */
  lostConnections: LostConnections;
  stallTimeoutMs: number;
}

/** The request for a page that depends on nothing. */
const NO_REQUEST = { query: NO_QUERY, method: 'GET', member: undefined, rest: '' } as const;

/** HTTP/2 and `fetch` leave it out. */
const LAST_RESPONSE = { connection: 'close' } as const;

/** Routes whose responses end only when the client disconnects or its credentials end. */
const FOLLOWS: ReadonlySet<RouteId> = new Set(['logFollow', 'lokiTail']);

/** Routes that are such a follow if they are asked to. */
const MAY_FOLLOW: ReadonlySet<RouteId> = new Set(['events']);

/** `source` is the request as the program that embeds the node has it. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse, source?: unknown) => void;

/**
 * Handles a request: authorizes, runs the route, sends the response, counts. All failures are handled here: whatever is
 * thrown ends this request and nothing else.
 */
export function createRequestHandler(handling: RequestHandlerDeps): RequestHandler {
  return (request, response, source = request) => {
    const lifecycle = new RequestLifecycle(handling, { request, response, source });
    lifecycle.run().catch((error) => lifecycle.abandon(error));
  };
}

interface Arrival {
  request: HttpRequest;
  response: HttpResponse;
  source: unknown;
}

/** One request, from its arrival to the last byte of the response. Routes see it as a `RouteRequest`. */
class RequestLifecycle implements SubrequestSource, RequestContext {
  readonly headers: IncomingHttpHeaders;
  readonly source: unknown;
  search = '';
  method: RouteRequest['method'] = 'GET';
  target: RouteTarget | undefined = undefined;
  identity: Identity | undefined = undefined;
  rate: RateState | undefined = undefined;
  member: string | undefined = undefined;
  isRecorded = false;
  rest = '';
  body = '';
  readonly #handling: RequestHandlerDeps;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #writer: ResponseWriter;
  readonly #deadline: Deadline;
  readonly #outcome: RequestOutcome;
  #releaseSlot: (() => void) | undefined;
  #unwatchSession: (() => void) | undefined;
  #routeResponse: RouteResponse | undefined;
  #query: URLSearchParams | undefined;
  #corsHeaders: OutgoingHttpHeaders | undefined;
  #isWatched = false;

  constructor(handling: RequestHandlerDeps, { request, response, source }: Arrival) {
    this.source = source;
    this.headers = request.headers;
    this.#handling = handling;
    this.#request = request;
    this.#response = response;
    this.#writer = new ResponseWriter(response);
    this.#outcome = new RequestOutcome(handling, { request, response, context: this });
    this.#deadline = new Deadline(handling.timer);
    // An event without a listener would end the process. A connection that is lost is reported by its close.
    response.on('error', (error) => {
      if (hasCode(error, 'ERR_STREAM_WRITE_AFTER_END')) this.#outcome.unfinished(error);
    });
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  /** Parsed when it is read: half of the short responses depend on no parameter. */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.search);
    return this.#query;
  }

  /** Of a request that can become a WebSocket. */
  get webSocket(): OutgoingHttpHeaders | undefined {
    const { headers, method } = this.#request;
    return this.#response instanceof UpgradeResponse ? webSocketHeaders({ headers, method }) : undefined;
  }

  get hasQuery(): boolean {
    return this.#query !== undefined;
  }

  get trusted(): boolean {
    return this.identity !== undefined && this.identity.roles.length > 0;
  }

  get client(): string {
    return clientKey({ identity: this.identity, address: plainAddress(remoteAddress(this.#request)) });
  }

  async run(): Promise<void> {
    try {
      // Nothing is awaited that is already known: for a short response, that is much of its time.
      const decided = this.#decide();
      const response = decided instanceof Promise ? await decided : decided;
      this.#deadline.met();
      const sending = this.#send(compressResponse(response, this.headers));
      if (sending !== undefined) await this.#watched(sending);
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.#deadline.met();
      this.#close(this.#routeResponse);
      this.#releaseSlot?.();
      this.#unwatchSession?.();
      this.#outcome.count(this.#writer.sentBytes);
    }
  }

  /** Cleaning up failed. */
  abandon(error: unknown): void {
    this.#outcome.unfinished(error);
    if (!this.#response.writableFinished) this.#response.destroy();
  }

  #close(response: RouteResponse | undefined): void {
    if (response && 'stream' in response) void closeStream(response, (error) => this.#outcome.unfinished(error));
  }

  #send(routeResponse: RouteResponse): Promise<void> | undefined {
    // A page that asks again and again on one connection would keep the server of a program from closing.
    const response = this.#handling.gate.isStopping() ? withHeaders(routeResponse, LAST_RESPONSE) : routeResponse;
    return sendResponse(this.#writer, response, { headOnly: this.#request.method === 'HEAD' });
  }

  /** Once the head was sent, closing the connection early is the only way to signal a failure. */
  async #fail(error: unknown): Promise<void> {
    const { headersSent, closed, destroyed } = this.#response;
    let reason = error;
    if (!headersSent && !closed && !destroyed) {
      try {
        return await this.#watched(Promise.resolve(this.#send(this.#toProblem(error))));
      } catch (another) {
        reason = another;
      }
    }
    this.#outcome.cut(reason, this.#writer.sentBytes);
    this.#response.destroy();
  }

  /** The response of the route, or of its failure. */
  #decide(): RouteResponse | Promise<RouteResponse> {
    const { cors, gate } = this.#handling;
    const refuse = (error: unknown) => this.#refuse(error);
    try {
      this.#corsHeaders = cors.headersFor(this.#request);
      const preflight = cors.preflight(this.#request);
      if (preflight) return preflight;
      const admission = authorizeRequest(this.#request, gate, this);
      const response =
        admission instanceof Promise
          ? this.#watched(admission).then((admitted) => this.#handle(admitted))
          : this.#handle(admission);
      return response instanceof Promise ? response.catch(refuse) : response;
    } catch (error) {
      return refuse(error);
    }
  }

  #handle(admitted: AuthorizedRequest): RouteResponse | Promise<RouteResponse> {
    const { slots, routes, memberRoutes } = this.#handling;
    const { target, method } = admitted;
    this.#outcome.operation = routeOperation(target);
    this.method = method === 'POST' || method === 'PUT' ? 'GET' : method;
    this.member = target.member;
    this.isRecorded = target.member !== undefined && target.isRecorded;
    this.rest = target.rest;
    if (getRoute(target.route).stream) this.#releaseSlot = slots.take(this.#streamUser(target.route));
    const handler = target.member === undefined ? routes[target.route] : memberRoutes[target.route];
    const run = () => {
      if (this.#isFollow(target.route)) this.#watchSession(target.route);
      const times = { receivedMs: this.#outcome.startedMs, begunMs: performance.now() };
      const complete = (routeResponse: RouteResponse) => {
        this.#routeResponse = routeResponse;
        const response = asJsonDocument(this.#counted(routeResponse), this.headers);
        const timing = timingHeaders(target.route, times, response);
        return withHeaders(response, this.#corsHeaders, rateHeaders(this.rate), timing);
      };
      const running = handler(this);
      if (!(running instanceof Promise)) return complete(running);
      return this.#deadline.race(this.#watched(running), (late) => this.#close(late)).then(complete);
    };
    if (method !== 'POST' && method !== 'PUT') return run();
    const reading = this.#watched(readBody(this.#request, this.query, target));
    return this.#deadline
      .race(reading, () => {})
      .then((body) => {
        this.body = body;
        return run();
      });
  }

  #refuse(error: unknown): RouteResponse | Promise<RouteResponse> {
    if (this.#response.closed) throw error; // the client has disconnected
    const problem = this.#toProblem(error);
    if (this.target === undefined && isUnknownPage(this.#request, error, this.#handling.gate.basePath))
      return this.#watched(this.#notFoundPage());
    return problem;
  }

  /** Reports a failure, and gives the response for it. */
  #toProblem(error: unknown): RouteResponse {
    this.#outcome.explain(error);
    this.#outcome.isSuspicious = error instanceof TooManyFailures && error.isFirst;
    // Grafana shows errors of Loki as they come, which are text.
    const accept = this.target?.route === 'loki' ? TEXT_HEADERS['content-type'] : this.headers.accept;
    const problem = problemResponse(error, { accept: String(accept ?? ''), url: requestUrl(this.#request) });
    const rate = rateHeaders(error instanceof RateExceeded ? error.rate : this.rate);
    return withHeaders(problem, this.#corsHeaders, rate);
  }

  /** The same promise. Whoever waits must know when the client disconnects; what does not wait needs no listener. */
  #watched<T>(work: Promise<T>): Promise<T> {
    if (this.#isWatched) return work;
    this.#isWatched = true;
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) this.#deadline.abort(new ClientDisconnected());
      this.#writer.closed();
    });
    return work;
  }

  subrequest(url: string, init: SubrequestInit): Promise<Response> {
    const { source } = this;
    const outer = { request: this.#request, source, stallTimeoutMs: this.#handling.stallTimeoutMs };
    return sendSubrequest(createRequestHandler(this.#handling), outer, url, init);
  }

  async #notFoundPage(): Promise<RouteResponse> {
    this.#outcome.code = 'ROUTE_NOT_FOUND';
    const { 'if-none-match': _tag, 'if-match': _match, ...headers } = this.headers;
    const { routes } = this.#handling;
    const response = await routes.console({ ...NO_REQUEST, signal: this.signal, trusted: this.trusted, headers });
    const page = withHeaders({ ...response, status: ERROR_KINDS.ROUTE_NOT_FOUND.http }, { vary: 'Accept' });
    return withHeaders(page, this.#corsHeaders, rateHeaders(this.rate));
  }

  #streamUser(route: RouteId): StreamUser {
    return {
      client: this.client,
      isMember: this.identity?.isMember ?? false,
      isEndless: this.#isFollow(route),
    };
  }

  #isFollow(route: RouteId): boolean {
    return FOLLOWS.has(route) || (MAY_FOLLOW.has(route) && (this.query.get('follow') ?? 'false') !== 'false');
  }

  #watchSession(route: RouteId): void {
    const session = { credentials: readCredentials(this.#request, this.source), wanted: getRoute(route).role };
    const { gate, lostConnections } = this.#handling;
    const unwatch = gate.access.watchSession({ ...session, end: (reason) => this.#deadline.abort(reason) });
    const unwatchSocket = lostConnections.watch(this.#request.socket);
    this.#unwatchSession = () => {
      unwatch();
      unwatchSocket();
    };
  }

  #counted(response: RouteResponse): RouteResponse {
    const counted = this.#handling.accessLog.logsAll ? RecordCount.wrap(response) : undefined;
    this.#outcome.recordCount = counted?.count;
    return counted?.response ?? response;
  }
}

/** The body of a refused request is not read. */
const CLOSE = { connection: 'close' } as const;

/**
 * The body of a request. Where it has the parameters of the route, they are added to those of the URL. Only JSON is
 * accepted, which a page of another origin cannot send without a preflight request, or the form of a route that only reads,
 * as any page can with a URL. Reads at most `MAX_BODY_BYTES` into memory.
 */
async function readBody(
  request: HttpRequest,
  query: URLSearchParams,
  { route }: Pick<RouteTarget, 'route'>,
): Promise<string> {
  const { post } = getRoute(route);
  const text = await readBodyText(request, post === 'form' ? FORM_TYPE : JSON_TYPE);
  if (!post) return text;
  const parameters = post === 'form' ? new URLSearchParams(text) : parseBodyParameters(text);
  for (const [name, value] of parameters) query.append(name, value);
  return text;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

async function readBodyText(request: HttpRequest, expected: string): Promise<string> {
  const {
    'content-type': type = '',
    'content-encoding': encoding = 'identity',
    'content-length': length,
  } = request.headers;
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== expected || encoding !== 'identity')
    throw new HttpRefusal('CONTENT_TYPE_UNSUPPORTED', `send the body as ${expected}, not compressed`, CLOSE);
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return readText(request, expected);
}

/** A program that embeds the node may have a body parser, which has read the body already. */
async function readText(request: HttpRequest, type: string): Promise<string> {
  if (request.body !== undefined && request.body !== null) return textOf(request.body, type);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function textOf(body: unknown, type: string): string {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const text = isText ? String(body) : type === FORM_TYPE ? formText(body as object) : JSON.stringify(body);
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) throw tooLarge();
  return text;
}

/** A name that is given several times has a list of values. */
function formText(fields: object): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  return new URLSearchParams(pairs).toString();
}

function tooLarge(): HttpRefusal {
  return new HttpRefusal('BODY_TOO_LARGE', `the request body is larger than ${MAX_BODY_BYTES} bytes`, CLOSE);
}

/**
 * Browsers get a "not found" page of the console for unknown addresses. Pages are public, so this reveals nothing; which
 * API routes exist is shown only to authenticated clients.
 */
function isUnknownPage(request: HttpRequest, error: unknown, basePath: string | undefined): boolean {
  const code = codeOf(error);
  if (code !== 'ROUTE_NOT_FOUND' && code !== 'UNAUTHENTICATED') return false;
  const { path } = parseTarget(requestUrl(request), basePath);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !/^\/(api|metrics)(\/|$)/.test(path) && acceptsPages(request.headers.accept);
}

/** The request that a subrequest is part of. */
interface OuterRequest {
  request: HttpRequest;
  source: unknown;
  stallTimeoutMs: number;
}

/** Handles a request of the same client, with its credentials and on its connection, like any that arrives. */
function sendSubrequest(
  onRequest: RequestHandler,
  { request, source, stallTimeoutMs }: OuterRequest,
  url: string,
  { signal, ...init }: SubrequestInit,
): Promise<Response> {
  const response = new FetchResponse({ isHead: false, stallTimeoutMs });
  const leave = () => response.destroy();
  signal.addEventListener('abort', leave, { once: true });
  response.once('close', () => signal.removeEventListener('abort', leave));
  onRequest(toSubrequest(request, url, init), response, source);
  return response.response;
}

/** Headers that describe the outer request only. */
const OUTER = /^(content-|accept|mcp-|transfer-|if-|sec-|range$|origin$|expect$)/;

function toSubrequest(
  outer: HttpRequest,
  url: string,
  { method, headers, body }: Omit<SubrequestInit, 'signal'>,
): HttpRequest {
  const { pathname, search } = new URL(url);
  const kept = Object.entries(outer.headers).filter(([name]) => !OUTER.test(name));
  return {
    method,
    url: pathname + search,
    httpVersion: '1.1',
    headers: { ...Object.fromEntries(kept), ...headers },
    rawHeaders: [],
    socket: outer.socket,
    address: remoteAddress(outer),
    body,
    async *[Symbol.asyncIterator]() {},
  };
}
