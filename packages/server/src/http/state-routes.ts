import type { NodeState } from '@porthole/contract';
import { jsonAnswer, type RouteHandler } from './answer.ts';

type StateRouteId = 'config' | 'settings' | 'node';

/** Who a node is and how it is configured. */
export function createStateRoutes(node: NodeState): Record<StateRouteId, RouteHandler> {
  return {
    config: async ({ signal }) => jsonAnswer(await node.config({ signal })),
    settings: async ({ signal }) => jsonAnswer(await node.settings({ signal })),
    node: async ({ signal }) => jsonAnswer(await node.describe({ signal })),
  };
}
