import { FILE_ROWS, RANGE_ROWS, VIEW_ROWS } from '../params/file-parameters.ts';
import { documentParameters } from '../params/parameter-docs.ts';
import { PATHS } from './paths.ts';
import { JSON_TYPE, type Route, TEXT_TYPE } from './route.ts';

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
    description: 'The list with what the start and the end of each file show: format, first and last timestamp.',
    parameters: [],
    response: { contentType: JSON_TYPE, schema: 'LogFiles' },
    errors: ['LOG_DIR_UNREADABLE'],
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
