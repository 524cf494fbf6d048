import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { codeOf, ERROR_KINDS, type ErrorCode, getRoute, type MemberRouteId, type RouteId } from '@porthole/contract';
import type { AccessLog } from '../auth/access-log.ts';
import { clientKey, plainAddress } from '../auth/client-network.ts';
import { TooManyFailures } from '../auth/failure-limit.ts';
import type { Identity } from '../auth/identity.ts';
import { CredentialsEnded } from '../auth/standing-visits.ts';
import { ClientGone, ReaderStalled } from '../doors/client-gone.ts';
import { Deadline } from '../doors/deadline.ts';
import { type LoggedRequest, messageOf, type RequestLog } from '../doors/request-log.ts';
import type { StreamSlots, StreamUser } from '../doors/stream-slots.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import type { Answer, RouteHandler, RouteRequest } from './answer.ts';
import { VIA_HEADER } from './cluster-door.ts';
import type { createCors } from './cors.ts';
import { operationOf, type RouteTarget, templateOf } from './find-route.ts';
import { type Arrival, admit, type GateOptions, visitorOf } from './gate.ts';
import { problemAnswer } from './problem-answer.ts';
import { readBody } from './read-body.ts';
import { RecordCount } from './record-count.ts';
import { AnswerWriter, sendAnswer } from './send-answer.ts';

export interface RequestHandling {
  gate: GateOptions;
  routes: Readonly<Record<RouteId, RouteHandler>>;
  /** The same for a member of the cluster, whose id the request has. */
  memberRoutes: Readonly<Record<MemberRouteId, RouteHandler>>;
  cors: ReturnType<typeof createCors>;
  slots: StreamSlots;
  metrics: NodeMetrics;
  accessLog: AccessLog;
  log: RequestLog;
  answerTimeoutMs: number;
}

/** Counted for a client that left before its answer began; what others (nginx) count it as. It is never sent. */
const CLIENT_LEFT = 499;

const NO_QUERY = new URLSearchParams();

/** What a page that depends on nothing is asked with. */
const NO_REQUEST = { query: NO_QUERY, method: 'GET', member: undefined, rest: '' } as const;

/** Their answers end when their reader leaves, or may not read any more. */
const FOLLOWS: ReadonlySet<RouteId> = new Set(['logFollow', 'clusterLogFollow']);

/** The life of a request: let in, answered, sent, counted. Every failure on the way meets in here. */
export function createRequestHandler(
  handling: RequestHandling,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const course = new RequestCourse(handling, request, response);
    course.run().catch((error) => handling.log.unfinished(error));
  };
}

/** One request, from its arrival to its last byte; what a route sees of it is the request itself. */
class RequestCourse implements RouteRequest, Arrival {
  readonly headers: IncomingHttpHeaders;
  query = NO_QUERY;
  method: RouteRequest['method'] = 'GET';
  target: RouteTarget | undefined = undefined;
  identity: Identity | undefined = undefined;
  member: string | undefined = undefined;
  rest = '';
  readonly #handling: RequestHandling;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #writer: AnswerWriter;
  readonly #deadline: Deadline;
  readonly #startedMs = performance.now();
  #operation = 'none';
  #code: ErrorCode | undefined;
  #isSuspicious = false;
  /** What the node could not do, in its own words; for the access log. */
  #failure: string | undefined;
  readonly #id: string;
  #recordCount: RecordCount | undefined;
  #giveSlot: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #answer: Answer | undefined;

