import { MEMBER_ID_ROW } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS, type Route } from './route.ts';
import { getRoute, type RouteId } from './routes.ts';

/** Routes of one node that any other node forwards to it: those of the contract, and the bytes of files. */
export const MEMBER_ROUTE_IDS = [
  'config',
  'logList',
  'logView',
  'logRaw',
  'logSearch',
] as const satisfies readonly RouteId[];

/** Routes by which members ask each other for what was recorded of a member: all that a node has. */
export const RECORDING_ROUTE_IDS = [
  ...MEMBER_ROUTE_IDS,
  'settings',
  'logFiles',
  'logFollow',
  'logHistogram',
  'logDigest',
  'logFields',
  'logTop',
  'node',
  'events',
  'configHistory',
  'configVersion',
] as const satisfies readonly RouteId[];

export type MemberRouteId = (typeof MEMBER_ROUTE_IDS)[number];
export type RecordingRouteId = (typeof RECORDING_ROUTE_IDS)[number];

const NODE_ROUTES_PREFIX = '/api/v1';

/** The part of a member's route after the id. */
export function getMemberPath(id: RecordingRouteId): string {
  return getRoute(id).path.slice(NODE_ROUTES_PREFIX.length);
}

/** The route of a node as any other node offers it for that one. */
export function getMemberRoute(id: RecordingRouteId): Route {
  const { summary, description, parameters, errors, ...rest } = getRoute(id);
  return {
    ...rest,
    path: `${PATHS.nodes}/{${MEMBER_ID_ROW.name}}${getMemberPath(id)}`,
    summary: `${summary} of a member`,
    description: `Of one member, through this node. ${description}`,
    parameters: [...documentParameters([MEMBER_ID_ROW]), ...parameters],
    errors: [
      ...errors,
      'MEMBER_NOT_FOUND',
      'MEMBER_REFUSED',
      'REQUEST_LOOP',
      'NOT_SUPPORTED',
      'UNREACHABLE',
      'BAD_ANSWER',
    ],
  };
}

/** `memberLogSearch` of `logSearch`: its name in the OpenAPI document and the metrics. */
export function getMemberOperation(id: RecordingRouteId): string {
  return `member${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}
