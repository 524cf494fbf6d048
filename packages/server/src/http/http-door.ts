import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NodeState } from '@porthole/contract';
import type { LogDir } from '@porthole/logs';
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
import { StreamSlots } from './stream-slots.ts';

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
  close(): void;
}

/** Everything between a bound port and the node: who is let in, which route answers, what is counted. */
export function createHttpDoor(parts: HttpDoorParts): HttpDoor {
  const { settings, state, health, tokens, version, hostName, logs, ownLog, isStopping } = parts;
  const { http, node } = settings;
  const slots = new StreamSlots(http.maxStreams);
  const metrics = createMetrics({
    openStreams: () => slots.taken,
    openFiles: () => logs.usage.openFiles,
    ownLog: () => ownLog.stats(),
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
    close: () => metrics.close(),
  };
}
