import type { Health, Readiness } from '../health.ts';
import type { NodeMetrics } from '../metrics/metrics.ts';
import { jsonAnswer, type RouteHandler, textAnswer } from './answer.ts';

type HealthRouteId = 'live' | 'ready' | 'metrics';

export interface HealthRouteParts {
  health: Health;
  metrics: NodeMetrics;
}

export function createHealthRoutes({ health, metrics }: HealthRouteParts): Record<HealthRouteId, RouteHandler> {
  return {
    live: () => jsonAnswer({ status: 'ok' }),
    ready: async ({ trusted }) => {
      const found = await health.check();
      const readiness = trusted ? found : withoutDetails(found);
      return jsonAnswer(readiness, readiness.status === 'stopping' ? 503 : 200);
    },
    metrics: async () => textAnswer(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8'),
  };
}

/** Details name paths and settings: who is not known learns only how the checks went. */
function withoutDetails({ status, checks }: Readiness): Readiness {
  return { status, checks: checks.map(({ name, ok }) => ({ name, ok, detail: 'told to those with credentials' })) };
}
