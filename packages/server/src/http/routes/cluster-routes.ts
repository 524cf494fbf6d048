import {
  type ClusterCounts,
  type ClusterState,
  type CountId,
  decodeMemberId,
  PortholeError,
  parseAroundRequest,
  parseBudget,
  parseClusterCount,
  parseClusterFollowRequest,
  parseClusterSearchRequest,
  parseConfigDiffRequest,
  parseMemberSelection,
} from '@porthole/contract';
import { toBatches, toLines } from '@porthole/records';
import {
  EVENT_STREAM_HEADERS,
  EventEncoder,
  lastEventId,
  openFollowStream,
  timeId,
} from '../response/follow-stream.ts';
import { VIA_HEADER } from '../response/http-exchange.ts';
import {
  type ClusterRouteFactory,
  callOptions,
  jsonResponse,
  linesResponse,
  type RouteHandler,
  type RouteRequest,
} from '../response/route-response.ts';
import { createClusterEventRoutes } from './event-routes.ts';
import type { RecordRouteOptions } from './record-routes.ts';

type ClusterRouteId =
  | 'clusterNodes'
  | 'clusterForget'
  | 'clusterRecording'
  | 'clusterConfig'
  | 'clusterConfigDiff'
  | 'clusterLogFiles'
  | 'clusterLogSearch'
  | 'clusterLogFollow'
  | 'clusterLogHistogram'
  | 'clusterLogDigest'
  | 'clusterLogFields'
  | 'clusterLogTop'
  | 'clusterLogMoment'
  | 'clusterEvents'
  | 'clusterConfigHistory'
  | 'clusterIncident';

/** What this node answers for all members. Without a cluster every answer is that it cannot. */
export function createClusterRoutes(
  cluster: ClusterState | undefined,
  options: RecordRouteOptions,
): Record<ClusterRouteId, RouteHandler> {
  const { clock, maxRecords, searchBudgetMs, countBudgetMs, heartbeatMs, stopping } = options;
  const clusterFor = requireCluster(cluster);
  const encoder = new EventEncoder(timeId);
  const route: ClusterRouteFactory = (handler) => (request) => handler(clusterFor(request), request);
  const countRoute = <Id extends CountId>(id: Id) =>
    route(async (all: ClusterCounts, routed) => {
      const { query } = routed;
      const budgetMs = parseBudget(query, { mostMs: countBudgetMs });
      return jsonResponse(await all[id](parseClusterCount(id, query, clock()), { ...callOptions(routed), budgetMs }));
    });
  return {
    ...createClusterEventRoutes(route, options),
    clusterNodes: route(async (all, { signal }) => jsonResponse(await all.nodes({ signal }))),
    // A member passes the order on: it is carried out here, and goes no further.
    clusterForget: async ({ headers, rest, signal }) => {
      if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
      const onlyHere = headers[VIA_HEADER] !== undefined;
      return jsonResponse(await cluster.forget(decodeMemberId(rest), { signal, onlyHere }));
    },
    // Members request it of each other. It is about this node only, so there can be no loop.
    clusterRecording: async ({ rest, signal }) => {
      if (!cluster?.recordingHead) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
      return jsonResponse(await cluster.recordingHead(decodeMemberId(rest), { signal }));
    },
    clusterConfig: route(async (all, { query, signal }) =>
      jsonResponse(await all.config(parseMemberSelection(query), { signal })),
    ),
    clusterConfigDiff: route(async (all, { query, signal }) =>
      jsonResponse(await all.configDiff(parseConfigDiffRequest(query), { signal })),
    ),
    clusterLogFiles: route(async (all, { query, signal }) =>
      jsonResponse(await all.logFiles(parseMemberSelection(query), { signal })),
    ),
    clusterLogSearch: route(async (all, routed) => {
      const { query } = routed;
      const request = parseClusterSearchRequest(query, clock(), { maxRecords });
      const budgetMs = parseBudget(query, { mostMs: searchBudgetMs });
      const limits = { ...callOptions(routed), budgetMs, reusesMemory: true };
      return linesResponse(toLines(all.search(request, limits)));
    }),
    clusterLogFollow: route(async (all, { query, headers, signal }) => {
      const request = parseClusterFollowRequest(query, clock(), lastEventId({ headers, query }));
      const follow = (leaving: AbortSignal) => all.followLogs(request, { signal: leaving, positions: true });
      const stream = await openFollowStream(follow, { encoder, heartbeatMs, signal, stopping });
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream };
    }),
    clusterLogHistogram: countRoute('logHistogram'),
    clusterLogDigest: countRoute('logDigest'),
    clusterLogFields: countRoute('logFields'),
    clusterLogTop: countRoute('logTop'),
    clusterLogMoment: route(async (all, routed) => {
      const request = parseAroundRequest(routed.query, clock(), { maxRecords });
      return linesResponse(toLines(toBatches(all.around(request, callOptions(routed)))));
    }),
  };
}

/** Returns the cluster, but not for requests of members: a member that fans out for another one would cause a loop. */
export function requireCluster(cluster: ClusterState | undefined): (request: RouteRequest) => ClusterState {
  return ({ headers }) => {
    if (headers[VIA_HEADER] !== undefined)
      throw new PortholeError(
        'REQUEST_LOOP',
        'the "Porthole-Via" header marks a request of a member, and members may only use node routes',
      );
    if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node has no cluster routes');
    return cluster;
  };
}
