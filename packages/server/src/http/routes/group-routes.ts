import { type ClusterState, getRoute, mayUse, PortholeError } from '@porthole/contract';
import { openStream } from '../response/open-stream.ts';
import type { RouteHandler } from '../response/route-response.ts';
import type { RecordRouteOptions } from './record-routes.ts';
import { VIA_HEADER } from './require-cluster.ts';

/** Sent with requests between nodes: how far a question has come. */
const DEPTH_HEADER = 'porthole-depth';

/** The depth at which a node asks other members for the one that asks it. Those members ask nobody. */
const HELPER_DEPTH = '1';

/**
 * Asks a group of members for another node. The bound on the depth is here: only the request of a node that was asked by a
 * client may be passed on, and only to routes that answer for one node.
 */
export function createGroupRoutes(
  cluster: ClusterState | undefined,
  { clock, maxRecords, searchBudgetMs }: Pick<RecordRouteOptions, 'clock' | 'maxRecords' | 'searchBudgetMs'>,
): { clusterGroup: RouteHandler } {
  return {
    clusterGroup: async ({ headers, body = '', identity, signal }) => {
      if (headers[VIA_HEADER] === undefined || headers[DEPTH_HEADER] !== HELPER_DEPTH)
        throw new PortholeError(
          'REQUEST_LOOP',
          `this route is for members with "Porthole-Depth: ${HELPER_DEPTH}": the members that a helper asks ask nobody`,
        );
      if (!cluster?.askGroup) throw new PortholeError('NOT_SUPPORTED', 'this node does not ask other members');
      const frames = cluster.askGroup({
        body,
        clock: clock(),
        maxRecords,
        searchBudgetMs,
        signal,
        authorize(route) {
          const { role } = getRoute(route);
          if (!mayUse(identity?.roles ?? [], role))
            throw new PortholeError('FORBIDDEN', `this needs the role "${role}"`);
        },
      });
      const stream = await openStream(frames);
      return { status: 200, headers: { 'content-type': 'application/octet-stream' }, stream };
    },
  };
}
