import { LogError, type LogErrorCode, systemCode } from '../log-error.ts';

/** Ended by the system: out of memory, out of threads. Anything else is a mistake in its code. */
export function isWorkerFailure(error: unknown): boolean {
  return systemCode(error)?.startsWith('ERR_WORKER_') ?? false;
}

/** An error that a thread has described. */
export function asError({ code, message }: { code: string | null; message: string }): Error {
  return code === null ? new Error(message) : new LogError(code as LogErrorCode, message);
}
