import { MEMBER_ID_ROW } from '../params/cluster-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS, type Route } from './route.ts';
import { getRoute, type RouteId } from './routes.ts';

/** Routes of a node that any other node forwards to a member. */
export const MEMBER_ROUTE_IDS = [
  'config',
  'settings',
  'logList',
  'logView',
  'logFiles',
  'logRaw',
  'logSearch',
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

const NODE_ROUTES_PREFIX = '/api/v1';

/** The part of a member's route after the id. */
export function getMemberPath(id: MemberRouteId): string {
  return getRoute(id).path.slice(NODE_ROUTES_PREFIX.length);
}

/** The route of a node as any other node offers it for that one. */
export function getMemberRoute(id: MemberRouteId): Route {
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
export function getMemberOperation(id: MemberRouteId): string {
  return `member${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}
