import {
  asksCluster,
  type CallOptions,
  type ClusterState,
  type ConfigVersion,
  codeOf,
  type Incident,
  type IncidentFormat,
  incidentHtml,
  incidentMarkdown,
  MEMBER_HEARTBEAT_MS,
  mayUse,
  type NodeState,
  parseBudget,
  parseEventsRequest,
  parseHistoryRequest,
  parseIncidentRequest,
  parseVersionNode,
  withoutSelection,
} from '@porthole/contract';
import { toLines } from '@porthole/records';
import { lastEventId } from '../response/follow-stream.ts';
import {
  callOptions,
  jsonResponse,
  linesResponse,
  type RouteHandler,
  type RouteRequest,
  type RouteResponse,
} from '../response/route-response.ts';
import { wrapMemberError } from './member-error.ts';
import { BY_CURSOR, BY_TIME, followResponse, ownRecords, type RecordRouteOptions, wantsOwn } from './record-routes.ts';
import type { Scope } from './scope.ts';

type EventRouteId = 'events' | 'configHistory' | 'configVersion';

/** What happened to nodes. */
export function createEventRoutes(
  node: NodeState,
  scope: Scope,
  options: RecordRouteOptions,
): Record<EventRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs: budgetMs } = options;
  return {
    events: async (routed) => {
      const { query, headers } = routed;
      const limits = { maxRecords, lastEventId: lastEventId({ headers, query }) };
      const { search, follow } = parseEventsRequest(query, clock(), limits);
      const call = callOptions(routed);
      if (search) {
        if (wantsOwn(headers) && !asksCluster(search))
          return ownRecords(node.events(withoutSelection(search), { ...call, budgetMs }));
        const { state, asked } = await scope.records(routed, search);
        return linesResponse(toLines(state.events(asked, { ...call, budgetMs })));
      }
      const how = { ...call, heartbeatMs: MEMBER_HEARTBEAT_MS, positions: true };
      if (wantsOwn(headers) && !asksCluster(follow)) {
        const own = withoutSelection(follow);
        return followResponse((signal) => node.followEvents(own, { ...how, signal }), BY_CURSOR, routed, options);
      }
      const { state, asked } = await scope.records(routed, follow);
      const open = (signal: AbortSignal) => state.followEvents(asked, { ...how, signal });
      return followResponse(open, asksCluster(follow) ? BY_TIME : BY_CURSOR, routed, options);
    },
    configHistory: async (routed) => {
      const { state, asked } = await scope.records(routed, parseHistoryRequest(routed.query, clock()));
      return jsonResponse(await state.configHistory(asked, callOptions(routed)));
    },
    configVersion: async (routed) => {
      const id = parseVersionNode(routed.query);
      const call = callOptions(routed);
      if (id === undefined) return jsonResponse(await node.configVersion(routed.rest, call));
      const cluster = scope.members(routed);
      await cluster.opened?.();
      return jsonResponse(await memberVersion(cluster, { id, version: routed.rest }, call));
    },
  };
}

/** A configuration of one member; as it was recorded, if the member itself does not return it. */
async function memberVersion(
  cluster: ClusterState,
  { id, version }: { id: string; version: string },
  call: CallOptions,
): Promise<ConfigVersion> {
  try {
    return await cluster.member(id).configVersion(version, call);
  } catch (error) {
    if (codeOf(error) === 'MEMBER_NOT_FOUND') throw error;
    const failure = wrapMemberError(id, error);
    const recorded = cluster.recordedMember?.(id);
    if (!recorded) throw failure;
    return recorded.configVersion(version, call).catch(() => {
      // What is wrong with the member itself is what its client can mend.
      call.signal?.throwIfAborted();
      throw failure;
    });
  }
}

/** What happened, in one report. */
export function createIncidentRoute(scope: Scope, options: RecordRouteOptions): Record<'incident', RouteHandler> {
  return {
    incident: async (routed) => {
      const { request, format } = parseIncidentRequest(routed.query, options.clock());
      const { state, asked } = await scope.cluster(routed, request);
      return incidentResponse(state, { request: asked, format }, routed, options);
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
