import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { OwnPaths } from '@porthole/logs';
import { hasCode } from './errors.ts';
import type { Settings } from './settings/settings.ts';

/** Copies of the logs of members are in directories of the temporary directory whose names begin with this. */
const TAILS_PREFIX = 'porthole-tails-';

/** What a node keeps besides its own log, by what it is. */
export interface OwnDirs {
  index: string;
  recorded: string;
  archive: string;
  otlp: string;
  journal: string;
  events: string;
  configHistory: string;
  views: string;
}

/** A directory that is not listed here could be shown as logs. */
export function ownDirs({ logging, cluster }: Pick<Settings, 'logging' | 'cluster'>): OwnDirs {
  const next = (name: string) => join(dirname(logging.dir), name);
  // Nodes whose own logs are next to each other have these of their own.
  const own = (name: string) => join(next(name), basename(logging.dir));
  return {
    index: next('index'),
    recorded: cluster.recordDir || next('recorded'),
    archive: own('archive'),
    otlp: own('otlp'),
    journal: next('journal'),
    events: own('events'),
    configHistory: own('config-history'),
    views: own('views'),
  };
}

/**
 * What is hidden of a log directory and its roots: who has read what is for the owner of the machine alone, and what is kept
 * of members is for those who may read configurations. A node that shows its own log shows all but the access log.
 */
export async function ownPaths(settings: Settings, shownDir: string): Promise<OwnPaths> {
  const [shown, log, tmp] = await Promise.all([shownDir, settings.logging.dir, tmpdir()].map(futureRealPath));
  const trees = await Promise.all(Object.values(ownDirs(settings)).map(futureRealPath));
  const hidden = trees.filter((dir) => !isAtOrBelow(dir, shown));
  return {
    prefixes: [...hidden.map((dir) => `${dir}${sep}`), join(tmp ?? '', TAILS_PREFIX)],
    dirs: log === shown ? [] : [log ?? ''],
  };
}

/** Own directories that would be shown if they were not hidden. */
export async function shownOwnDirs(settings: Settings, shownDir: string): Promise<string[]> {
  const { recursive, roots } = settings.log;
  const homes = await Promise.all([...(recursive ? [shownDir] : []), ...roots].map(futureRealPath));
  const own = [settings.logging.dir, ...Object.values(ownDirs(settings))];
  const shown = await futureRealPath(shownDir);
  const found = await Promise.all(
    own.map(async (dir) => {
      const real = await futureRealPath(dir);
      return real !== shown && homes.some((home) => isAtOrBelow(home, real)) ? [dir] : [];
    }),
  );
  return found.flat();
}

function isAtOrBelow(dir: string, path = ''): boolean {
  const way = relative(dir, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

/** The real path, also of what does not exist yet. */
export async function futureRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) return path;
    return join(await futureRealPath(dirname(path)), basename(path));
  }
}
