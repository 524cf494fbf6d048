import type { OutgoingHttpHeaders } from 'node:http';
import { type ErrorCode, PortholeError } from '@porthole/contract';

/** An error that HTTP wants told with headers of its own (`Allow`, `Retry-After`, ...). */
export class HttpRefusal extends PortholeError {
  readonly headers: OutgoingHttpHeaders;

  constructor(code: ErrorCode, message: string, headers: OutgoingHttpHeaders) {
    super(code, message);
    this.headers = headers;
  }
}
