import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LogDir, type LogDirOptions } from '../log-dir.ts';

/** A fresh directory, by its real path, removed when the test ends. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'porthole-logs-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A door to the directory that is closed when the test ends. */
export function openDir(path: string, options?: LogDirOptions): LogDir {
  const logs = new LogDir(path, options);
  onTestFinished(() => logs.close());
  return logs;
}

/** Descriptors of this process that are open on something below the path. */
export function openBelow(path: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${path}/`);
    } catch {
      return false;
    }
  }).length;
}
