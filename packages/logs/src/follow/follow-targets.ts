import { refuseUndecoded } from '../file/compression.ts';
import type { HandleCache } from '../file/handle-cache.ts';
import { LogError } from '../log-error.ts';
import type { SeenMember } from './tail/family-files.ts';
import type { TailTarget } from './tail/tail-target.ts';

/** The family of every log in the directory, with the name of its live file. */
export function toTargets(families: ReadonlyMap<string, readonly SeenMember[]>): TailTarget[] {
  return Array.from(families, ([family, members]) => {
    const live = members.find((member) => member.name === family) ?? members.findLast((member) => member.live);
    return { name: live?.name ?? family, family };
  });
}

/**
 * Throws for a file whose bytes are not text, and for one that does not exist, unless it is the live file of a family,
 * which may appear. A file that is unreadable now may become readable: the tail waits for it.
 */
export async function refuseUnfollowable({ name, family }: TailTarget, handles: HandleCache): Promise<void> {
  try {
    await refuseUndecodedText(name, handles);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    const isLater = family === undefined ? error.code === 'LOG_FILE_UNREADABLE' : error.code !== 'LOG_FILE_UNSUPPORTED';
    if (!isLater) throw error;
  }
}

async function refuseUndecodedText(name: string, handles: HandleCache): Promise<void> {
  const handle = await handles.acquire(name);
  try {
    refuseUndecoded(handle);
  } finally {
    handle.release();
  }
}
