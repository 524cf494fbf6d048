import { codeOf } from '@porthole/contract';

/** What went wrong, for the reader of a manifest. */
export function errorMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  return code === 'INTERNAL' ? message : `${code}: ${message}`;
}
