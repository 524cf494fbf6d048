import type { TlsOptions } from 'node:tls';
import type { RecordingRouteId, RouteId } from '@porthole/contract';
import { onTestFinished } from 'vitest';
import { DownloadTickets } from '../../auth/download-tickets.ts';
import { openToAll, QUIET_ACCESS_LOG } from '../../auth/testing/open-to-all.ts';
import type { CutReason, FaultPlace } from '../../metrics/metrics.ts';
import type { Logger, LogMethod } from '../../own-log/own-log.ts';
import { LostConnections } from '../../transport/connections.ts';
import { DeadlineTimer } from '../../transport/deadline.ts';
import { RequestLog } from '../../transport/request-log.ts';
import { StreamSlots } from '../../transport/stream-slots.ts';
import { startHttpServer } from '../http-server.ts';
import { createRequestHandler, type RequestHandler } from '../request/handle-request.ts';
import { createCors } from '../request/hosts-and-origins.ts';
import type { RouteHandler } from '../response/route-response.ts';
import type { RecordRouteOptions } from '../routes/record-routes.ts';

const HOUR_MS = 3_600_000;

export interface ServeOptions {
  heartbeatMs?: number;
  stallTimeoutMs?: number;
  answerTimeoutMs?: number;
  maxStreams?: number;
  /** With TLS, clients may choose HTTP/2. */
  tls?: TlsOptions;
}

export interface Served {
  port: number;
  slots: StreamSlots;
  /** Why responses were cut. */
  cuts: CutReason[];
  /** What the own log has of failures: the tag, the message and its context. */
  failures: Parameters<LogMethod>[];
  /** Number of faults counted. */
  faults(): number;
  onRequest: RequestHandler;
  /** Like a node: ends follows, then waits for running responses. */
  stop(): Promise<void>;
}

export interface ServedRoutes {
  routes?: Partial<Record<RouteId, RouteHandler>>;
  memberRoutes?: Partial<Record<RecordingRouteId, RouteHandler>>;
}

/** Some routes on a port of their own; stopped when the test ends. */
export async function serveRoutes(
  createRoutes: (options: RecordRouteOptions) => ServedRoutes,
  options: ServeOptions = {},
): Promise<Served> {
  const { heartbeatMs = HOUR_MS, stallTimeoutMs = HOUR_MS, answerTimeoutMs = HOUR_MS, maxStreams = 100, tls } = options;
  const slots = new StreamSlots({ max: maxStreams, perClient: maxStreams });
  const cuts: CutReason[] = [];
  const faults: FaultPlace[] = [];
  const failures: Served['failures'] = [];
  const fail: LogMethod = (...record) => failures.push(record);
  const log: Logger = { ...QUIET, warn: fail, error: fail };
  const stopping = new AbortController();
  const { routes = {}, memberRoutes = {} } = createRoutes({
    clock: () => ({ nowMs: Date.now(), offsetMsAt: () => 0 }),
    maxRecords: 1000,
    searchBudgetMs: HOUR_MS,
    countBudgetMs: HOUR_MS,
    heartbeatMs,
    stopping: stopping.signal,
    slots,
  });
  const onRequest = createRequestHandler({
    gate: {
      maxUrlBytes: 8192,
      access: openToAll(),
      tickets: new DownloadTickets(),
      protectsMetrics: true,
      checkHost() {},
      checkSite() {},
      checkRate: () => undefined,
      isStopping: () => false,
    },
    routes: routes as Record<RouteId, RouteHandler>,
    memberRoutes: memberRoutes as Record<RecordingRouteId, RouteHandler>,
    cors: createCors([]),
    slots,
    accessLog: QUIET_ACCESS_LOG,
    metrics: {
      countRequest() {},
      countCut: (reason) => cuts.push(reason),
      countCall() {},
      countFault: (place) => faults.push(place),
      render: async () => '',
      close() {},
    },
    log: new RequestLog(log),
    timer: new DeadlineTimer(answerTimeoutMs),
    lostConnections: new LostConnections(),
    stallTimeoutMs: 30_000,
  });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxHeaderBytes: 16_384,
    arrivalTimeoutMs: HOUR_MS,
    stallTimeoutMs,
    tls,
    onRequest,
    onFailure: (error) => {
      throw error;
    },
    onHttp2Request: onRequest,
  });
  onTestFinished(() => server.stop(0));
  const stop = () => {
    stopping.abort();
    return server.stop(HOUR_MS);
  };
  return { port: server.port, slots, cuts, failures, faults: () => faults.length, onRequest, stop };
}

const QUIET: Logger = { debug() {}, info() {}, warn() {}, error() {}, isEnabled: () => false };
