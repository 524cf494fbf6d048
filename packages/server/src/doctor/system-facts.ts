import { readFile, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What checks ask the machine. An interface, so that a test can show them a machine that is broken in one place. */
export interface SystemFacts {
  nodeVersion: string;
  /** Who runs this program: remedies name the user. */
  userName: string;
  nowMs(): number;
  /** When the newest file of this program that we know of was written: the clock cannot be before that. */
  programWrittenMs(): Promise<number>;
  /** Bytes an ordinary user may still write to the file system of this directory. */
  freeBytes(dir: string): Promise<number>;
  /** Files this process may open; `undefined` where the system does not tell. */
  maxOpenFiles(): Promise<number | undefined>;
  /** A limit of inotify; `undefined` where there is none. */
  inotifyLimit(name: 'max_user_watches' | 'max_user_instances'): Promise<number | undefined>;
}

export const THIS_SYSTEM: SystemFacts = {
  nodeVersion: process.versions.node,
  userName: readUserName(),
  nowMs: Date.now,
  programWrittenMs: async () => (await stat(fileURLToPath(import.meta.url))).mtimeMs,
  async freeBytes(dir) {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  },
  async maxOpenFiles() {
    const limits = await readSystemFile('/proc/self/limits');
    const [, soft] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : toNumber(soft);
  },
  inotifyLimit: async (name) => toNumber(await readSystemFile(`/proc/sys/fs/inotify/${name}`)),
};

/** A container may run with a user id that has no name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'USER');
  }
}

/** Linux tells these things in files; other systems have none of them. */
function readSystemFile(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.trim());
}
