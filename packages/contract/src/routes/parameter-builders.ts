import type { RouteParameter } from './route.ts';

export function text(name: string, description: string): RouteParameter {
  return { name, in: 'query', required: false, type: 'string', description };
}

export function number(
  name: string,
  range: Pick<RouteParameter, 'minimum' | 'maximum'>,
  description: string,
): RouteParameter {
  return { name, in: 'query', required: false, type: 'integer', ...range, description };
}

export function flag(name: string, description: string): RouteParameter {
  return { name, in: 'query', required: false, type: 'boolean', description };
}
