import type { ErrorCode } from '../errors/errors.ts';
import { VIEW_NAME_ROW } from '../params/cluster-parameters.ts';
import { CONFIG_ROWS, MEMBER_ROWS } from '../params/log-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { CLUSTER_ROUTES } from './cluster-routes.ts';
import { EVENT_ROUTES } from './event-routes.ts';
import { DOWNLOAD_ROUTES, LOG_ROUTES, RECORD_ROUTES } from './log-routes.ts';
import { HTML_TYPE, JSON_TYPE, PATHS, POST_PATHS, type Route } from './route.ts';

/** Every route, in the order in which they are documented. */
export const ROUTES = {
  config: {
    path: PATHS.config,
    role: 'config',
    summary: 'Get configuration',
    description:
      'The running configuration of the node as TOML, or that of the service beside it, whatever the format of its files. Secrets are masked.',
    parameters: documentParameters(CONFIG_ROWS),
    response: { contentType: JSON_TYPE, schema: 'NodeConfig' },
    errors: ['CONFIG_UNAVAILABLE'],
  },
  settings: {
    path: PATHS.settings,
    role: 'config',
    summary: 'Get settings',
    description:
      'The configuration of each node, or the last known one: as text, and each key with value, default and source, and the keys in which the file on disk differs. Secrets are masked.',
    parameters: documentParameters(MEMBER_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterConfig' },
    errors: ['PARAMETER_INVALID', 'CONFIG_UNAVAILABLE', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP'],
  },
  ...LOG_ROUTES,
  ...RECORD_ROUTES,
  node: {
    path: PATHS.node,
    role: 'viewer',
    summary: 'Describe node',
    description: 'Identity, clock, time zone, uptime, versions and capabilities.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'NodeDescription' },
    errors: [],
  },
  session: {
    path: PATHS.session,
    role: 'any',
    summary: 'Describe session',
    description: 'Who sent the request, as this node knows them, and their roles.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'ClientSession' },
    errors: [],
  },
  views: {
    path: PATHS.views,
    role: 'viewer',
    summary: 'List saved views',
    description: 'The log views that were saved on this node, or on any member of a cluster in etcd.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'SavedViews' },
    errors: ['VIEWS_UNAVAILABLE'],
  },
  viewSave: {
    path: PATHS.view,
    method: 'PUT',
    role: 'config',
    summary: 'Save a view',
    description: 'Adds a view, or replaces the one of this name. Returns all of them.',
    parameters: documentParameters([VIEW_NAME_ROW]),
    body: { query: 'The query of the address of the log view, without the question mark: at most 4,096 characters.' },
    response: { contentType: JSON_TYPE, schema: 'SavedViews' },
    errors: ['PARAMETER_INVALID', 'VIEWS_UNAVAILABLE', 'BODY_TOO_LARGE', 'CONTENT_TYPE_UNSUPPORTED'],
  },
  viewDelete: {
    path: PATHS.view,
    method: 'DELETE',
    role: 'config',
    summary: 'Delete a view',
    description: 'Deletes the view of this name, if there is one. Returns those that are left.',
    parameters: documentParameters([VIEW_NAME_ROW]),
    response: { contentType: JSON_TYPE, schema: 'SavedViews' },
    errors: ['PARAMETER_INVALID', 'VIEWS_UNAVAILABLE'],
  },
  ...EVENT_ROUTES,
  ...CLUSTER_ROUTES,
  ...DOWNLOAD_ROUTES,
  live: {
    path: PATHS.live,
    role: 'none',
    summary: 'Liveness',
    description: 'Responds while the process runs.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'Alive' },
    errors: [],
  },
  ready: {
    path: PATHS.ready,
    role: 'none',
    summary: 'Readiness',
    description: 'Whether the node can do its work, with one check per thing it depends on.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'Readiness' },
    otherResponses: { 503: 'The node is stopping.' },
    errors: [],
  },
  metrics: {
    path: PATHS.metrics,
    role: 'any',
    summary: 'Metrics',
    description: 'Counters and gauges in the Prometheus text format.',
    parameters: [],
    response: { contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    errors: [],
  },
  mcp: {
    path: PATHS.mcp,
    role: 'any',
    method: 'POST',
    summary: 'Assistants',
    description:
      'The Model Context Protocol over HTTP: tools that only read. Each needs the role of what it reads. Off unless `mcp.enabled` is set.',
    parameters: [],
    response: { contentType: JSON_TYPE },
    errors: ['ROUTE_NOT_FOUND', 'CONTENT_TYPE_UNSUPPORTED', 'BODY_TOO_LARGE'],
    page: true,
  },
  lokiTail: {
    path: PATHS.lokiTail,
    role: 'viewer',
    summary: 'Follow as Loki does',
    description: 'A WebSocket with new records, as Loki sends them. Off unless `loki.enabled` is set.',
    parameters: [],
    response: { contentType: JSON_TYPE },
    errors: ['ROUTE_NOT_FOUND', 'PARAMETER_INVALID', 'QUERY_INVALID', 'TOO_MANY_STREAMS'],
    stream: true,
    page: true,
  },
  loki: {
    path: PATHS.loki,
    role: 'viewer',
    summary: 'Query as Loki does',
    description: 'The part of the HTTP API of Loki that reads, for Grafana. Off unless `loki.enabled` is set.',
    parameters: [],
    response: { contentType: JSON_TYPE },
    errors: ['ROUTE_NOT_FOUND', 'PARAMETER_INVALID', 'QUERY_INVALID', 'TOO_MANY_STREAMS', 'TOO_MANY_SEARCHES'],
    post: 'form',
    stream: true,
    page: true,
  },
  openapi: {
    path: PATHS.openapi,
    role: 'any',
    summary: 'OpenAPI document',
    description: 'This interface as OpenAPI 3.1.',
    parameters: [],
    response: { contentType: JSON_TYPE },
    errors: [],
  },
  docs: {
    path: PATHS.docs,
    role: 'any',
    summary: 'Documentation page',
    description: 'The OpenAPI document and the list of errors as a page to read.',
    parameters: [],
    response: { contentType: HTML_TYPE },
    errors: [],
    page: true,
  },
  console: {
    path: PATHS.console,
    role: 'none',
    aliases: ['/logs', '/incidents', '/config', '/nodes', '/nodes/{id}'],
    summary: 'Console',
    description: 'The web page. It loads its data through this interface, with the token of its user.',
    parameters: [],
    response: { contentType: HTML_TYPE },
    errors: ['ROUTE_NOT_FOUND', 'PRECONDITION_FAILED'],
    page: true,
  },
  asset: {
    path: PATHS.asset,
    role: 'none',
    summary: 'Part of the console',
    description: 'A script, a style sheet or a font of the console.',
    parameters: [],
    response: { contentType: 'text/javascript; charset=utf-8' },
    errors: ['ROUTE_NOT_FOUND', 'PRECONDITION_FAILED'],
    page: true,
  },
  style: {
    path: PATHS.style,
    role: 'none',
    summary: 'Style sheet',
    description: 'The style sheet of the pages.',
    parameters: [],
    response: { contentType: 'text/css; charset=utf-8' },
    errors: [],
    page: true,
  },
  icon: {
    path: PATHS.icon,
    role: 'none',
    summary: 'Icon',
    description: 'The icon of the pages.',
    parameters: [],
    response: { contentType: 'image/svg+xml' },
    errors: [],
    page: true,
  },
} as const satisfies Record<string, Route>;

export type RouteId = keyof typeof ROUTES;

export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

/** The definition of a route, with its optional fields in the type. */
export function getRoute(id: RouteId): Route {
  const route: Route = ROUTES[id];
  return POST_PATHS.has(route.path) ? { ...route, post: 'json' } : route;
}

/** Errors of every route: they are found before the route is known. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'URL_TOO_LONG',
  'RATE_LIMITED',
  'HEADERS_TOO_LARGE',
  'AUTH_UNAVAILABLE',
  'SHUTTING_DOWN',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
];
