import type { IncomingHttpHeaders } from 'node:http';
import {
  codeOf,
  ERROR_KINDS,
  type ErrorCode,
  errorMessage,
  getRoute,
  type MemberRouteId,
  type RouteId,
} from '@porthole/contract';
import type { AccessLog } from '../../auth/access-log.ts';
import { clientKey, plainAddress } from '../../auth/client-network.ts';
import { TooManyFailures } from '../../auth/failure-limit.ts';
import type { Identity } from '../../auth/identity.ts';
import { CredentialsEnded } from '../../auth/session-revalidation.ts';
import type { NodeMetrics } from '../../metrics/metrics.ts';
import { ClientDisconnected, Deadline, ReaderStalled } from '../../transport/deadline.ts';
import type { DeadlineTimer } from '../../transport/deadline-timer.ts';
import type { LoggedRequest, RequestLog } from '../../transport/request-log.ts';
import { RateExceeded, type RateState } from '../../transport/request-policy.ts';
import type { StreamSlots, StreamUser } from '../../transport/stream-slots.ts';
import { compressResponse } from '../response/compress-response.ts';
import { rateHeaders, timingHeaders, withHeaders } from '../response/extra-headers.ts';
import { asJsonDocument } from '../response/json-document.ts';
import { problemResponse } from '../response/problem-response.ts';
import { RecordCount } from '../response/record-count.ts';
import {
  closeStream,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
  type SubrequestHandler,
  type SubrequestInit,
  type SubrequestSource,
} from '../response/route-response.ts';
import { ResponseWriter, sendResponse } from '../response/send-response.ts';
import { VIA_HEADER } from '../routes/require-cluster.ts';
import { authorizeRequest, type RequestContext, type RequestGate, readCredentials } from './authorize-request.ts';
import { type RouteTarget, routeOperation, routeTemplate } from './find-route.ts';
import type { createCors } from './hosts-and-origins.ts';
import { type HttpRequest, type HttpResponse, remoteAddress, requestUrl } from './http-exchange.ts';
import { readBody } from './read-body.ts';
import { sendSubrequest } from './subrequest.ts';
import { isUnknownPage } from './unknown-page.ts';

export interface RequestHandlerDeps {
  gate: RequestGate;
  routes: Readonly<Record<Exclude<RouteId, 'mcp'>, RouteHandler>> & { readonly mcp: SubrequestHandler };
  /** Routes of a member of the cluster; the request has its id. */
  memberRoutes: Readonly<Record<MemberRouteId, RouteHandler>>;
  cors: ReturnType<typeof createCors>;
  slots: StreamSlots;
  metrics: NodeMetrics;
  accessLog: AccessLog;
  log: RequestLog;
  timer: DeadlineTimer;
  stallTimeoutMs: number;
}

/** Status in metrics and logs for a client that disconnected before the response began, as in nginx. Never sent. */
const CLIENT_CLOSED_REQUEST = 499;

const NO_QUERY = new URLSearchParams();
/** The request for a page that depends on nothing. */
const NO_REQUEST = { query: NO_QUERY, method: 'GET', member: undefined, rest: '' } as const;

/** Routes whose responses end only when the client disconnects or its credentials end. */
const FOLLOWS: ReadonlySet<RouteId> = new Set(['logFollow', 'clusterLogFollow']);

