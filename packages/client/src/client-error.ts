import { type ErrorCode, PortholeError } from '@porthole/contract';

export interface ClientErrorFacts {
  method: string;
  url: string;
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
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

  constructor(code: ErrorCode, message: string, { method, url, status, retryAfterMs, cause }: ClientErrorFacts) {
    super(code, message, cause === undefined ? undefined : { cause });
    this.method = method;
    this.url = url;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
