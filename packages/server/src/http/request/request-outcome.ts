import { codeOf, type ErrorCode, errorMessage, getRoute, ROUTE_IDS } from '@porthole/contract';
import { CredentialsEnded } from '../../auth/access.ts';
import type { AccessLog } from '../../auth/access-log.ts';
import { plainAddress } from '../../auth/identity.ts';
import { ClientDisconnected, isFault, ReaderStalled } from '../../errors.ts';
import type { NodeMetrics } from '../../metrics/metrics.ts';
import type { LoggedRequest, RequestLog } from '../../transport/request-log.ts';
import { type HttpRequest, type HttpResponse, remoteAddress, VIA_HEADER } from '../response/http-exchange.ts';
import type { RecordCount } from '../response/route-response.ts';
import type { RequestContext } from './authorize-request.ts';
import { routeOperation, routeTemplate } from './find-route.ts';

/** Status in metrics and logs for a client that disconnected before the response began, as in nginx. Never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** Over HTTP/2 a method can be any token: those of no route are one, so that no client makes series or fields of its own. */
const METHODS: ReadonlySet<string> = new Set([
  'HEAD',
  'OPTIONS',
  ...ROUTE_IDS.map((id) => getRoute(id).method ?? 'GET'),
]);
const OTHER_METHODS = 'other';

export const NO_QUERY = new URLSearchParams();

export interface OutcomeDeps {
  metrics: NodeMetrics;
  accessLog: AccessLog;
  log: RequestLog;
}

interface OutcomeRequest {
  request: HttpRequest;
  response: HttpResponse;
  context: RequestContext;
}

/** What becomes of a request, for the metrics, the access log and the own log. */
export class RequestOutcome {
  readonly startedMs = performance.now();
  operation = 'none';
  code: ErrorCode | undefined;
  isSuspicious = false;
  recordCount: RecordCount | undefined;
  /** The message of a failure of the node, for the access log. */
  #failure: string | undefined;
  readonly #id: string;
  readonly #deps: OutcomeDeps;
  readonly #of: OutcomeRequest;

  constructor(deps: OutcomeDeps, of: OutcomeRequest) {
    this.#deps = deps;
    this.#of = of;
    this.#id = deps.log.newId();
  }

  /** Logs failures of the node to the own log; errors of the client only at level debug. */
  explain(error: unknown): void {
    const code = codeOf(error);
    this.code = code;
    if (code === 'INTERNAL') {
      this.#failure = errorMessage(error);
      this.#deps.log.failed(this.#logged, error);
      this.#countFault(error);
    } else this.#deps.log.refused(this.#logged, code);
  }

  /** The response ended early. */
  cut(error: unknown, sentBytes: number): void {
    const { metrics, log } = this.#deps;
    const stalled = error instanceof ReaderStalled;
    const clientLeft = !stalled && (error instanceof ClientDisconnected || this.#of.response.closed);
    const refused = error instanceof CredentialsEnded;
    metrics.countCut(stalled ? 'stalled' : clientLeft ? 'client' : refused ? 'credentials' : 'source');
    if (refused) this.explain(error);
    else if (!clientLeft) {
      this.#failure = errorMessage(error);
      log.cut(this.#logged, error, sentBytes);
      this.#countFault(error);
    }
  }

  /** Cleaning up failed, or an event of the response. Expected failures were reported before. */
  unfinished(error: unknown): void {
    if (!isFault(error)) return;
    this.#deps.log.unfinished(this.#logged, error);
    this.#countFault(error);
  }

  count(bytes: number): void {
    const { metrics, accessLog, log } = this.#deps;
    const { request, response, context } = this.#of;
    const seconds = (performance.now() - this.startedMs) / 1000;
    const status = response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST;
    metrics.countRequest({ route: this.operation, method: this.#method, status, bytes, seconds });
    accessLog.note({
      identity: context.identity,
      address: plainAddress(remoteAddress(request)),
      transport: 'http',
      route: context.target?.route,
      operation: context.target ? routeOperation(context.target) : 'none',
      query: context.search === '' && !context.hasQuery ? NO_QUERY : context.query,
      status,
      code: this.code,
      isSuspicious: this.isSuspicious,
      id: this.#id,
      failure: this.#failure,
      bytes,
      records: this.recordCount?.records,
      ms: seconds * 1000,
      via: request.headers[VIA_HEADER]?.toString(),
      traceparent: request.headers.traceparent?.toString(),
    });
    if (log.logsCompleted) log.completed(this.#logged, { status, bytes, ms: seconds * 1000 });
  }

  #countFault(error: unknown): void {
    if (isFault(error)) this.#deps.metrics.countFault('http');
  }

  get #logged(): LoggedRequest {
    const { target } = this.#of.context;
    return { id: this.#id, method: this.#method, route: target ? routeTemplate(target) : 'none' };
  }

  get #method(): string {
    const { method = '' } = this.#of.request;
    return METHODS.has(method) ? method : OTHER_METHODS;
  }
}
