import { codeOf } from '@porthole/contract';

/** An error as the manifest shows it. */
export function errorMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  return code === 'INTERNAL' ? message : `${code}: ${message}`;
}
