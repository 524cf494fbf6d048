import { ClientError, codeOf, ERROR_KINDS, isErrorCode, PortholeError } from '@porthole/client';
import { errorMessage } from '@porthole/contract';

export interface Problem {
  code: string;
  detail: string;
  /** HTTP status; `null` if there was no response. */
  status: number | null;
}

/** Texts for errors whose detail is meant for programs, not for readers of this page. */
const DETAILS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Enter a token',
  CURSOR_INVALID: 'This link is damaged',
};

/** Anything thrown, with the code and status of the API if it has them. */
export function toProblem(thrown: unknown): Problem {
  const code = codeOf(thrown);
  return {
    code,
    detail: DETAILS[code] ?? errorMessage(thrown),
    status: thrown instanceof ClientError ? (thrown.status ?? null) : null,
  };
}

/** Throws what is not the failure of a request: that is a bug and must not be swallowed. */
export function assertRequestFailed(thrown: unknown, signal: AbortSignal): void {
  if (!signal.aborted && !(thrown instanceof PortholeError)) throw thrown;
}

/** Whether the same request may succeed later: the node restarts, or the connection was lost. */
export function isRetryable({ code }: Pick<Problem, 'code'>): boolean {
  return isErrorCode(code) && ERROR_KINDS[code].retryable;
}
