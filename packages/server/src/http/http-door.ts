import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NodeState } from '@porthole/contract';
import type { DoorRules } from '../doors/door-rules.ts';
import type { Health } from '../health.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { createCors } from './cors.ts';
import { createRequestHandler } from './handle-request.ts';
import { createHostCheck } from './host-check.ts';
import { createLogRoutes } from './log-routes.ts';
import { createNodeRoutes } from './node-routes.ts';
import { createPageRoutes } from './page-routes.ts';
import { createRecordRoutes } from './record-routes.ts';

export interface HttpDoorParts {
  settings: Settings;
  rules: DoorRules;
  state: NodeState;
  health: Health;
  version: string;
  hostName: string;
  ownLog: OwnLog;
}

/** Everything between a bound port and the node: who is let in, which route answers, what is counted. */
export function createHttpDoor(parts: HttpDoorParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { settings, rules, state, health, version, hostName, ownLog } = parts;
  const { http, node, follow } = settings;
  const { tokens, slots, metrics, checkRate, isStopping, answerTimeoutMs } = rules;
  return createRequestHandler({
    gate: {
      maxUrlBytes: http.maxUrlBytes,
      tokens,
      checkHost: createHostCheck([hostName, http.host, node.hostIp, ...http.allowedHosts]),
      checkRate,
      isStopping,
    },
    routes: {
      ...createNodeRoutes({ node: state, health, metrics }),
      ...createLogRoutes(state),
      ...createRecordRoutes(state, { ...rules, heartbeatMs: follow.heartbeatMs }),
      ...createPageRoutes({ node: state, health, version }),
    },
    cors: createCors(http.corsOrigins),
    slots,
    metrics,
    log: ownLog.component('http'),
    answerTimeoutMs,
  });
}
