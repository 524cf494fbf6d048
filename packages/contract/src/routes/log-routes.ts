import { BUNDLE_ROWS, DOWNLOAD_ROWS, TICKET_FOR_ROW, TICKET_ROW } from '../params/cluster-parameters.ts';
import { FILE_ROWS, LOG_FILES_ROWS, RANGE_ROWS, VIEW_ROWS } from '../params/log-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import {
  BUDGET_ROW,
  DIGEST_ROWS,
  EXPLAIN_ROW,
  FIELDS_ROWS,
  FOLLOW_ROWS,
  HISTOGRAM_ROWS,
  LAST_EVENT_ID_ROW,
  SEARCH_ROWS,
  TOP_ROWS,
} from '../params/record-parameters.ts';
import { type CountRoute, JSON_TYPE, PATHS, type Route, TEXT_TYPE, toCountRoute } from './route.ts';

const FILE_ERRORS = [
  'FILE_NAME_MISSING',
  'FILE_NAME_INVALID',
  'LOG_FILE_NOT_FOUND',
  'LOG_FILE_UNREADABLE',
  'TOO_MANY_STREAMS',
] as const;

/** Files: list, tail, raw download. */
export const LOG_ROUTES = {
  logList: {
    path: PATHS.logList,
    role: 'viewer',
    summary: 'List logs',
    description:
      'The regular files directly in the log directory, ordered by name. A missing directory is an empty one.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'LogList' },
    errors: ['LOG_DIR_UNREADABLE'],
  },
  logView: {
    path: PATHS.logView,
    role: 'viewer',
    summary: 'View log',
    description:
      'The last part of one file, cut to whole lines, byte for byte. Of a compressed file, the last part of its uncompressed text.',
    parameters: documentParameters(VIEW_ROWS),
    response: { contentType: TEXT_TYPE },
    errors: ['SIZE_INVALID', 'LOG_FILE_CORRUPT', 'LOG_FILE_UNSUPPORTED', 'LOG_FILE_TRUNCATED', ...FILE_ERRORS],
    stream: true,
  },
  logFiles: {
    path: PATHS.logFiles,
    role: 'viewer',
    summary: 'Describe logs',
    description: 'Each log file with its node and what its start and its end show: format, first and last timestamp.',
    parameters: documentParameters(LOG_FILES_ROWS),
    response: { contentType: JSON_TYPE, schema: 'ClusterLogFiles' },
    errors: [
      'PARAMETER_INVALID',
      'LOG_DIR_UNREADABLE',
      'FILE_NAME_INVALID',
      'LOG_FILE_NOT_FOUND',
      'LOG_FILE_UNREADABLE',
      'MEMBER_NOT_FOUND',
      'REQUEST_LOOP',
    ],
  },
  logRaw: {
    path: PATHS.logRaw,
    role: 'viewer',
    summary: 'Download log',
    description: 'One file as it is on disk, as an attachment. Takes one byte range and conditional requests.',
    parameters: documentParameters([...FILE_ROWS, ...RANGE_ROWS]),
    response: { contentType: 'application/octet-stream' },
    otherResponses: { 206: 'The requested range.', 304: 'The file has not changed.' },
    errors: [
      'RANGE_NOT_SATISFIABLE',
      'PRECONDITION_FAILED',
      'RAW_HAS_SECRETS',
      'LOG_FILE_CORRUPT',
      'LOG_FILE_UNSUPPORTED',
      ...FILE_ERRORS,
    ],
    stream: true,
  },
} as const satisfies Record<string, Route>;

const FILTER_ERRORS = [
  'PARAMETER_INVALID',
  'QUERY_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'FILE_NAME_INVALID',
  'LOG_FILE_NOT_FOUND',
  'LOG_FAMILY_NOT_FOUND',
  'LOG_DIR_UNREADABLE',
  'TOO_MANY_STREAMS',
  'MEMBER_NOT_FOUND',
  'REQUEST_LOOP',
  // Of reading the archive.
  'ARCHIVE_UNAVAILABLE',
  'NOT_SUPPORTED',
] as const;

const BODY_ERRORS = ['BODY_TOO_LARGE', 'CONTENT_TYPE_UNSUPPORTED'] as const;
const CURSOR_ERRORS = ['CURSOR_INVALID', 'CURSOR_GONE', ...BODY_ERRORS] as const;

const countRoute = (route: CountRoute) => toCountRoute(route, [...FILTER_ERRORS, 'TOO_MANY_SEARCHES', ...BODY_ERRORS]);

