import { realpath } from 'node:fs/promises';
import type { Settings } from '../settings/settings.ts';

/** Beside the own log, with its rotation. */
export const ACCESS_LOG = 'access.log';

/**
 * The logs that are not shown to anyone: those the settings deny and, where the node shows its own directory, who has read
 * what. That names people and their questions, and is for who has the machine.
 */
export async function hiddenLogs({ auth, logging }: Settings, shownDir: string): Promise<string[]> {
  const [own, shown] = await Promise.all([realDir(logging.dir), realDir(shownDir)]);
  return own === shown ? [...auth.deniedFiles, ACCESS_LOG] : [...auth.deniedFiles];
}

/** One that is not there yet is known by its name only. */
async function realDir(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
