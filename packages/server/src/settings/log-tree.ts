import type { LogTree } from '@porthole/logs';
import type { Settings } from './settings.ts';

/** Which directories below the log directory are read, and where links may lead. */
export function readTree({ recursive, recursiveDepth, recursiveFiles, roots }: Settings['log']): LogTree {
  return { depth: recursive ? recursiveDepth : 0, maxEntries: recursiveFiles, roots };
}
