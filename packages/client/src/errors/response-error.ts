import { ERROR_KINDS, type ErrorCode, type FetchResponse, isErrorCode, readRetryAfter } from '@porthole/contract';
import { isCodeLike, remoteText } from '../field-checks.ts';
import { ClientError, type ClientErrorFacts } from './client-error.ts';

/** What is known about the response, for the error. */
export interface FailedResponse {
  method: string;
  url: string;
  status: number;
  headers: FetchResponse['headers'];
  /** Path of the requested route. */
  path: string;
}

/** Codes for responses without one of ours: of proxies, and of other nodes with the same contract. */
const CODES_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'UNAUTHENTICATED',
  404: 'NOT_SUPPORTED',
  405: 'NOT_SUPPORTED',
  408: 'REQUEST_TIMEOUT',
  412: 'PRECONDITION_FAILED',
  414: 'URL_TOO_LONG',
  416: 'RANGE_NOT_SATISFIABLE',
  429: 'RATE_LIMITED',
  431: 'HEADERS_TOO_LARGE',
  501: 'NOT_SUPPORTED',
  502: 'UNREACHABLE',
  503: 'UNREACHABLE',
  504: 'DEADLINE_EXCEEDED',
};

export interface ProblemBody {
  body: string;
  nowMs: number;
  /** Only the code of the body is used, if it is one of ours. */
  hidesTexts: boolean;
}

/** The error of a response with an error status. */
export function responseError(facts: FailedResponse, { body, nowMs, hidesTexts }: ProblemBody): ClientError {
  const { method, url, status, headers, path } = facts;
  const { code, detail, remoteCode, position } = hidesTexts ? withoutTexts(readProblem(body)) : readProblem(body);
  const requestId = headers.get('x-request-id');
  const errorFacts = {
    method,
    url,
    status,
    detail,
    requestId: requestId === null || hidesTexts ? undefined : remoteText(requestId),
    retryAfterMs: readRetryAfter(headers.get('retry-after'), nowMs),
  };
  if (code === 'ROUTE_NOT_FOUND' || code === 'METHOD_NOT_ALLOWED') return notSupported(path, errorFacts, detail);
  if (code !== undefined)
    return new ClientError(code, detail ?? `the node responded with ${status}`, { ...errorFacts, position });
  if (remoteCode !== undefined) {
    const message = `${remoteCode}: ${detail ?? `the node responded with ${status}`}`;
    return new ClientError(codeForStatus(status), message, { ...errorFacts, remoteCode });
  }
  const byStatus = CODES_BY_STATUS[status] ?? (status >= 500 ? 'INTERNAL' : 'BAD_REQUEST');
  if (byStatus === 'NOT_SUPPORTED') return notSupported(path, errorFacts, `it responded with ${status}`);
  return new ClientError(byStatus, detail ?? `the node responded with ${status}`, errorFacts);
}

/** The code for an error whose own code only a later version knows. Its 404 is not a missing route. */
function codeForStatus(status: number): ErrorCode {
  const code = status === 404 || status === 405 ? undefined : CODES_BY_STATUS[status];
  return code ?? (status >= 500 ? 'INTERNAL' : 'BAD_ANSWER');
}

/** The node does not have the route: it only implements the contract, or the address is not that of a node. */
export function notSupported(path: string, facts: ClientErrorFacts, reason: string | undefined): ClientError {
  const why = reason === undefined ? '' : `: ${reason}`;
  return new ClientError('NOT_SUPPORTED', `the node has no ${path}${why}`, facts);
}

/** The title of the code, without text of the node. An unknown code is text of the node, too. */
function withoutTexts({ code }: Problem): Problem {
  return code === undefined ? {} : { code, detail: ERROR_KINDS[code].title };
}

interface Problem {
  code?: ErrorCode;
  detail?: string;
  remoteCode?: string;
  position?: number;
}

/** Nodes of this kind send an object with a code; others a JSON string, or any text. */
function readProblem(body: string): Problem {
  const value = parseBody(body);
  if (typeof value === 'string') return value === '' ? {} : { detail: remoteText(value) };
  if (typeof value !== 'object' || value === null) return {};
  const { code, detail, message, position } = value as Record<string, unknown>;
  const text = [detail, message].find((candidate) => typeof candidate === 'string');
  const named = isErrorCode(code) ? { code } : isCodeLike(code) ? { remoteCode: code } : {};
  return {
    ...named,
    ...(text !== undefined && { detail: remoteText(text as string) }),
    ...(Number.isSafeInteger(position) && { position: position as number }),
  };
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const text = body.trim();
    return text.startsWith('<') ? undefined : text; // an HTML page is not a message
  }
}
