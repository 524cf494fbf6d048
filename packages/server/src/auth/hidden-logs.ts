import { realpath } from 'node:fs/promises';
import type { Settings } from '../settings/settings.ts';

/** The access log, in the directory of the own log and rotated like it. */
export const ACCESS_LOG = 'access.log';

/**
 * The logs that are never served: those denied by the settings and, if the node serves its own directory, the access log.
 * It contains the names and requests of people, and is only for the owner of the machine.
 */
export async function hiddenLogs({ auth, logging }: Settings, shownDir: string): Promise<string[]> {
  const [own, shown] = await Promise.all([realDir(logging.dir), realDir(shownDir)]);
  return own === shown ? [...auth.deniedFiles, ACCESS_LOG] : [...auth.deniedFiles];
}

/** A directory that does not exist yet is compared by its name. */
async function realDir(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
