import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '@porthole/contract';
import type { Logger } from '../own-log/logger.ts';

/** A request as the node's own log shows it: without anything the client has chosen. */
export interface LoggedRequest {
  /** The same as in the access log, which has the rest. */
  id: string;
  method: string;
  /** The template of its path, or the name of the gRPC method; never the path that was sent. */
  route: string;
}

/** Maximum length of a chain of causes. */
const MAX_CAUSES = 3;

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

interface Failure {
  name: string;
  code: unknown;
  syscall: unknown;
  cause: Failure | undefined;
  /** The stack frames, without the message that the stack begins with. */
  stack: string[];
}

/** An error without its message, which may quote what a client has sent. */
export function describeFailure(error: unknown, depth = 0): Failure {
  if (!(error instanceof Error))
    return { name: typeof error, code: undefined, syscall: undefined, cause: undefined, stack: [] };
  const { code, syscall } = error as NodeJS.ErrnoException;
  const { stack = '', message } = error;
  const at = stack.indexOf(message);
  return {
    name: error.name,
    code: typeof code === 'string' && /^[A-Z][A-Z\d_]{0,63}$/.test(code) ? code : undefined,
    syscall: typeof syscall === 'string' && /^[a-z]{1,32}$/.test(syscall) ? syscall : undefined,
    cause: error.cause !== undefined && depth < MAX_CAUSES ? describeFailure(error.cause, depth + 1) : undefined,
    // If the message was changed after the error was created, the stack still begins with the old one.
    stack: at < 0 ? [] : stackFrames(stack.slice(at + message.length)),
  };
}

function stackFrames(stack: string): string[] {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim());
}
