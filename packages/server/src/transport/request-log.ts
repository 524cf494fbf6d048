import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '@porthole/contract';
import { describeFailure } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';

/** A request as the node's own log shows it: without anything the client has chosen. */
export interface LoggedRequest {
  /** The same as in the access log, which has the rest. */
  id: string;
  method: string;
  /** The template of its path, or the name of the gRPC method; never the path that was sent. */
  route: string;
}

/**
 * Logs requests to the node's own log. Everyone who may read logs can read that log, so it contains nothing a client has
 * sent: no query, name, header or address, and no error message, which may quote them. All of that is in the access log,
 * which the node never serves, under the same id.
 */
export class RequestLog {
  readonly #log: Logger;
  readonly #prefix = randomBytes(4).toString('hex');
  #count = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  newId(): string {
    this.#count++;
    return `${this.#prefix}-${this.#count.toString(36)}`;
  }

  /** Whether `completed` logs anything. */
  get logsCompleted(): boolean {
    return this.#log.isEnabled('debug');
  }

  completed(request: LoggedRequest, outcome: { status: number | string; bytes: number | undefined; ms: number }): void {
    if (!this.logsCompleted) return;
    this.#log.debug('request', 'answered', { ...requestFields(request), ...outcome, ms: Math.round(outcome.ms) });
  }

  refused(request: LoggedRequest, code: ErrorCode): void {
    this.#log.debug('request', 'refused', { ...requestFields(request), code });
  }

  /** A failure of the node, not of the client. */
  failed(request: LoggedRequest, error: unknown): void {
    this.#log.error('request', 'failed; the access log has the message', {
      ...requestFields(request),
      error: describeFailure(error),
    });
  }

  /** The response ended early. */
  cut(request: LoggedRequest, error: unknown, bytes?: number): void {
    this.#log.warn('request', 'the response was cut', {
      ...requestFields(request),
      bytes,
      error: describeFailure(error),
    });
  }

  /** A mistake in this program that has not become the response: in an event, or in cleaning up. */
  unfinished(request: LoggedRequest, error: unknown): void {
    this.#log.error('request', 'an unexpected error while the request was handled', {
      ...requestFields(request),
      error: describeFailure(error),
    });
  }
}

function requestFields({ id, method, route }: LoggedRequest): LoggedRequest {
  return { id, method, route };
}
