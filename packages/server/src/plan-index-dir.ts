import type { LogDirOptions } from '@porthole/logs';
import { ownDirs } from './own-dirs.ts';
import type { Logger } from './own-log/logger.ts';
import { readIndexLimit } from './settings/index-limit.ts';
import type { Settings } from './settings/settings.ts';
import { ownVersion } from './version.ts';

/** Where indexes are kept. `undefined`: nowhere, because it is turned off. */
export function planIndexDir(settings: Settings, log: Logger): LogDirOptions['indexDir'] {
  const maxBytes = readIndexLimit(settings.search.maxIndexDisk);
  if (maxBytes(Number.MAX_SAFE_INTEGER) === 0) return undefined;
  return {
    dir: ownDirs(settings).index,
    maxBytes,
    version: ownVersion(),
    onProblem: (problem) =>
      log.warn('index', 'the index cannot be kept on disk; retrying within a minute', { problem }),
  };
}
