import type { ErrorCode } from './errors.ts';
import type { SchemaName } from './schemas.ts';

export interface RouteParameter {
  name: string;
  in: 'query' | 'header';
  required: boolean;
  type: 'string' | 'integer';
  description: string;
}

/** What a route is, for the router, the OpenAPI document and the docs: all three read this table. */
export interface Route {
  path: string;
  summary: string;
  description: string;
  parameters: readonly RouteParameter[];
  answer: { contentType: string; schema?: SchemaName };
  /** Further statuses of a good answer, beside 200. */
  alsoAnswers?: Readonly<Record<number, string>>;
  /** Errors of its own, beside those every route can give. */
  errors: readonly ErrorCode[];
  /** Answers without a token. */
  open?: true;
  /** Counts against the limit of concurrent streams. */
  stream?: true;
  /** A part of a page, not of the interface: not in the OpenAPI document. */
  page?: true;
}

const FILE: RouteParameter = {
  name: 'file',
  in: 'query',
  required: true,
  type: 'string',
  description: 'Name of the log file, as the list gives it.',
};

const FILE_ERRORS = [
  'FILE_NAME_MISSING',
  'FILE_NAME_INVALID',
  'LOG_FILE_NOT_FOUND',
  'LOG_FILE_UNREADABLE',
  'TOO_MANY_STREAMS',
] as const;

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

export const ROUTES = {
  config: {
    path: '/api/v1/config',
    summary: 'Get configuration',
    description:
      'The running configuration of the node as TOML, or the file of the service beside it. Secrets are masked.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'NodeConfig' },
    errors: ['CONFIG_UNAVAILABLE'],
  },
  settings: {
    path: '/api/v1/config/settings',
    summary: 'Get settings',
    description:
      'Each configuration key with value, default and source, and the keys in which the file on disk differs.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'NodeSettings' },
    errors: ['CONFIG_UNAVAILABLE'],
  },
  logList: {
    path: '/api/v1/log/list',
    summary: 'List logs',
    description:
      'The regular files directly in the log directory, ordered by name. A missing directory is an empty one.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'LogList' },
    errors: ['LOG_DIR_UNREADABLE'],
  },
  logView: {
    path: '/api/v1/log/view',
    summary: 'View log',
    description:
      'The last part of one file, cut to whole lines, byte for byte. Of a `.gz` file, the last part of its uncompressed text.',
    parameters: [
      FILE,
      {
        name: 'size',
        in: 'query',
        required: false,
        type: 'integer',
        description: 'At most this many bytes; 1048576 when absent or empty.',
      },
    ],
    answer: { contentType: TEXT_TYPE },
    errors: ['SIZE_INVALID', 'LOG_FILE_CORRUPT', 'LOG_FILE_TRUNCATED', ...FILE_ERRORS],
    stream: true,
  },
  logFiles: {
    path: '/api/v1/log/files',
    summary: 'Describe logs',
    description: 'The list with what a look at both ends of each file tells: format, first and last time.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'LogFiles' },
    errors: ['LOG_DIR_UNREADABLE'],
  },
  logRaw: {
    path: '/api/v1/log/raw',
    summary: 'Download log',
    description: 'One file as it is on disk, as an attachment. Takes one byte range and conditional requests.',
    parameters: [
      FILE,
      {
        name: 'Range',
        in: 'header',
        required: false,
        type: 'string',
        description: 'One byte range, e.g. `bytes=-65536`.',
      },
      {
        name: 'If-Range',
        in: 'header',
        required: false,
        type: 'string',
        description: 'ETag or date the range depends on.',
      },
      { name: 'If-None-Match', in: 'header', required: false, type: 'string', description: 'ETags already held.' },
    ],
    answer: { contentType: 'application/octet-stream' },
    alsoAnswers: { 206: 'The part asked for.', 304: 'The file has not changed.' },
    errors: ['RANGE_NOT_SATISFIABLE', 'PRECONDITION_FAILED', ...FILE_ERRORS],
    stream: true,
  },
  node: {
    path: '/api/v1/node',
    summary: 'Describe node',
    description: 'Identity, clock, time zone, uptime, versions and capabilities.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'NodeDescription' },
    errors: [],
  },
  live: {
    path: '/health/live',
    summary: 'Liveness',
    description: 'Answers while the process runs.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'Alive' },
    errors: [],
    open: true,
  },
  ready: {
    path: '/health/ready',
    summary: 'Readiness',
    description: 'Whether the node can do its work, with one check per thing it depends on.',
    parameters: [],
    answer: { contentType: JSON_TYPE, schema: 'Readiness' },
    alsoAnswers: { 503: 'The node is stopping.' },
    errors: [],
    open: true,
  },
  metrics: {
    path: '/metrics',
    summary: 'Metrics',
    description: 'Counters and gauges in the Prometheus text format.',
    parameters: [],
    answer: { contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    errors: [],
  },
  openapi: {
    path: '/openapi.json',
    summary: 'OpenAPI document',
    description: 'This interface as OpenAPI 3.1.',
    parameters: [],
    answer: { contentType: JSON_TYPE },
    errors: [],
  },
  docs: {
    path: '/docs',
    summary: 'Documentation page',
    description: 'The OpenAPI document and the list of errors as a page to read.',
    parameters: [],
    answer: { contentType: HTML_TYPE },
    errors: [],
    page: true,
  },
  home: {
    path: '/',
    summary: 'Front page',
    description: 'The node, its files and links to everything else.',
    parameters: [],
    answer: { contentType: HTML_TYPE },
    errors: [],
    page: true,
  },
  style: {
    path: '/assets/porthole.css',
    summary: 'Style sheet',
    description: 'The look of the pages.',
    parameters: [],
    answer: { contentType: 'text/css; charset=utf-8' },
    errors: [],
    open: true,
    page: true,
  },
  icon: {
    path: '/assets/porthole.svg',
    summary: 'Icon',
    description: 'The icon of the pages.',
    parameters: [],
    answer: { contentType: 'image/svg+xml' },
    errors: [],
    open: true,
    page: true,
  },
} as const satisfies Record<string, Route>;

export type RouteId = keyof typeof ROUTES;

export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

/** The definition of a route with its optional parts in view. */
export function routeOf(id: RouteId): Route {
  return ROUTES[id];
}

/** Errors every route can give, because they are found before the route is looked at. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'HOST_NOT_ALLOWED',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'URL_TOO_LONG',
  'RATE_LIMITED',
  'HEADERS_TOO_LARGE',
  'SHUTTING_DOWN',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
];