  constructor(handling: RequestHandling, request: IncomingMessage, response: ServerResponse) {
    this.#id = handling.log.newId();
    this.headers = request.headers;
    this.#handling = handling;
    this.#request = request;
    this.#response = response;
    this.#writer = new AnswerWriter(response);
    this.#deadline = new Deadline(handling.answerTimeoutMs);
    response.once('close', () => {
      if (!response.writableFinished) this.#deadline.abort(new ClientGone());
      this.#writer.closed();
    });
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  get #logged(): LoggedRequest {
    return { id: this.#id, method: this.#request.method ?? '', route: this.target ? templateOf(this.target) : 'none' };
  }

  get trusted(): boolean {
    return this.identity !== undefined && this.identity.roles.length > 0;
  }

  async run(): Promise<void> {
    try {
      const answer = await this.#decide();
      this.#deadline.met();
      await sendAnswer(this.#writer, answer, { headOnly: this.#request.method === 'HEAD' });
    } catch (error) {
      this.#cut(error);
    } finally {
      this.#deadline.met();
      if (this.#answer) closeStream(this.#answer);
      this.#giveSlot?.();
      this.#leave?.();
      this.#count();
    }
  }

  /** The answer of the route, or of the failure to get one. */
  async #decide(): Promise<Answer> {
    const { cors, gate, slots, routes, memberRoutes } = this.#handling;
    const extra = cors.headersFor(this.#request);
    try {
      const preflight = cors.preflight(this.#request);
      if (preflight) return preflight;
      const { target, method } = await admit(this.#request, gate, this);
      this.#operation = operationOf(target);
      this.method = method === 'POST' ? 'GET' : method;
      this.member = target.member;
      this.rest = target.rest;
      if (getRoute(target.route).stream) this.#giveSlot = slots.take(this.#streamUser(target.route));
      if (method === 'POST') await this.#deadline.race(readBody(this.#request, this.query), () => {});
      if (FOLLOWS.has(target.route)) this.#stay(target.route);
      const handler = target.member === undefined ? routes[target.route] : memberRoutes[target.route];
      this.#answer = await this.#deadline.race(Promise.resolve(handler(this)), closeStream);
      return withHeaders(this.#counted(this.#answer), extra);
    } catch (error) {
      if (this.#response.closed) throw error; // no one is left to be answered
      this.#explain(error);
      this.#isSuspicious = error instanceof TooManyFailures && error.isFirst;
      const page = this.#isUnknownPage(error) ? await this.#notFoundPage() : undefined;
      return withHeaders(page ?? problemAnswer(error, { accept: this.headers.accept, url: this.#request.url }), extra);
    }
  }

  /**
   * Someone opened an address that is no page of the console: they see a page that says so. Pages are public, so
   * nothing is revealed by it; which routes the API has is only told to those who are known.
   */
  #isUnknownPage(error: unknown): boolean {
    const code = codeOf(error);
    if (this.target !== undefined || (code !== 'ROUTE_NOT_FOUND' && code !== 'UNAUTHENTICATED')) return false;
    const { method, url = '/' } = this.#request;
    const isRead = method === 'GET' || method === 'HEAD';
    return isRead && !/^\/(api|metrics)(\/|$|\?)/.test(url) && acceptsPages(this.headers.accept);
  }

  async #notFoundPage(): Promise<Answer> {
    this.#code = 'ROUTE_NOT_FOUND';
    const { 'if-none-match': _tag, 'if-match': _match, ...headers } = this.headers;
    const { routes } = this.#handling;
    const answer = await routes.console({ ...NO_REQUEST, signal: this.signal, trusted: this.trusted, headers });
    return withHeaders({ ...answer, status: ERROR_KINDS.ROUTE_NOT_FOUND.http }, { vary: 'Accept' });
  }

  #streamUser(route: RouteId): StreamUser {
    const { identity } = this;
    const address = plainAddress(this.#request.socket.remoteAddress);
    return {
      client: clientKey({ identity, address }),
      isMember: identity?.isMember ?? false,
      isEndless: FOLLOWS.has(route),
    };
  }

  #stay(route: RouteId): void {
    const visit = { visitor: visitorOf(this.#request), wanted: getRoute(route).role };
    this.#leave = this.#handling.gate.access.stay({ ...visit, end: (reason) => this.#deadline.abort(reason) });
  }

  #counted(answer: Answer): Answer {
    const counted = this.#handling.accessLog.tellsAll ? RecordCount.of(answer) : undefined;
    this.#recordCount = counted?.count;
    return counted?.answer ?? answer;
  }

  /** Tells the own log of failures that are the node's, not the client's. */
  #explain(error: unknown): void {
    const code = codeOf(error);
    this.#code = code;
    if (code === 'INTERNAL') {
      this.#failure = messageOf(error);
      this.#handling.log.failed(this.#logged, error);
    } else this.#handling.log.refused(this.#logged, code);
  }

  /** After the head has gone out there is only one honest way to tell a failure: the connection ends too early. */
  #cut(error: unknown): void {
    const { metrics, log } = this.#handling;
    const stalled = error instanceof ReaderStalled;
    const clientLeft = !stalled && (error instanceof ClientGone || this.#response.closed);
    const refused = error instanceof CredentialsEnded;
    this.#response.destroy();
    metrics.countCut(stalled ? 'stalled' : clientLeft ? 'client' : refused ? 'credentials' : 'source');
    if (refused) this.#explain(error);
    else if (!clientLeft) {
      this.#failure = messageOf(error);
      log.cut(this.#logged, error, this.#writer.sentBytes);
    }
  }

  #count(): void {
    const { metrics, accessLog, log } = this.#handling;
    const { method = '' } = this.#request;
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const { headersSent, statusCode } = this.#response;
    const status = headersSent ? statusCode : CLIENT_LEFT;
    metrics.countRequest({ route: this.#operation, method, status, bytes: this.#writer.sentBytes, seconds });
    accessLog.note({
      identity: this.identity,
      address: plainAddress(this.#request.socket.remoteAddress),
      transport: 'http',
      route: this.target?.route,
      operation: this.target ? operationOf(this.target) : 'none',
      query: this.query,
      status,
      code: this.#code,
      isSuspicious: this.#isSuspicious,
      id: this.#id,
      failure: this.#failure,
      bytes: this.#writer.sentBytes,
      records: this.#recordCount?.records,
      ms: seconds * 1000,
      via: this.headers[VIA_HEADER]?.toString(),
    });
    log.answered(this.#logged, { status, bytes: this.#writer.sentBytes, ms: seconds * 1000 });
  }
}

/** Whether it is a browser that opens a page: scripts and command lines do not name HTML. */
function acceptsPages(accept = ''): boolean {
  return accept.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === 'text/html');
}

function withHeaders(answer: Answer, extra: OutgoingHttpHeaders | undefined): Answer {
  if (!extra) return answer;
  const vary = [answer.headers.vary, extra.vary].filter((part) => part !== undefined).join(', ');
  return { ...answer, headers: { ...answer.headers, ...extra, vary } };
}

function closeStream(answer: Answer): void {
  if ('stream' in answer) answer.stream.close().catch(() => {}); // nothing is left that could be told to anyone
}