/** `source` is the request as the program that embeds the node has it. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse, source?: unknown) => void;

/** Handles a request: authorizes, runs the route, sends the response, counts. All failures are handled here. */
export function createRequestHandler(handling: RequestHandlerDeps): RequestHandler {
  return (request, response, source = request) => {
    const lifecycle = new RequestLifecycle(handling, { request, response, source });
    lifecycle.run().catch((error) => handling.log.unfinished(error));
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
  rest = '';
  body = '';
  readonly #handling: RequestHandlerDeps;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #writer: ResponseWriter;
  readonly #deadline: Deadline;
  readonly #startedMs = performance.now();
  #operation = 'none';
  #code: ErrorCode | undefined;
  #isSuspicious = false;
  /** The message of a failure of the node, for the access log. */
  #failure: string | undefined;
  readonly #id: string;
  #recordCount: RecordCount | undefined;
  #releaseSlot: (() => void) | undefined;
  #unwatchSession: (() => void) | undefined;
  #routeResponse: RouteResponse | undefined;
  #query: URLSearchParams | undefined;

  constructor(handling: RequestHandlerDeps, { request, response, source }: Arrival) {
    this.source = source;
    this.#id = handling.log.newId();
    this.headers = request.headers;
    this.#handling = handling;
    this.#request = request;
    this.#response = response;
    this.#writer = new ResponseWriter(response);
    this.#deadline = new Deadline(handling.timer);
    response.on('close', () => {
      if (!response.writableFinished) this.#deadline.abort(new ClientDisconnected());
      this.#writer.closed();
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

  get #logged(): LoggedRequest {
    return {
      id: this.#id,
      method: this.#request.method ?? '',
      route: this.target ? routeTemplate(this.target) : 'none',
    };
  }

  get trusted(): boolean {
    return this.identity !== undefined && this.identity.roles.length > 0;
  }

  get client(): string {
    return clientKey({ identity: this.identity, address: plainAddress(remoteAddress(this.#request)) });
  }

  async run(): Promise<void> {
    try {
      const response = await this.#decide();
      this.#deadline.met();
      await sendResponse(this.#writer, compressResponse(response, this.headers), {
        headOnly: this.#request.method === 'HEAD',
      });
    } catch (error) {
      this.#cut(error);
    } finally {
      this.#deadline.met();
      if (this.#routeResponse) closeStream(this.#routeResponse);
      this.#releaseSlot?.();
      this.#unwatchSession?.();
      this.#count();
    }
  }

  /** The response of the route, or of its failure. */
  async #decide(): Promise<RouteResponse> {
    const { cors, gate, slots, routes, memberRoutes } = this.#handling;
    const extra = cors.headersFor(this.#request);
    try {
      const preflight = cors.preflight(this.#request);
      if (preflight) return preflight;
      // Nothing is awaited that is already known: for a short response, that is much of its time.
      const admission = authorizeRequest(this.#request, gate, this);
      const { target, method } = admission instanceof Promise ? await admission : admission;
      this.#operation = routeOperation(target);
      this.method = method === 'POST' ? 'GET' : method;
      this.member = target.member;
      this.rest = target.rest;
      if (getRoute(target.route).stream) this.#releaseSlot = slots.take(this.#streamUser(target.route));
      if (method === 'POST')
        this.body = await this.#deadline.race(readBody(this.#request, this.query, target), () => {});
      if (FOLLOWS.has(target.route)) this.#watchSession(target.route);
      const handler = target.member === undefined ? routes[target.route] : memberRoutes[target.route];
      const times = { receivedMs: this.#startedMs, begunMs: performance.now() };
      const running = handler(this);
      this.#routeResponse = running instanceof Promise ? await this.#deadline.race(running, closeStream) : running;
      const response = asJsonDocument(this.#counted(this.#routeResponse), this.headers);
      return withHeaders(response, extra, rateHeaders(this.rate), timingHeaders(target.route, times, response));
    } catch (error) {
      if (this.#response.closed) throw error; // the client has disconnected
      this.#explain(error);
      this.#isSuspicious = error instanceof TooManyFailures && error.isFirst;
      const isUnknown = this.target === undefined && isUnknownPage(this.#request, error, gate.basePath);
      const page = isUnknown ? await this.#notFoundPage() : undefined;
      return withHeaders(
        page ?? problemResponse(error, { accept: this.headers.accept, url: requestUrl(this.#request) }),
        extra,
        rateHeaders(error instanceof RateExceeded ? error.rate : this.rate),
      );
    }
  }

  subrequest(url: string, init: SubrequestInit): Promise<Response> {
    const { source } = this;
    const outer = { request: this.#request, source, stallTimeoutMs: this.#handling.stallTimeoutMs };
    return sendSubrequest(createRequestHandler(this.#handling), outer, url, init);
  }

  async #notFoundPage(): Promise<RouteResponse> {
    this.#code = 'ROUTE_NOT_FOUND';
    const { 'if-none-match': _tag, 'if-match': _match, ...headers } = this.headers;
    const { routes } = this.#handling;
    const response = await routes.console({ ...NO_REQUEST, signal: this.signal, trusted: this.trusted, headers });
    return withHeaders({ ...response, status: ERROR_KINDS.ROUTE_NOT_FOUND.http }, { vary: 'Accept' });
  }

  #streamUser(route: RouteId): StreamUser {
    return {
      client: this.client,
      isMember: this.identity?.isMember ?? false,
      isEndless: FOLLOWS.has(route),
    };
  }

  #watchSession(route: RouteId): void {
    const session = { credentials: readCredentials(this.#request, this.source), wanted: getRoute(route).role };
    this.#unwatchSession = this.#handling.gate.access.watchSession({
      ...session,
      end: (reason) => this.#deadline.abort(reason),
    });
  }

  #counted(response: RouteResponse): RouteResponse {
    const counted = this.#handling.accessLog.logsAll ? RecordCount.wrap(response) : undefined;
    this.#recordCount = counted?.count;
    return counted?.response ?? response;
  }

  /** Logs failures of the node to the own log; errors of the client only at level debug. */
  #explain(error: unknown): void {
    const code = codeOf(error);
    this.#code = code;
    if (code === 'INTERNAL') {
      this.#failure = errorMessage(error);
      this.#handling.log.failed(this.#logged, error);
    } else this.#handling.log.refused(this.#logged, code);
  }

  /** Once the head was sent, closing the connection early is the only way to signal a failure. */
  #cut(error: unknown): void {
    const { metrics, log } = this.#handling;
    const stalled = error instanceof ReaderStalled;
    const clientLeft = !stalled && (error instanceof ClientDisconnected || this.#response.closed);
    const refused = error instanceof CredentialsEnded;
    this.#response.destroy();
    metrics.countCut(stalled ? 'stalled' : clientLeft ? 'client' : refused ? 'credentials' : 'source');
    if (refused) this.#explain(error);
    else if (!clientLeft) {
      this.#failure = errorMessage(error);
      log.cut(this.#logged, error, this.#writer.sentBytes);
    }
  }

  #count(): void {
    const { metrics, accessLog, log } = this.#handling;
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const status = this.#response.headersSent ? this.#response.statusCode : CLIENT_CLOSED_REQUEST;
    const { sentBytes: bytes } = this.#writer;
    metrics.countRequest({ route: this.#operation, method: this.#request.method ?? '', status, bytes, seconds });
    accessLog.note({
      identity: this.identity,
      address: plainAddress(remoteAddress(this.#request)),
      transport: 'http',
      route: this.target?.route,
      operation: this.target ? routeOperation(this.target) : 'none',
      query: this.#query ?? (this.search === '' ? NO_QUERY : this.query),
      status,
      code: this.#code,
      isSuspicious: this.#isSuspicious,
      id: this.#id,
      failure: this.#failure,
      bytes,
      records: this.#recordCount?.records,
      ms: seconds * 1000,
      via: this.headers[VIA_HEADER]?.toString(),
    });
    if (log.logsCompleted) log.completed(this.#logged, { status, bytes, ms: seconds * 1000 });
  }
}
