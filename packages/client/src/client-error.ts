import { type ErrorCode, PortholeError } from '@porthole/contract';

export interface ClientErrorFacts {
  method: string;
  url: string;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
  /** The code in the response where this version does not know it. */
  remoteCode?: string | undefined;
}

/** A question to a node that got no answer, an error, or an answer that makes no sense. */
export class ClientError extends PortholeError {
  override readonly name = 'ClientError';
  /** HTTP status; `undefined` where there was no answer. */
  readonly status: number | undefined;
  readonly method: string;
  /** Never holds a token. */
  readonly url: string;
  /** How long the node asks to be left alone, if it says so. */
  readonly retryAfterMs: number | undefined;
  /** The code in the response where this version does not know it; the message begins with it. */
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
