import type { ClusterState, NodeState } from '@porthole/contract';
import { DownloadTickets } from '../auth/download-tickets.ts';
import type { NodeCluster } from '../cluster/node-cluster.ts';
import type { Health } from '../health.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import type { Settings } from '../settings/settings.ts';
import { LostConnections } from '../transport/connections.ts';
import { DeadlineTimer } from '../transport/deadline.ts';
import { RequestLog } from '../transport/request-log.ts';
import type { RequestPolicy } from '../transport/request-policy.ts';
import type { SavedViewStore } from '../views/saved-views.ts';
import { createRequestHandler, type RequestHandler, type RequestHandlerDeps } from './request/handle-request.ts';
import { createCors, createHostCheck, createMemberOrigins, createSiteCheck } from './request/hosts-and-origins.ts';
import { ConsoleFiles } from './response/console-files.ts';
import { lazyCallOptions } from './response/route-response.ts';
import { createClusterRoutes } from './routes/cluster-routes.ts';
import { createBundleRoutes, createDownloadRoutes } from './routes/download-routes.ts';
import { createEventRoutes, createIncidentRoute } from './routes/event-routes.ts';
import { createLogRoutes } from './routes/log-routes.ts';
import { createLokiRoutes } from './routes/loki-routes.ts';
import { createMemberRoutes } from './routes/member-routes.ts';
import {
  createHealthRoutes,
  createMcpRoute,
  createPageRoutes,
  createQueryRoutes,
  createStateRoutes,
  createViewRoutes,
} from './routes/node-routes.ts';
import { createRecordRoutes } from './routes/record-routes.ts';
import { Scope } from './routes/scope.ts';

export interface HttpAdapterDeps {
  settings: Settings;
  policy: RequestPolicy;
  state: NodeState;
  /** Without it, cluster routes are not supported. */
  cluster?: ClusterState & Partial<Pick<NodeCluster, 'isConfigured' | 'everKnown'>>;
  /** Without it, views are not supported. */
  views?: SavedViewStore;
  health: Health;
  version: string;
  hostName: string;
  /** Offered by the console. */
  demoUrl?: string | undefined;
  ownLog: OwnLog;
  /** See `createPageRoutes`. */
  onConsole?: (() => void) | undefined;
  /** Further names of this node in the `Host` header. */
  hostNames?: readonly string[];
}

export interface HttpAdapter {
  onRequest: RequestHandler;
  /** For requests that come through the server of a program that embeds the node. */
  onMountedRequest: RequestHandler;
}

/** Connects HTTP requests to the node: authorization, routes, metrics. */
export function createHttpAdapter(deps: HttpAdapterDeps): HttpAdapter {
  const {
    settings,
    policy,
    state,
    cluster,
    views,
    health,
    version,
    hostName,
    demoUrl,
    onConsole,
    ownLog,
    hostNames = [],
  } = deps;
  const { http, node, follow, auth } = settings;
  const { basePath } = http;
  const { access, accessLog, slots, metrics, checkRate, checkLocal, isStopping, answerTimeoutMs, stallTimeoutMs } =
    policy;
  const recordOptions = { ...policy, heartbeatMs: follow.heartbeatMs };
  const scope = new Scope(state, cluster, async () => (await cluster?.selfId?.()) ?? hostName);
  const tickets = new DownloadTickets();
  const members = createMemberOrigins(cluster?.isConfigured ?? false, () => cluster?.everKnown ?? []);
  const handling: RequestHandlerDeps = {
    gate: {
      basePath,
      tickets,
      maxUrlBytes: http.maxUrlBytes,
      access,
      protectsMetrics: auth.protectMetrics,
      checkHost: createHostCheck([hostName, http.host, node.hostIp, ...hostNames, ...http.allowedHosts]),
      checkLocal,
      checkSite: createSiteCheck(http.corsOrigins, members),
      checkRate,
      isStopping,
    },
    routes: {
      ...createHealthRoutes({ health, metrics }),
      ...createStateRoutes(state, scope, lazyCallOptions),
      ...createLogRoutes(state, scope, lazyCallOptions),
      ...createRecordRoutes(state, scope, recordOptions),
      ...createEventRoutes(state, scope, recordOptions),
      ...createIncidentRoute(scope, recordOptions),
      ...createQueryRoutes(),
      ...createViewRoutes(views),
      ...createClusterRoutes(cluster, scope, recordOptions),
      ...createDownloadRoutes(scope, { ...recordOptions, tickets }),
      ...createBundleRoutes(scope, { ...policy, ...settings.bundle, health }),
      ...createLokiRoutes(scope, { ...recordOptions, isEnabled: settings.loki.enabled, version }),
      ...createMcpRoute({ isEnabled: settings.mcp.enabled, basePath, version }),
      ...createPageRoutes({
        consoleFiles: new ConsoleFiles({ demoUrl, basePath }),
        fallbacks: members.fallbacks,
        ...{ onConsole, version, basePath },
      }),
    },
    memberRoutes: createMemberRoutes(cluster, scope, recordOptions),
    cors: createCors(http.corsOrigins, members),
    slots,
    metrics,
    accessLog,
    log: new RequestLog(ownLog.component('http')),
    timer: new DeadlineTimer(answerTimeoutMs),
    lostConnections: new LostConnections(),
    stallTimeoutMs,
  };
  return {
    onRequest: createRequestHandler(handling),
    onMountedRequest: createRequestHandler({ ...handling, gate: { ...handling.gate, isMounted: true } }),
  };
}
