import { ERROR_KINDS, type ErrorCode, PortholeError } from '@porthole/contract';
import type { ConnectionFailure } from './connection-failure.ts';

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
  /** Of QUERY_INVALID. */
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
