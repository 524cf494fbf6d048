import { documentParameters } from '../params/parameter-docs.ts';
import {
  BUDGET_ROW,
  DIGEST_ROWS,
  FOLLOW_ROWS,
  HISTOGRAM_ROWS,
  LAST_EVENT_ID_ROW,
  SEARCH_ROWS,
} from '../params/record-parameters.ts';
import { PATHS } from './paths.ts';
import { JSON_TYPE, type Route } from './route.ts';

const FILTER_ERRORS = [
  'PARAMETER_INVALID',
  'REGEX_INVALID',
  'REGEX_TOO_COMPLEX',
  'FILE_NAME_INVALID',
  'LOG_FILE_NOT_FOUND',
  'LOG_FAMILY_NOT_FOUND',
  'LOG_DIR_UNREADABLE',
  'TOO_MANY_STREAMS',
] as const;

const CURSOR_ERRORS = ['CURSOR_INVALID', 'CURSOR_GONE', 'BODY_TOO_LARGE', 'CONTENT_TYPE_UNSUPPORTED'] as const;

/** Requests about records. */
export const RECORD_ROUTES = {
  logSearch: {
    path: PATHS.logSearch,
    role: 'viewer',
    summary: 'Search logs',
    description:
      'Records that meet all conditions, as they are found: one JSON object per line, the last an `end` with the reason why the search ended and its coverage. Without conditions, the records next to a position in a file.',
    parameters: documentParameters([...SEARCH_ROWS, BUDGET_ROW]),
    response: { contentType: 'application/x-ndjson', schema: 'SearchItem', each: 'line' },
    errors: [...FILTER_ERRORS, ...CURSOR_ERRORS, 'TOO_MANY_SEARCHES'],
    post: true,
    stream: true,
  },
  logFollow: {
    path: PATHS.logFollow,
    role: 'viewer',
    summary: 'Follow logs',
    description:
      'Records as they are written, as server-sent events, through rotation and truncation, which are events too.',
    parameters: documentParameters([...FOLLOW_ROWS, LAST_EVENT_ID_ROW]),
    response: { contentType: 'text/event-stream', schema: 'FollowItem', each: 'event' },
    errors: [...FILTER_ERRORS, ...CURSOR_ERRORS],
    post: true,
    stream: true,
  },
  logHistogram: {
    path: PATHS.logHistogram,
    role: 'viewer',
    summary: 'Count records over time',
    description: 'The number of records per bucket of time and level.',
    parameters: documentParameters([...HISTOGRAM_ROWS, BUDGET_ROW]),
    response: { contentType: JSON_TYPE, schema: 'Histogram' },
    errors: [...FILTER_ERRORS, 'TOO_MANY_SEARCHES'],
    stream: true,
  },
  logDigest: {
    path: PATHS.logDigest,
    role: 'viewer',
    summary: 'Group records',
    description:
      'Records grouped by level and by the call site that wrote them, or by the pattern of their message if the log does not name it.',
    parameters: documentParameters([...DIGEST_ROWS, BUDGET_ROW]),
    response: { contentType: JSON_TYPE, schema: 'Digest' },
    errors: [...FILTER_ERRORS, 'TOO_MANY_SEARCHES'],
    stream: true,
  },
} as const satisfies Record<string, Route>;
