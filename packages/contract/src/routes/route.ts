import type { ErrorCode } from '../errors/errors.ts';
import type { Parameter } from '../params/parameter.ts';
import type { SchemaName } from '../schemas/generated/schemas.ts';

/** What an identity may do. `viewer`: read logs and the list of nodes. `config`: read configurations, save views. `admin`: everything. */
export const ROLES = ['viewer', 'config', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** What a route requires: a role, any identity (`any`), or nothing (`none`). */
export type RouteRole = Role | 'any' | 'none';

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Whether an identity with these roles may use a route that requires this one. */
export function mayUse(roles: readonly Role[], wanted: RouteRole): boolean {
  return wanted === 'none' || wanted === 'any' || roles.includes(wanted) || roles.includes('admin');
}

/** A route, for the router, the OpenAPI document and the docs. */
export interface Route {
  /** A part in braces at its end matches the rest of the path. */
  path: string;
  /** Further paths with the same response. */
  aliases?: readonly string[];
  summary: string;
  description: string;
  parameters: readonly Parameter[];
  /**
   * `schema`: a type of `response-types.ts`, from which the schema is made. `each`: the response is a stream of these, each
   * with this schema; without it the schema is of the whole.
   */
  response: { contentType: string; schema?: SchemaName; each?: 'line' | 'event' };
  /** Further statuses of success, besides 200. */
  otherResponses?: Readonly<Record<number, string>>;
  /** Its own errors, besides those of every route. */
  errors: readonly ErrorCode[];
  /** Who may use it, if authentication is enabled. Not optional: no route is added without deciding it. */
  role: RouteRole;
  /** The method, if it is not GET (or HEAD). */
  method?: 'DELETE' | 'POST' | 'PUT';
  /** The fields of the JSON object that is its body, with their meaning; all are texts. */
  body?: Readonly<Record<string, string>>;
  /** Also accepts POST with the parameters as those of a form, or as a JSON object: routes of `POST_PATHS`. */
  post?: 'form' | 'json';
  /** Counts against the limit of concurrent streams. */
  stream?: true;
  /** Part of a page, not of the interface: not in the OpenAPI document. */
  page?: true;
}

/** What differs between the routes that count records. */
export type CountRoute = Pick<Route, 'path' | 'summary' | 'description' | 'parameters'> & { schema: SchemaName };

/** A route that scans records and sends one JSON document. */
export function toCountRoute({ schema, ...route }: CountRoute, errors: readonly ErrorCode[]): Route {
  return { ...route, role: 'viewer', response: { contentType: JSON_TYPE, schema }, errors, stream: true };
}

export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** The path of each route; apart from the route table, so that clients need not load it. */
export const PATHS = {
  config: '/api/v1/config',
  settings: '/api/v1/config/settings',
  configHistory: '/api/v1/config/history',
  configVersion: '/api/v1/config/history/{version}',
  events: '/api/v1/events',
  incident: '/api/v1/incident',
  node: '/api/v1/node',
  session: '/api/v1/session',
  views: '/api/v1/views',
  view: '/api/v1/views/{name}',
  live: '/health/live',
  ready: '/health/ready',
  metrics: '/metrics',
  openapi: '/openapi.json',
  docs: '/docs',
  mcp: '/mcp',
  lokiTail: '/loki/api/v1/tail',
  loki: '/loki/api/v1/{operation}',
  console: '/',
  style: '/assets/porthole.css',
  icon: '/assets/porthole.svg',
  asset: '/assets/{name}',
  logList: '/api/v1/log/list',
  logView: '/api/v1/log/view',
  logFiles: '/api/v1/log/files',
  logRaw: '/api/v1/log/raw',
  logSearch: '/api/v1/log/search',
  logFollow: '/api/v1/log/follow',
  logHistogram: '/api/v1/log/histogram',
  logDigest: '/api/v1/log/digest',
  logFields: '/api/v1/log/fields',
  logTop: '/api/v1/log/top',
  logExplain: '/api/v1/log/explain',
  logAround: '/api/v1/log/around',
  logDownload: '/api/v1/log/download',
  configDiff: '/api/v1/config/diff',
  nodes: '/api/v1/nodes',
  nodeForget: '/api/v1/nodes/{id}',
  recording: '/api/v1/member/recordings/{id}',
  downloadTicket: '/api/v1/download/ticket',
  bundle: '/api/v1/bundle',
} as const;

/**
 * Routes that also accept POST with the parameters as a JSON object: positions, cursors and lists of members may be too long
 * for a URL. Clients send one when they are.
 */
export const POST_PATHS: ReadonlySet<string> = new Set([
  PATHS.events,
  PATHS.logSearch,
  PATHS.logFollow,
  PATHS.logHistogram,
  PATHS.logDigest,
  PATHS.logFields,
  PATHS.logTop,
  PATHS.logAround,
]);

/**
 * Accepted by who asks one node for what it has itself, and adds the rest: records without their node, by its clock, and the
 * end of its own search, in frames. Between nodes of a cluster.
 */
export const RECORDS_TYPE = 'application/vnd.porthole.records';

/** Says what a search or a follow uses of the records: a hint, the rest may be sent, too. */
export const RECORDS_HEADER = 'porthole-records';

/**
 * Milliseconds without an event after which a follow wants a heartbeat. The response has what the node does; without
 * it, nothing is known about its heartbeats.
 */
export const HEARTBEAT_HEADER = 'porthole-heartbeat';

/** A comment in the event stream of a follow that begins with this word has a `position` as JSON. Other clients ignore it. */
export const POSITION_COMMENT = 'position ';

/**
 * How long a member that records another waits at most, on either side, while clients are served: with what is new, and with
 * each part of what was written before. What it waits for is lost if the member is killed meanwhile.
 */
export const YIELD_MS = 500;
export const YIELD_PAST_MS = 50;

/** How often a node wants one of a member that it follows. */
export const MEMBER_HEARTBEAT_MS = 2000;

/** See `SearchOptions.onlyRaw`. */
export const ONLY_RAW = 'raw';

/** See `FollowOptions.texts`. */
export const ONLY_TEXTS = 'texts';
