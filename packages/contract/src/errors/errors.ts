import type { LogErrorCode } from '@porthole/logs/types';

/** What a code means on each transport, and whether a retry can help. */
export interface ErrorKind {
  http: number;
  /** Name of the gRPC status. */
  grpc:
    | 'INVALID_ARGUMENT'
    | 'NOT_FOUND'
    | 'UNAUTHENTICATED'
    | 'PERMISSION_DENIED'
    | 'RESOURCE_EXHAUSTED'
    | 'FAILED_PRECONDITION'
    | 'OUT_OF_RANGE'
    | 'UNIMPLEMENTED'
    | 'DEADLINE_EXCEEDED'
    | 'UNAVAILABLE'
    | 'DATA_LOSS'
    | 'INTERNAL';
  retryable: boolean;
  title: string;
}

/** Codes of the transports and the node, besides those of the log engine. */
type RequestErrorCode =
  | 'BAD_REQUEST'
  | 'PARAMETER_INVALID'
  | 'SIZE_INVALID'
  | 'QUERY_INVALID'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'HOST_NOT_ALLOWED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'PRECONDITION_FAILED'
  | 'BODY_TOO_LARGE'
  | 'URL_TOO_LONG'
  | 'CONTENT_TYPE_UNSUPPORTED'
  | 'RANGE_NOT_SATISFIABLE'
  | 'RATE_LIMITED'
  | 'HEADERS_TOO_LARGE'
  | 'CONFIG_UNAVAILABLE'
  | 'CONFIG_VERSION_NOT_FOUND'
  | 'AUTH_UNAVAILABLE'
  | 'ARCHIVE_UNAVAILABLE'
  | 'VIEWS_UNAVAILABLE'
  | 'MEMBER_NOT_FOUND'
  | 'MEMBER_REGISTERED'
  | 'MEMBER_REFUSED'
  | 'REQUEST_LOOP'
  | 'TOO_MANY_STREAMS'
  | 'BUNDLE_UNDER_WAY'
  | 'SHUTTING_DOWN'
  | 'DEADLINE_EXCEEDED'
  | 'INTERNAL';

/** Codes of a client that got no response, or no valid one. */
type ClientErrorCode = 'NOT_SUPPORTED' | 'UNREACHABLE' | 'BAD_ANSWER';

export type ErrorCode = LogErrorCode | RequestErrorCode | ClientErrorCode;

/** A request that is wrong in itself: most codes are about one. */
function invalid(title: string): ErrorKind {
  return { http: 400, grpc: 'INVALID_ARGUMENT', retryable: false, title };
}

