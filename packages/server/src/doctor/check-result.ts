import { readFile, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expectCode, hasCode } from '../errors.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import type { Settings } from '../settings/settings.ts';

/** What one check has found. */
export interface CheckResult {
  /** The check, for people: `log directory`. */
  name: string;
  /** `warning`: works, but needs attention. `problem`: does not work, or not as it should. */
  state: 'ok' | 'warning' | 'problem';
  detail: string;
  /** How to fix it: the setting or the command. */
  remedy?: string;
}

/** A result without the name of its check. */
export type CheckOutcome = Omit<CheckResult, 'name'>;

export function ok(detail: string): CheckOutcome {
  return { state: 'ok', detail };
}

export function warning(detail: string, remedy: string): CheckOutcome {
  return { state: 'warning', detail, remedy };
}

export function problem(detail: string, remedy: string): CheckOutcome {
  return { state: 'problem', detail, remedy };
}

/** What the checks examine: the settings of a node, on a machine. */
export interface CheckContext {
  loaded: LoadedSettings;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  system: SystemFacts;
}

/** The directory whose logs the node would serve. */
export function servedLogDir({ service, logging }: Settings): string {
  return service.logDir || logging.dir;
}

/** What the checks need to know about the machine. An interface, so that tests can replace single facts. */
export interface SystemFacts {
  nodeVersion: string;
  /** The user that runs this program; remedies name it. */
  userName: string;
  nowMs(): number;
  /** When this program was installed: the clock cannot be before that. */
  programWrittenMs(): Promise<number>;
  /** Bytes an unprivileged user can still write to the file system of this directory. */
  freeBytes(dir: string): Promise<number>;
  /** Files this process may open; `undefined` if the system does not report it. */
  maxOpenFiles(): Promise<number | undefined>;
  /** An inotify limit; `undefined` without inotify. */
  inotifyLimit(name: 'max_user_watches' | 'max_user_instances'): Promise<number | undefined>;
}

export const THIS_SYSTEM: SystemFacts = {
  nodeVersion: process.versions.node,
  userName: readUserName(),
  nowMs: Date.now, // clock: the clock of the machine is what is checked
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
  } catch (error) {
    if (!hasCode(error, 'ERR_SYSTEM_ERROR')) throw error;
    return String(process.getuid?.() ?? 'USER');
  }
}

/** Linux has these facts in files; other systems have no such file. */
function readSystemFile(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(expectCode);
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.trim());
}
