import {
  MEMBER_ROUTE_IDS,
  type MemberRouteId,
  memberPathOf,
  PATHS,
  ROUTE_IDS,
  type RouteId,
  routeOf,
} from '@porthole/contract';

/** What a path leads to: a route of this node, or one of a member, whose id stands here as it is written in the path. */
export type RouteTarget = { route: RouteId; member: undefined } | { route: MemberRouteId; member: string };

const OWN_ROUTES = new Map<string, RouteTarget>(
  ROUTE_IDS.map((route) => [routeOf(route).path, { route, member: undefined }]),
);

/** By what stands behind the id. */
const MEMBER_ROUTES = new Map(MEMBER_ROUTE_IDS.map((id) => [memberPathOf(id), id]));
const MEMBERS_BEGIN = `${PATHS.clusterNodes}/`;

/** Paths are compared as they are written; only those of members have a part that is not fixed. */
export function findRoute(path: string): RouteTarget | undefined {
  return OWN_ROUTES.get(path) ?? (path.startsWith(MEMBERS_BEGIN) ? findMemberRoute(path) : undefined);
}

function findMemberRoute(path: string): RouteTarget | undefined {
  const idEnd = path.indexOf('/', MEMBERS_BEGIN.length);
  const route = idEnd < 0 ? undefined : MEMBER_ROUTES.get(path.slice(idEnd));
  return route && { route, member: path.slice(MEMBERS_BEGIN.length, idEnd) };
}
