import { stat } from 'node:fs/promises';
import { isSystemError, systemCode } from '../../log-error.ts';
import type { FileProblem } from '../../types.ts';

/** A directory that cannot be read, as a problem of a search. */
export async function findMissingDir(dir: string): Promise<FileProblem | undefined> {
  try {
    await stat(dir);
    return undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const why = systemCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${systemCode(error)}`;
    return { file: '.', code: 'LOG_DIR_UNREADABLE', detail: `the log directory ${why}` };
  }
}
