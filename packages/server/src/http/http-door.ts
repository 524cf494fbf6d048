import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClusterState, NodeState } from '@porthole/contract';
import { DownloadTickets } from '../auth/download-tickets.ts';
import type { DoorRules } from '../doors/door-rules.ts';
import { RequestLog } from '../doors/request-log.ts';
import type { Health } from '../health.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { createBundleRoutes } from './bundle-routes.ts';
import { createClusterRoutes } from './cluster-routes.ts';
import { ConsoleFiles } from './console-files.ts';
import { createCors } from './cors.ts';
import { createDownloadRoutes } from './download-routes.ts';
import { createRequestHandler } from './handle-request.ts';
import { createHealthRoutes } from './health-routes.ts';
import { createHostCheck } from './host-check.ts';
import { createLogRoutes } from './log-routes.ts';
import { createMemberRoutes } from './member-routes.ts';
import { createPageRoutes } from './page-routes.ts';
import { createRecordRoutes } from './record-routes.ts';
import { createStateRoutes } from './state-routes.ts';

export interface HttpDoorParts {
  settings: Settings;
  rules: DoorRules;
  state: NodeState;
  /** Without it the node answers only for itself. */
  cluster?: ClusterState;
  health: Health;
  version: string;
  hostName: string;
  ownLog: OwnLog;
}

/** Everything between a bound port and the node: who is let in, which route answers, what is counted. */
export function createHttpDoor(parts: HttpDoorParts): (request: IncomingMessage, response: ServerResponse) => void {
  const { settings, rules, state, cluster, health, version, hostName, ownLog } = parts;
  const { http, node, follow, auth } = settings;
  const { access, accessLog, slots, metrics, checkRate, isStopping, answerTimeoutMs } = rules;
  const recordOptions = { ...rules, heartbeatMs: follow.heartbeatMs };
  const tickets = new DownloadTickets();
  return createRequestHandler({
    gate: {
      tickets,
      maxUrlBytes: http.maxUrlBytes,
      access,
      protectsMetrics: auth.protectMetrics,
      checkHost: createHostCheck([hostName, http.host, node.hostIp, ...http.allowedHosts]),
      checkRate,
      isStopping,
    },
    routes: {
      ...createHealthRoutes({ health, metrics }),
      ...createStateRoutes(state),
      ...createLogRoutes(state),
      ...createRecordRoutes(state, recordOptions),
      ...createClusterRoutes(cluster, recordOptions),
      ...createDownloadRoutes(cluster, { ...recordOptions, tickets }),
      ...createBundleRoutes(cluster, { ...rules, ...settings.bundle, health }),
      ...createPageRoutes({ consoleFiles: new ConsoleFiles(), version }),
    },
    memberRoutes: createMemberRoutes(cluster, recordOptions),
    cors: createCors(http.corsOrigins),
    slots,
    metrics,
    accessLog,
    log: new RequestLog(ownLog.component('http')),
    answerTimeoutMs,
  });
}