/** Requests about records. */
export const RECORD_ROUTES = {
  logSearch: {
    path: PATHS.logSearch,
    role: 'viewer',
    summary: 'Search logs',
    description:
      'Records that meet all conditions, as they are found: one JSON object per line, those of several nodes merged by time, corrected for clock offsets. The last is an `end` with the reason why the search ended, its coverage and a report of each node. Without conditions, the records next to a position in a file.',
    parameters: documentParameters([...SEARCH_ROWS, BUDGET_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'ClusterItem', each: 'line' },
    errors: [...FILTER_ERRORS, ...CURSOR_ERRORS, 'TOO_MANY_SEARCHES'],
    stream: true,
  },
  logFollow: {
    path: PATHS.logFollow,
    role: 'viewer',
    summary: 'Follow logs',
    description:
      'Records as they are written, as server-sent events, through rotation and truncation, which are events too. With `nodes`, new nodes are added as they appear; changes of nodes are events.',
    parameters: documentParameters([...FOLLOW_ROWS, LAST_EVENT_ID_ROW]),
    response: { contentType: 'text/event-stream', schema: 'ClusterFollowItem', each: 'event' },
    errors: [...FILTER_ERRORS, ...CURSOR_ERRORS, 'JOURNAL_UNAVAILABLE'],
    stream: true,
  },
  logHistogram: countRoute({
    path: PATHS.logHistogram,
    summary: 'Count records over time',
    description: 'The number of records per bucket of time and level, of all nodes and of each.',
    parameters: documentParameters([...HISTOGRAM_ROWS, BUDGET_ROW]),
    schema: 'ClusterHistogram',
  }),
  logDigest: countRoute({
    path: PATHS.logDigest,
    summary: 'Group records',
    description:
      'Records grouped by level and by the call site that wrote them, or by the pattern of their message if the log does not name it, with the number of each node.',
    parameters: documentParameters([...DIGEST_ROWS, BUDGET_ROW]),
    schema: 'ClusterDigest',
  }),
  logFields: countRoute({
    path: PATHS.logFields,
    summary: 'List fields',
    description:
      'The fields that matching records have, with their types, the number of records and of values, and examples. Of a large range, evenly chosen parts are examined.',
    parameters: documentParameters([...FIELDS_ROWS, BUDGET_ROW]),
    schema: 'ClusterFields',
  }),
  logTop: countRoute({
    path: PATHS.logTop,
    summary: 'Count records by value',
    description:
      'The most frequent values of a field with the number of records, all other values together, and on request the counts over time. Exact for up to 50,000 different values; beyond that, counts are marked as lower bounds with their error.',
    parameters: documentParameters([...TOP_ROWS, BUDGET_ROW]),
    schema: 'ClusterTop',
  }),
  logExplain: {
    path: PATHS.logExplain,
    role: 'viewer',
    summary: 'Explain a query',
    description: 'A query in words, and its text as this version would write it.',
    parameters: documentParameters([EXPLAIN_ROW]),
    response: { contentType: JSON_TYPE, schema: 'QueryExplanation' },
    errors: ['QUERY_INVALID'],
  },
} as const satisfies Record<string, Route>;

/** Downloads: records as text, tickets for browsers, support bundles. */
export const DOWNLOAD_ROUTES = {
  logDownload: {
    path: PATHS.logDownload,
    role: 'viewer',
    summary: 'Download records',
    description:
      'Every record that meets all conditions, however many, oldest first, merged by time, as text: each exactly as in its file. The last line begins with `# porthole: complete` or `# porthole: INCOMPLETE` and says what is missing; a file without it is truncated.',
    parameters: documentParameters([...DOWNLOAD_ROWS, TICKET_ROW]),
    response: { contentType: 'text/plain; charset=utf-8' },
    errors: [
      'PARAMETER_INVALID',
      'MEMBER_NOT_FOUND',
      'REQUEST_LOOP',
      'QUERY_INVALID',
      'REGEX_INVALID',
      'REGEX_TOO_COMPLEX',
      'TOO_MANY_STREAMS',
      'TOO_MANY_SEARCHES',
    ],
    stream: true,
  },
  downloadTicket: {
    path: PATHS.downloadTicket,
    role: 'any',
    summary: 'Get a download ticket',
    description:
      'A ticket for one download, for browsers, which send no token with a link: added to that URL as its last parameter `ticket`, it stands for the `Authorization` header of this request, once and for a short time. For `/log/raw` and `/log/download`.',
    parameters: documentParameters([TICKET_FOR_ROW]),
    response: { contentType: JSON_TYPE, schema: 'DownloadTicket' },
    errors: ['PARAMETER_INVALID'],
  },
  bundle: {
    path: PATHS.bundle,
    role: 'admin',
    summary: 'Download a support bundle',
    description:
      'Configurations, their differences, logs of a time range, counts and health of nodes as one ZIP archive, streamed while it is created. Its last file, `manifest.json`, lists the others with their SHA-256, and what is missing. Secrets are masked as in all other responses. One at a time.',
    parameters: documentParameters(BUNDLE_ROWS),
    response: { contentType: 'application/zip' },
    errors: ['PARAMETER_INVALID', 'MEMBER_NOT_FOUND', 'REQUEST_LOOP', 'TOO_MANY_STREAMS', 'BUNDLE_UNDER_WAY'],
    stream: true,
  },
} as const satisfies Record<string, Route>;
