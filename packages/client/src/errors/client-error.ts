import { ERROR_KINDS, type ErrorCode, errorMessage, PortholeError } from '@porthole/contract';

export interface ClientErrorFacts {
  method: string;
  url: string;
  status?: number | undefined;
  detail?: string | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  failure?: ConnectionFailure | undefined;
  systemCode?: string | undefined;
  cause?: unknown;
  /** The code in the response if this version does not know it. */
  remoteCode?: string | undefined;
  /** Where the query of a QUERY_INVALID is wrong. */
  position?: number | undefined;
}

/** A request that failed: no response, an error, or an invalid response. */
export class ClientError extends PortholeError {
  override readonly name = 'ClientError';
  /** HTTP status; `undefined` without a response. */
  readonly status: number | undefined;
  /** What the node says about the failure; `undefined` if it says nothing, or without a response. */
  readonly detail: string | undefined;
  readonly method: string;
  /** Never contains a token. */
  readonly url: string;
  /** The `X-Request-Id` of the response, if a proxy or the service around the node sent one. */
  readonly requestId: string | undefined;
  /** Retry delay requested by the node, if any. */
  readonly retryAfterMs: number | undefined;
  /** Why there was no response, or only a part of it; `undefined` if there was one. */
  readonly failure: ConnectionFailure | undefined;
  /** The code of the system or of TLS for it, like `ECONNREFUSED` or `CERT_HAS_EXPIRED`; never in browsers. */
  readonly systemCode: string | undefined;
  /** The code in the response if this version does not know it; the message starts with it. */
  readonly remoteCode: string | undefined;

  constructor(code: ErrorCode, message: string, facts: ClientErrorFacts) {
    const { cause, position } = facts;
    super(code, message, { ...(cause !== undefined && { cause }), position });
    this.method = facts.method;
    this.url = facts.url;
    this.status = facts.status;
    this.detail = facts.detail;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
    this.failure = facts.failure;
    this.systemCode = facts.systemCode;
    this.remoteCode = facts.remoteCode;
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return ERROR_KINDS[this.code].retryable;
  }
}

/**
 * Why there was no response: the name of the host is unknown, the connection was refused, TLS failed (certificates, or one
 * side does not use TLS), it took too long, or the connection was lost. Browsers do not say: `lost`, unless it took too long.
 */
export type ConnectionFailure = 'dns' | 'refused' | 'tls' | 'timeout' | 'lost';

/** How many causes to follow for a system error code. */
const MAX_CAUSES = 8;

const FAILURES: readonly (readonly [RegExp, ConnectionFailure])[] = [
  [
    /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT|EPROTO)/,
    'tls',
  ],
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'timeout'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EACCES|EPERM|ENOENT|EADDRNOTAVAIL)$/, 'refused'],
];

/** The kind of a failed connection and the code of the system, like `CERT_HAS_EXPIRED`, if there is one. */
export function classifyFailure(error: unknown): { failure: ConnectionFailure; systemCode?: string } {
  const [systemCode] = findCodes(error);
  if (systemCode === undefined) return { failure: 'lost' };
  const [, failure = 'lost'] = FAILURES.find(([codes]) => codes.test(systemCode)) ?? [];
  return { failure, systemCode };
}

/** The codes of the innermost causes first: the outer ones only say that something failed. */
function findCodes(error: unknown): string[] {
  const codes: string[] = [];
  let next = error;
  for (let depth = 0; depth < MAX_CAUSES && next instanceof Error; depth++) {
    if ('code' in next && typeof next.code === 'string') codes.unshift(next.code);
    next = next instanceof AggregateError ? next.errors[0] : next.cause;
  }
  return codes;
}

/** An error thrown by a custom `fetch`, such as a refused connection. */
export function findPortholeError(error: unknown): PortholeError | undefined {
  const candidates = [error, error instanceof Error ? error.cause : undefined];
  return candidates.find((candidate): candidate is PortholeError => candidate instanceof PortholeError);
}

/** A certificate for another name: the message of Node.js contains all names in it. */
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** If texts are hidden, nothing that is written in a certificate: it may be that of any service. */
export function describeFailure(error: unknown, { hidesTexts }: { hidesTexts?: boolean | undefined }): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const isRemote = cause instanceof Error && 'code' in cause && cause.code === OTHER_NAME;
  return isRemote && hidesTexts ? describeOtherName(cause) : causeMessage(error);
}

/** `its certificate is not for 10.0.0.7, but for another name (ERR_TLS_CERT_ALTNAME_INVALID, SHA-256 1F:0A:…)` */
function describeOtherName(cause: Error & { host?: unknown; cert?: { fingerprint256?: unknown } }): string {
  const { host = 'this address', cert } = cause;
  const fingerprint = typeof cert?.fingerprint256 === 'string' ? `, SHA-256 ${cert.fingerprint256}` : '';
  return `its certificate is not for ${host}, but for another name (${OTHER_NAME}${fingerprint})`;
}

/** The cause of the "fetch failed" of Node.js. */
function causeMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(error instanceof Error && cause instanceof Error)) return errorMessage(error);
  return cause.message || ('code' in cause ? String(cause.code) : error.message);
}
