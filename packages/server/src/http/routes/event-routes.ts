import {
  HEARTBEAT_HEADER,
  MEMBER_HEARTBEAT_MS,
  type NodeState,
  parseClusterEventsRequest,
  parseClusterHistoryRequest,
  parseEventsRequest,
  parseHistoryRequest,
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
} from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';

type EventRouteId = 'events' | 'configHistory' | 'configVersion';
type ClusterEventRouteId = 'clusterEvents' | 'clusterConfigHistory';

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
  };
}
