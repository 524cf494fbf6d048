import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NodeState } from '@porthole/contract';
import { createZone, type LogDir } from '@porthole/logs';
import type { TokenCheck } from '../auth/tokens.ts';
import type { Health } from '../health.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { createCors } from './cors.ts';
import { createRequestHandler } from './handle-request.ts';
import { createHostCheck } from './host-check.ts';
import { createLogRoutes } from './log-routes.ts';
import { createMetrics } from './metrics.ts';
import { createNodeRoutes } from './node-routes.ts';
import { createPageRoutes } from './page-routes.ts';
import { createRateLimit } from './rate-limit.ts';
import { createRecordRoutes } from './record-routes.ts';
import { StreamSlots } from './stream-slots.ts';

/** Of the time until the first byte, what counting may take; the rest is for getting there and back. */
const COUNT_SHARE = 0.9;

export interface HttpDoorParts {
  settings: Settings;
  state: NodeState;
  health: Health;
  tokens: TokenCheck | undefined;
  version: string;
  hostName: string;
  logs: LogDir;
  ownLog: OwnLog;
  isStopping(): boolean;
}

export interface HttpDoor {
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  readonly openStreams: number;
  /** Tells every follower that the node stops, and ends its answer; by themselves they never end. */
  endFollows(): void;
  close(): void;
}

/** Everything between a bound port and the node: who is let in, which route answers, what is counted. */
export function createHttpDoor(parts: HttpDoorParts): HttpDoor {
  const { settings, state, health, tokens, version, hostName, logs, ownLog, isStopping } = parts;
  const { http, node, search, follow } = settings;
  const slots = new StreamSlots(http.maxStreams);
  const metrics = createMetrics({
    openStreams: () => slots.taken,
    logs: () => logs.usage,
    ownLog: () => ownLog.stats(),
  });
  const stopping = new AbortController();
  // Each follower listens to it, and there may be as many as streams are allowed.
  setMaxListeners(0, stopping.signal);
  const zone = createZone(node.timeZone);
  const recordRoutes = createRecordRoutes(state, {
    clock: () => ({ nowMs: Date.now(), toEpochMs: zone.toEpochMs }),
    maxRecords: search.maxRecords,
    searchBudgetMs: search.budgetMs,
    countBudgetMs: Math.min(search.budgetMs, Math.ceil(http.answerTimeoutMs * COUNT_SHARE)),
    heartbeatMs: follow.heartbeatMs,
    stopping: stopping.signal,
  });
  const onRequest = createRequestHandler({
    gate: {
      maxUrlBytes: http.maxUrlBytes,
      tokens,
      checkHost: createHostCheck([hostName, http.host, node.hostIp, ...http.allowedHosts]),
      checkRate: createRateLimit(http.maxRequestsPerSecond),
      isStopping,
    },
    routes: {
      ...createNodeRoutes({ node: state, health, metrics }),
      ...createLogRoutes(state),
      ...recordRoutes,
      ...createPageRoutes({ node: state, health, version }),
    },
    cors: createCors(http.corsOrigins),
    slots,
    metrics,
    log: ownLog.component('http'),
    answerTimeoutMs: http.answerTimeoutMs,
  });
  return {
    onRequest,
    get openStreams() {
      return slots.taken;
    },
    endFollows: () => stopping.abort(),
    close: () => metrics.close(),
  };
}
