import { ClientError, codeOf, ERROR_KINDS, isErrorCode } from '@porthole/client';
import type { WorkspaceState } from './workspace-state.ts';

/** What went wrong, as the API says it. */
export function toFailure(error: unknown): NonNullable<WorkspaceState['failure']> {
  const status = error instanceof ClientError ? (error.status ?? null) : null;
  return { code: codeOf(error), detail: error instanceof Error ? error.message : String(error), status };
}

/** Whether it may pass by itself: a node that restarts, or a lost connection. */
export function isRetryable(failure: WorkspaceState['failure']): boolean {
  return failure !== null && isErrorCode(failure.code) && ERROR_KINDS[failure.code].retryable;
}
