import { codeOf } from '@porthole/contract';

/** The result, or `undefined` for a refusal with a code of the closed list. Everything else that is thrown is a finding. */
export function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    checkRefusal(error);
    return undefined;
  }
}

/** Rethrows it unless it is an error that clients receive with its own code. */
export function checkRefusal(error: unknown): void {
  if (codeOf(error) === 'INTERNAL') throw error;
}
