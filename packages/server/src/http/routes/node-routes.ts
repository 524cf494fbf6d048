import type { NodeState, Readiness } from '@porthole/contract';
import type { Health } from '../../health.ts';
import type { NodeMetrics } from '../../metrics/metrics.ts';
import {
  callOptions,
  jsonResponse,
  RepeatedJson,
  type RouteHandler,
  textResponse,
} from '../response/route-response.ts';

type StateRouteId = 'config' | 'settings' | 'node';

/** Identity and configuration of a node. */
export function createStateRoutes(node: NodeState, toOptions = callOptions): Record<StateRouteId, RouteHandler> {
  const configs = new RepeatedJson();
  return {
    config: async (request) => configs.response(await node.config(toOptions(request))),
    settings: async (request) => jsonResponse(await node.settings(toOptions(request))),
    node: async (request) => jsonResponse(await node.describe(toOptions(request))),
  };
}

type HealthRouteId = 'live' | 'ready' | 'metrics';

interface HealthRouteDeps {
  health: Health;
  metrics: NodeMetrics;
}

export function createHealthRoutes({ health, metrics }: HealthRouteDeps): Record<HealthRouteId, RouteHandler> {
  return {
    live: () => jsonResponse({ status: 'ok' }),
    ready: async ({ trusted }) => {
      const found = await health.check();
      const readiness = trusted ? found : withoutDetails(found);
      return jsonResponse(readiness, readiness.status === 'stopping' ? 503 : 200);
    },
    metrics: async () => textResponse(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8'),
  };
}

/** Details contain paths and settings: unauthenticated clients see only whether the checks passed. */
function withoutDetails({ status, checks }: Readiness): Readiness {
  return { status, checks: checks.map(({ name, ok }) => ({ name, ok, detail: 'shown only with valid credentials' })) };
}
