import { getRoute, type RouteId, type RouteRole } from '@porthole/contract';
import type { MethodName } from './calls/calls.ts';
import { SERVICE_NAME } from './service-definition.ts';

/** The corresponding HTTP route of each method: it has the same role, limits and parameters. */
export const METHOD_ROUTES: Readonly<Record<MethodName, RouteId>> = {
  Describe: 'node',
  GetConfig: 'config',
  GetSettings: 'settings',
  ListLogs: 'logList',
  DescribeLogs: 'logFiles',
  StatLog: 'logRaw',
  ViewLog: 'logView',
  ReadLog: 'logRaw',
  SearchLogs: 'logSearch',
  FollowLogs: 'logFollow',
  CountLogs: 'logHistogram',
  DigestLogs: 'logDigest',
};

const HEALTH_PREFIX = '/grpc.health.v1.Health/';

export function isHealthCall(path: string): boolean {
  return path.startsWith(HEALTH_PREFIX);
}

/** The route of a call; `undefined` for health and reflection. */
export function findCallRoute(path: string): RouteId | undefined {
  const prefix = `/${SERVICE_NAME}/`;
  const method = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return Object.hasOwn(METHOD_ROUTES, method) ? METHOD_ROUTES[method as MethodName] : undefined;
}

/** Whether the path is that of an existing method: anything else is made up by a client. */
export function isKnownCall(path: string): boolean {
  return findCallRoute(path) !== undefined || /^\/grpc\.health\.v1\.Health\/(?:Check|Watch)$/.test(path);
}

/** The role a call requires. Reflection is for all authenticated clients. */
export function requiredRole(path: string): RouteRole {
  if (isHealthCall(path)) return 'none';
  const route = findCallRoute(path);
  return route === undefined ? 'any' : getRoute(route).role;
}
