import { getRoute, type RouteId, type RouteRole } from '@porthole/contract';
import type { MethodName } from './calls/calls.ts';
import { SERVICE_NAME } from './service-name.ts';

/** The route that answers the same over HTTP: what it needs and what it takes, the method does too. */
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

/** Of a call's path; `undefined` for what has no route: health and reflection. */
export function findCallRoute(path: string): RouteId | undefined {
  const prefix = `/${SERVICE_NAME}/`;
  const method = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return Object.hasOwn(METHOD_ROUTES, method) ? METHOD_ROUTES[method as MethodName] : undefined;
}

/** Whether the path is that of a method there is: anything else is what a client made up. */
export function isKnownCall(path: string): boolean {
  return findCallRoute(path) !== undefined || /^\/grpc\.health\.v1\.Health\/(?:Check|Watch)$/.test(path);
}

/** What a call asks for. The interface itself, which reflection tells, is for everyone who is known. */
export function requiredRole(path: string): RouteRole {
  if (isHealthCall(path)) return 'none';
  const route = findCallRoute(path);
  return route === undefined ? 'any' : getRoute(route).role;
}
