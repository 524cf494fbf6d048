import type { NodeState } from '@porthole/contract';
import { jsonResponse, type RouteHandler } from '../response/route-response.ts';

type StateRouteId = 'config' | 'settings' | 'node';

/** Identity and configuration of a node. */
export function createStateRoutes(node: NodeState): Record<StateRouteId, RouteHandler> {
  return {
    config: async ({ signal }) => jsonResponse(await node.config({ signal })),
    settings: async ({ signal }) => jsonResponse(await node.settings({ signal })),
    node: async ({ signal }) => jsonResponse(await node.describe({ signal })),
  };
}
