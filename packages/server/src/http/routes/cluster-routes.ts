import {
  type ClusterState,
  decodeMemberId,
  PortholeError,
  parseAroundRequest,
  parseConfigDiffRequest,
} from '@porthole/contract';
import { toBatches, toLines } from '@porthole/records';
import { VIA_HEADER } from '../response/http-exchange.ts';
import { callOptions, jsonResponse, linesResponse, type RouteHandler } from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import { type Scope, withoutAll } from './scope.ts';

type ClusterRouteId = 'nodes' | 'nodeForget' | 'recording' | 'configDiff' | 'logAround';

/** What only a cluster answers. */
export function createClusterRoutes(
  cluster: ClusterState | undefined,
  scope: Scope,
  { clock, maxRecords }: RecordRouteOptions,
): Record<ClusterRouteId, RouteHandler> {
  return {
    nodes: async (routed) => jsonResponse(await scope.members(routed).nodes({ signal: routed.signal })),
    // A member passes the order on: it is carried out here, and goes no further.
    nodeForget: async ({ headers, rest, signal }) => {
      const onlyHere = headers[VIA_HEADER] !== undefined;
      return jsonResponse(await requireCluster(cluster).forget(decodeMemberId(rest), { signal, onlyHere }));
    },
    // Members request it of each other. It is about this node only, so there can be no loop.
    recording: async ({ rest, signal }) => {
      const all = requireCluster(cluster);
      if (!all.recordingHead) throw new PortholeError('NOT_SUPPORTED', 'this node records nothing');
      return jsonResponse(await all.recordingHead(decodeMemberId(rest), { signal }));
    },
    // A comparison is of all, unless some are selected.
    configDiff: async (routed) => {
      const all = scope.members(routed);
      const request = withoutAll(parseConfigDiffRequest(routed.query));
      return jsonResponse(await all.configDiff(request, { signal: routed.signal }));
    },
    logAround: async (routed) => {
      const { state, asked } = await scope.cluster(routed, parseAroundRequest(routed.query, clock(), { maxRecords }));
      return linesResponse(toLines(toBatches(state.around(asked, callOptions(routed)))));
    },
  };
}

function requireCluster(cluster: ClusterState | undefined): ClusterState {
  if (!cluster) throw new PortholeError('NOT_SUPPORTED', 'this node cannot ask others');
  return cluster;
}
