import type { OutgoingHttpHeaders } from 'node:http';
import { type ErrorCode, PortholeError } from '@porthole/contract';

/** An error with additional headers (`Allow`, `Retry-After`, ...). */
export class HttpRefusal extends PortholeError {
  readonly headers: OutgoingHttpHeaders;

  constructor(code: ErrorCode, message: string, headers: OutgoingHttpHeaders) {
    super(code, message);
    this.headers = headers;
  }
}
