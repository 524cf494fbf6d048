import {
  type ClusterState,
  HEARTBEAT_HEADER,
  type Incident,
  type IncidentFormat,
  incidentHtml,
  incidentMarkdown,
  MEMBER_HEARTBEAT_MS,
  mayUse,
  type NodeState,
  PortholeError,
  parseBudget,
  parseClusterEventsRequest,
  parseClusterHistoryRequest,
  parseClusterIncidentRequest,
  parseEventsRequest,
  parseHistoryRequest,
  parseIncidentRequest,
} from '@porthole/contract';
import { toLines } from '@porthole/records';
import {
  agreedHeartbeat,
  cursorId,
  EVENT_STREAM_HEADERS,
  EventEncoder,
  lastEventId,
  openFollowStream,
  timeId,
} from '../response/follow-stream.ts';
import {
  type ClusterRouteFactory,
  callOptions,
  jsonResponse,
  linesResponse,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
} from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';

type EventRouteId = 'events' | 'configHistory' | 'configVersion';
type ClusterEventRouteId = 'clusterEvents' | 'clusterConfigHistory' | 'clusterIncident';

/** What happened to a node. */
export function createEventRoutes(node: NodeState, options: RecordRouteOptions): Record<EventRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs: budgetMs, heartbeatMs, stopping } = options;
  const encoder = new EventEncoder(cursorId);
  return {
    events: async (routed) => {
      const { query, headers, signal } = routed;
      const limits = { maxRecords, lastEventId: lastEventId({ headers, query }) };
      const { search, follow } = parseEventsRequest(query, clock(), limits);
      const call = callOptions(routed);
      if (search) return linesResponse(toLines(node.events(search, { ...call, budgetMs })));
      const beat = agreedHeartbeat(headers, heartbeatMs);
      const how = { ...call, heartbeatMs: MEMBER_HEARTBEAT_MS, positions: true };
      const stream = await openFollowStream((leaving) => node.followEvents(follow, { ...how, signal: leaving }), {
        ...{ encoder, signal, stopping },
        heartbeatMs: beat ?? heartbeatMs,
      });
      const agreed = beat !== undefined && { [HEARTBEAT_HEADER]: String(beat) };
      return { status: 200, headers: { ...EVENT_STREAM_HEADERS, ...agreed }, stream };
    },
    configHistory: async (routed) =>
      jsonResponse(await node.configHistory(parseHistoryRequest(routed.query, clock()), callOptions(routed))),
    configVersion: async (routed) => jsonResponse(await node.configVersion(routed.rest, callOptions(routed))),
  };
}

/** What happened to this node: the report of its cluster about it alone. */
export function createIncidentRoute(
  cluster: ClusterState | undefined,
  options: RecordRouteOptions,
): Record<'incident', RouteHandler> {
  return {
    incident: async (routed) => {
      if (!cluster?.selfId) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
      const { request, format } = parseIncidentRequest(routed.query, options.clock());
      const nodes = [await cluster.selfId()];
      return incidentResponse(cluster, { request: { ...request, nodes }, format }, routed, options);
    },
  };
}

async function incidentResponse(
  cluster: ClusterState,
  { request, format }: ReturnType<typeof parseIncidentRequest>,
  routed: RouteRequest,
  { clock, countBudgetMs }: RecordRouteOptions,
): Promise<RouteResponse> {
  const { findIncident } = await import('@porthole/cluster');
  const budgetMs = parseBudget(routed.query, { mostMs: countBudgetMs });
  const withValues = mayUse(routed.identity?.roles ?? [], 'config');
  const incident = await findIncident(cluster, request, { ...callOptions(routed), budgetMs, withValues });
  return format === 'json' ? jsonResponse(incident) : reportResponse(incident, format, clock());
}

/** A file: what logs contain is never a page of this site. */
function reportResponse(
  incident: Incident,
  format: Exclude<IncidentFormat, 'json'>,
  zone: ReturnType<RecordRouteOptions['clock']>,
): RouteResponse {
  const isHtml = format === 'html';
  const day = new Date(incident.fromMs ?? incident.lookedFromMs).toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      'content-type': isHtml ? 'text/html; charset=utf-8' : 'text/markdown; charset=utf-8',
      'content-disposition': `attachment; filename="incident-${day}.${isHtml ? 'html' : 'md'}"`,
    },
    body: isHtml ? incidentHtml(incident, zone) : incidentMarkdown(incident, zone),
  };
}

/** What happened to all members. */
export function createClusterEventRoutes(
  route: ClusterRouteFactory,
  options: RecordRouteOptions,
): Record<ClusterEventRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs: budgetMs, heartbeatMs, stopping } = options;
  const encoder = new EventEncoder(timeId);
  return {
    clusterEvents: route(async (all, routed) => {
      const { query, headers, signal } = routed;
      const limits = { maxRecords, lastEventId: lastEventId({ headers, query }) };
      const { search, follow } = parseClusterEventsRequest(query, clock(), limits);
      if (search) return linesResponse(toLines(all.events(search, { ...callOptions(routed), budgetMs })));
      const open = (leaving: AbortSignal) => all.followEvents(follow, { signal: leaving, positions: true });
      const stream = await openFollowStream(open, { encoder, heartbeatMs, signal, stopping });
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream };
    }),
    clusterConfigHistory: route(async (all, routed) =>
      jsonResponse(await all.configHistory(parseClusterHistoryRequest(routed.query, clock()), callOptions(routed))),
    ),
    clusterIncident: route((all, routed) =>
      incidentResponse(all, parseClusterIncidentRequest(routed.query, clock()), routed, options),
    ),
  };
}
