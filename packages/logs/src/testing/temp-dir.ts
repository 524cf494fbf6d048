import { readdirSync, readlinkSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { LogDir, type LogDirOptions } from '../log-dir.ts';
import { systemCode } from '../log-error.ts';
import { SHARED_THREADS } from './shared-threads.ts';

/** The `LogDir` of a path, closed when the test ends. */
export function openDir(path: string, options: LogDirOptions = {}): LogDir {
  const logs = new LogDir(path, { ...sharedThreads(options), ...options });
  onTestFinished(() => logs.close());
  return logs;
}

function sharedThreads({ workers, scansHere }: LogDirOptions): Pick<LogDirOptions, 'threads'> {
  return workers === undefined && scansHere === undefined ? { threads: SHARED_THREADS } : {};
}

/** Descriptors of this process that are open on something below the path. */
export function openBelow(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${path}/`);
    } catch (error) {
      // The descriptor of the directory listing itself is closed by now.
      if (systemCode(error) !== 'ENOENT') throw error;
      return false;
    }
  }).length;
}