/** The closed list: a code is never renamed or reused. It does not compile with a row missing. */
export const ERROR_KINDS: Readonly<Record<ErrorCode, ErrorKind>> = {
  BAD_REQUEST: invalid('Bad request'),
  FILE_NAME_MISSING: invalid('No file name given'),
  FILE_NAME_INVALID: invalid('File name not allowed'),
  SIZE_INVALID: invalid('Size not valid'),
  PARAMETER_INVALID: invalid('Parameter not valid'),
  QUERY_INVALID: invalid('Query not valid'),
  REGEX_INVALID: invalid('Regular expression not valid'),
  REGEX_TOO_COMPLEX: invalid('Regular expression too complex'),
  CURSOR_INVALID: invalid('Not a cursor'),
  UNAUTHENTICATED: { http: 401, grpc: 'UNAUTHENTICATED', retryable: false, title: 'Valid credentials are needed' },
  FORBIDDEN: { http: 403, grpc: 'PERMISSION_DENIED', retryable: false, title: 'Not permitted for this identity' },
  HOST_NOT_ALLOWED: { http: 403, grpc: 'PERMISSION_DENIED', retryable: false, title: 'Host not allowed' },
  ORIGIN_NOT_ALLOWED: { http: 403, grpc: 'PERMISSION_DENIED', retryable: false, title: 'Origin not allowed' },
  ROUTE_NOT_FOUND: { http: 404, grpc: 'UNIMPLEMENTED', retryable: false, title: 'No such route' },
  LOG_FILE_NOT_FOUND: { http: 404, grpc: 'NOT_FOUND', retryable: false, title: 'No such log file' },
  LOG_FAMILY_NOT_FOUND: { http: 404, grpc: 'NOT_FOUND', retryable: false, title: 'No such family of log files' },
  MEMBER_NOT_FOUND: { http: 404, grpc: 'NOT_FOUND', retryable: false, title: 'No such member of the cluster' },
  MEMBER_REGISTERED: {
    http: 409,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    title: 'The member is still registered',
  },
  MEMBER_REFUSED: {
    http: 502,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    title: 'Members at this address are not contacted',
  },
  REQUEST_LOOP: invalid('A member must not send requests to the cluster'),
  METHOD_NOT_ALLOWED: { http: 405, grpc: 'UNIMPLEMENTED', retryable: false, title: 'Method not allowed' },
  REQUEST_TIMEOUT: { http: 408, grpc: 'DEADLINE_EXCEEDED', retryable: true, title: 'Request took too long to arrive' },
  CURSOR_GONE: { http: 410, grpc: 'NOT_FOUND', retryable: false, title: 'The record of the cursor no longer exists' },
  RAW_HAS_SECRETS: {
    http: 403,
    grpc: 'PERMISSION_DENIED',
    retryable: false,
    title: 'Compressed file contains secrets',
  },
  PRECONDITION_FAILED: { http: 412, grpc: 'FAILED_PRECONDITION', retryable: false, title: 'The file has changed' },
  BODY_TOO_LARGE: { http: 413, grpc: 'INVALID_ARGUMENT', retryable: false, title: 'Request body too large' },
  URL_TOO_LONG: { http: 414, grpc: 'INVALID_ARGUMENT', retryable: false, title: 'URL too long' },
  CONTENT_TYPE_UNSUPPORTED: {
    http: 415,
    grpc: 'INVALID_ARGUMENT',
    retryable: false,
    title: 'Request body is not JSON',
  },
  RANGE_NOT_SATISFIABLE: { http: 416, grpc: 'OUT_OF_RANGE', retryable: false, title: 'Range outside the file' },
  LOG_FILE_CORRUPT: { http: 422, grpc: 'DATA_LOSS', retryable: false, title: 'Log file is damaged' },
  LOG_FILE_UNSUPPORTED: {
    http: 422,
    grpc: 'FAILED_PRECONDITION',
    retryable: false,
    title: 'Text of the log file cannot be decoded',
  },
  RATE_LIMITED: { http: 429, grpc: 'RESOURCE_EXHAUSTED', retryable: true, title: 'Too many requests' },
  HEADERS_TOO_LARGE: { http: 431, grpc: 'INVALID_ARGUMENT', retryable: false, title: 'Headers too large' },
  LOG_FILE_UNREADABLE: { http: 500, grpc: 'INTERNAL', retryable: false, title: 'Log file cannot be read' },
  LOG_FILE_TRUNCATED: { http: 500, grpc: 'DATA_LOSS', retryable: true, title: 'Log file shrank while it was read' },
  LOG_DIR_UNREADABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'Log directory cannot be read' },
  JOURNAL_UNAVAILABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'The journal cannot be read' },
  CONFIG_UNAVAILABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: false, title: 'Configuration cannot be read' },
  CONFIG_VERSION_NOT_FOUND: {
    http: 404,
    grpc: 'NOT_FOUND',
    retryable: false,
    title: 'Configuration version not found',
  },
  AUTH_UNAVAILABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'Credentials cannot be checked' },
  ARCHIVE_UNAVAILABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'The archive cannot be read' },
  VIEWS_UNAVAILABLE: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'Saved views cannot be kept' },
  TOO_MANY_STREAMS: { http: 503, grpc: 'RESOURCE_EXHAUSTED', retryable: true, title: 'Too many streams' },
  TOO_MANY_SEARCHES: { http: 503, grpc: 'RESOURCE_EXHAUSTED', retryable: true, title: 'Too many searches' },
  BUNDLE_UNDER_WAY: {
    http: 503,
    grpc: 'RESOURCE_EXHAUSTED',
    retryable: true,
    title: 'A bundle is already being created',
  },
  SHUTTING_DOWN: { http: 503, grpc: 'UNAVAILABLE', retryable: true, title: 'The node is stopping' },
  DEADLINE_EXCEEDED: { http: 504, grpc: 'DEADLINE_EXCEEDED', retryable: true, title: 'The response took too long' },
  NOT_SUPPORTED: { http: 501, grpc: 'UNIMPLEMENTED', retryable: false, title: 'The node cannot do this' },
  BAD_ANSWER: { http: 502, grpc: 'INTERNAL', retryable: false, title: 'Invalid response' },
  UNREACHABLE: { http: 502, grpc: 'UNAVAILABLE', retryable: true, title: 'The node cannot be reached' },
  INTERNAL: { http: 500, grpc: 'INTERNAL', retryable: false, title: 'Internal error' },
};

/** Codes of clients; a node responds with one only for another node that it queried. */
export const CLIENT_ERRORS: readonly ErrorCode[] = ['NOT_SUPPORTED', 'UNREACHABLE', 'BAD_ANSWER'];

export interface PortholeErrorOptions extends ErrorOptions {
  position?: number | undefined;
}

/** A failure with a code of the closed list. The message names what failed and is sent to the client. */
export class PortholeError extends Error {
  override readonly name: string = 'PortholeError';
  readonly code: ErrorCode;
  /** QUERY_INVALID: where the mistake is, as an index into the text of the query (UTF-16 units). */
  declare readonly position?: number;

  constructor(code: ErrorCode, message: string, { position, ...options }: PortholeErrorOptions = {}) {
    super(message, options);
    this.code = code;
    if (position !== undefined) this.position = position;
  }
}

/** The code of anything thrown; what carries none of ours is `INTERNAL`. */
export function codeOf(thrown: unknown): ErrorCode {
  if (thrown instanceof Error && 'code' in thrown && isErrorCode(thrown.code)) return thrown.code;
  return 'INTERNAL';
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_KINDS, value);
}

/** The message of anything thrown. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The body of every error response (RFC 9457). */
export interface Problem {
  /** Link to the documentation of the code. */
  type: string;
  /** What the code means. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What went wrong this time. */
  detail: string;
  code: ErrorCode;
  /** With `QUERY_INVALID`: index of the mistake in the text of the query, in UTF-16 units. */
  position?: number;
}

export function toProblem(thrown: unknown): Problem {
  const code = codeOf(thrown);
  const { http, title } = ERROR_KINDS[code];
  // Only messages written for clients leave the node: those of an unexpected error may contain paths or worse.
  const detail = code === 'INTERNAL' ? 'internal error; the log of the node has the cause' : (thrown as Error).message;
  const position = thrown instanceof PortholeError ? thrown.position : undefined;
  return { type: `/docs#${code}`, title, status: http, detail, code, ...(position !== undefined && { position }) };
}
