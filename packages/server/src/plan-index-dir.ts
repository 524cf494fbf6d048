import { dirname, join, sep } from 'node:path';
import type { LogDirOptions } from '@porthole/logs';
import type { Logger } from './own-log/logger.ts';
import { readIndexLimit } from './settings/index-limit.ts';
import type { Settings } from './settings/settings.ts';
import { ownVersion } from './version.ts';

/** Where indexes are kept. `undefined`: nowhere, because it is turned off, or because the node would list them as logs. */
export function planIndexDir(
  { search, logging, log: { recursive } }: Settings,
  { logPath, log }: { logPath: string; log: Logger },
): LogDirOptions['indexDir'] {
  const dir = join(dirname(logging.dir), 'index');
  const maxBytes = readIndexLimit(search.maxIndexDisk);
  if (maxBytes(Number.MAX_SAFE_INTEGER) === 0) return undefined;
  const isListed = recursive && `${dir}${sep}`.startsWith(`${logPath}${sep}`);
  if (isListed) {
    log.warn('index', 'no index is kept on disk: its directory would be below the log directory', { dir });
    return undefined;
  }
  return {
    dir,
    maxBytes,
    version: ownVersion(),
    onProblem: (problem) =>
      log.warn('index', 'the index cannot be kept on disk; retrying within a minute', { problem }),
  };
}
