import {
  getMemberOperation,
  getMemberPath,
  getMemberRoute,
  getRoute,
  MEMBER_ROUTE_IDS,
  PATHS,
  PortholeError,
  RECORDING_ROUTE_IDS,
  type RecordingRouteId,
  ROUTE_IDS,
  type RouteId,
} from '@porthole/contract';

/**
 * The route of a path: one of this node or of a member, whose id is given as written in the path; `isRecorded`: by what was
 * recorded of it. `rest` is the variable end of the path; of the console, which has one page for all its paths, all of it.
 */
export type RouteTarget =
  | { route: RouteId; member: undefined; rest: string }
  | { route: RecordingRouteId; member: string; rest: string; isRecorded: boolean };

const ROUTE_PATHS = ROUTE_IDS.flatMap((route) => {
  const { path, aliases = [] } = getRoute(route);
  return [path, ...aliases].map((each) => ({ route, path: each, openAt: each.indexOf('{') }));
});

const OWN_ROUTES = new Map<string, RouteTarget>(
  ROUTE_PATHS.filter(({ openAt }) => openAt < 0).map(({ route, path }) => [
    path,
    { route, member: undefined, rest: route === 'console' ? path.slice(1) : '' },
  ]),
);

/** Routes with a variable end, by their prefix. */
const OPEN_ROUTES = ROUTE_PATHS.filter(({ openAt }) => openAt >= 0).map(({ route, path, openAt }) => ({
  route,
  begin: path.slice(0, openAt),
}));

/** By the path after the id, up to its variable end. */
const byPath = (route: RecordingRouteId) => {
  const [begin = '', ...open] = getMemberPath(route).split('{');
  return { route, begin, isOpen: open.length > 0 };
};
const MEMBER_ROUTES = MEMBER_ROUTE_IDS.map(byPath);
const RECORDING_ROUTES = RECORDING_ROUTE_IDS.map(byPath);
const MEMBERS_BEGIN = `${PATHS.nodes}/`;
const RECORDINGS_BEGIN = PATHS.recording.slice(0, -'{id}'.length);

/**
 * Paths are compared literally; exact matches take precedence over routes with a variable end. Of several routes of a path,
 * the one with this method; else the first.
 */
export function findRoute(path: string, method = 'GET'): RouteTarget | undefined {
  const own = OWN_ROUTES.get(path);
  if (own) return own;
  if (path.startsWith(MEMBERS_BEGIN)) return findMemberRoute(path, MEMBERS_BEGIN, 'nodeForget');
  if (path.startsWith(RECORDINGS_BEGIN)) return findMemberRoute(path, RECORDINGS_BEGIN, 'recording');
  return findOpenRoute(path, method);
}

/** The name of the route in metrics and logs. */
export function routeOperation(target: RouteTarget): string {
  return target.member === undefined ? target.route : getMemberOperation(target.route);
}

/** The path as in the documentation, with placeholders. */
export function routeTemplate(target: RouteTarget): string {
  if (target.member === undefined) return getRoute(target.route).path;
  return target.isRecorded ? `${PATHS.recording}${getMemberPath(target.route)}` : getMemberRoute(target.route).path;
}

function findOpenRoute(path: string, method: string): RouteTarget | undefined {
  const ofPath = OPEN_ROUTES.filter(({ begin }) => path.startsWith(begin));
  const found = ofPath.find(({ route }) => getRoute(route).method === method) ?? ofPath[0];
  if (!found) return undefined;
  const { route, begin } = found;
  return { route, member: undefined, rest: path.slice(route === 'console' ? 1 : begin.length) };
}

function findMemberRoute(path: string, start: string, whole: RouteId): RouteTarget | undefined {
  const idEnd = path.indexOf('/', start.length);
  if (path.length === start.length) return undefined;
  if (idEnd < 0) return { route: whole, member: undefined, rest: path.slice(start.length) };
  const operation = path.slice(idEnd);
  const isRecorded = start === RECORDINGS_BEGIN;
  const found = (isRecorded ? RECORDING_ROUTES : MEMBER_ROUTES).find(({ begin, isOpen }) =>
    isOpen ? operation.startsWith(begin) && operation.length > begin.length : operation === begin,
  );
  const member = path.slice(start.length, idEnd);
  return found && { route: found.route, member, rest: operation.slice(found.begin.length), isRecorded };
}

interface RequestTarget {
  /** Empty if it is outside the base path. */
  path: string;
  /** Path and query. */
  target: string;
  /** The query as written, without the question mark. */
  search: string;
  /** The authority of an absolute-form target; it counts instead of the Host header. */
  authority: string | undefined;
}

/**
 * Parses the request target, without the base path. No path is decoded or normalised: routes are compared as they are
 * written.
 */
export function parseTarget(given: string, basePath = ''): RequestTarget {
  if (given.startsWith('/')) return splitQuery(withoutBase(given, basePath), undefined);
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(given);
  if (!absolute) throw new PortholeError('BAD_REQUEST', 'the request target is not a path');
  const [, authority = '', rest = ''] = absolute;
  return splitQuery(withoutBase(rest.startsWith('/') ? rest : `/${rest}`, basePath), authority);
}

/** Without its path if that is outside the base. */
function withoutBase(target: string, basePath: string): string {
  if (basePath === '') return target;
  const rest = target.startsWith(basePath) ? target.slice(basePath.length) : undefined;
  if (rest?.startsWith('/')) return rest;
  const mark = target.indexOf('?');
  const query = mark < 0 ? '' : target.slice(mark);
  return rest === query ? `/${query}` : query;
}

function splitQuery(target: string, authority: string | undefined): RequestTarget {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, target, search: '', authority };
  return { path: target.slice(0, mark), target, search: target.slice(mark + 1), authority };
}
