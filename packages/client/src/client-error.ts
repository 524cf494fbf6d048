import { type ErrorCode, PortholeError } from '@porthole/contract';

export interface ClientErrorFacts {
  method: string;
  url: string;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
  /** The code in the response if this version does not know it. */
  remoteCode?: string | undefined;
}

/** A request that failed: no response, an error, or an invalid response. */
export class ClientError extends PortholeError {
  override readonly name = 'ClientError';
  /** HTTP status; `undefined` without a response. */
  readonly status: number | undefined;
  readonly method: string;
  /** Never contains a token. */
  readonly url: string;
  /** Retry delay requested by the node, if any. */
  readonly retryAfterMs: number | undefined;
  /** The code in the response if this version does not know it; the message starts with it. */
  readonly remoteCode: string | undefined;

  constructor(code: ErrorCode, message: string, facts: ClientErrorFacts) {
    const { method, url, status, retryAfterMs, remoteCode, cause } = facts;
    super(code, message, cause === undefined ? undefined : { cause });
    this.method = method;
    this.url = url;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.remoteCode = remoteCode;
  }
}
