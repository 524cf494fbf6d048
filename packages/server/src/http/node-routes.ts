import type { NodeState } from '@porthole/contract';
import type { Health } from '../health.ts';
import { jsonAnswer, type RouteHandler, textAnswer } from './answer.ts';
import type { NodeMetrics } from './metrics.ts';

type NodeRouteId = 'config' | 'settings' | 'node' | 'live' | 'ready' | 'metrics';

export interface NodeRouteParts {
  node: NodeState;
  health: Health;
  metrics: NodeMetrics;
}

export function createNodeRoutes({ node, health, metrics }: NodeRouteParts): Record<NodeRouteId, RouteHandler> {
  return {
    config: async ({ signal }) => jsonAnswer(await node.config({ signal })),
    settings: async ({ signal }) => jsonAnswer(await node.settings({ signal })),
    node: async ({ signal }) => jsonAnswer(await node.describe({ signal })),
    live: () => jsonAnswer({ status: 'ok' }),
    ready: async () => {
      const readiness = await health.check();
      return jsonAnswer(readiness, readiness.status === 'stopping' ? 503 : 200);
    },
    metrics: async () => textAnswer(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8'),
  };
}
