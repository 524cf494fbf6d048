import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { replaceFile } from '@porthole/logs';
import { isMemberId } from '../member-address.ts';
import { type MemberProfile, parseProfile, serializeProfile } from './member-profile.ts';

/** Larger files are not profiles. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

const FILE_NAME = 'member.json';

/** Persistent storage of profiles. */
export interface ProfileStore {
  /** Loads the newest profiles up to a total size; invalid files are skipped and reported. */
  load(limits: { maxBytes: number }): Promise<{ profiles: MemberProfile[]; skipped: string[] }>;
  /** Atomic, even with concurrent writers. */
  save(profile: MemberProfile): Promise<void>;
  remove(id: string): Promise<void>;
}

/** A private file in a private directory per member, which may have more of it: what was recorded. */
export function createProfileStore(dir: string): ProfileStore {
  return {
    async load({ maxBytes }) {
      const profiles: MemberProfile[] = [];
      const skipped: string[] = [];
      let leftBytes = maxBytes;
      await prepare(dir);
      for (const id of await listNewestFirst(dir)) {
        const read = await readProfile(join(dir, id, FILE_NAME), { id, leftBytes }).catch(errorMessage);
        if (typeof read === 'string') skipped.push(`${id}: ${read}`);
        else {
          profiles.push(read.profile);
          leftBytes -= read.bytes;
        }
      }
      return { profiles, skipped };
    },

    async save(profile) {
      const { id } = profile.member;
      await prepare(dir);
      await prepare(join(dir, id));
      await replaceFile(join(dir, id, FILE_NAME), serializeProfile(profile));
    },

    async remove(id) {
      await rm(join(dir, id, FILE_NAME), { force: true });
      await rmdir(join(dir, id)).catch(ignoreUnlessBroken);
    },
  };
}

async function prepare(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  // An existing directory may be accessible to others.
  if (made === undefined) await chmod(dir, 0o700);
}

async function listNewestFirst(dir: string): Promise<string[]> {
  const found: { id: string; modifiedMs: number }[] = [];
  for (const id of (await readdir(dir)).filter(isMemberId).sort()) {
    const stat = await lstat(join(dir, id, FILE_NAME)).catch(undefinedIfMissing);
    if (stat) found.push({ id, modifiedMs: stat.mtimeMs });
  }
  return found.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ id }) => id);
}

/** Reads a profile, or returns why it is rejected. */
async function readProfile(
  path: string,
  { id, leftBytes }: { id: string; leftBytes: number },
): Promise<{ profile: MemberProfile; bytes: number } | string> {
  // Neither a symbolic link nor a pipe.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return 'not a regular file';
    if (stat.size > MAX_FILE_BYTES) return `larger than ${MAX_FILE_BYTES} bytes`;
    if (stat.size > leftBytes) {
      await rm(path, { force: true });
      return 'removed: total size exceeded';
    }
    const profile = parseProfile(await handle.readFile('utf8'));
    if (profile === undefined) return 'invalid content';
    if (profile.member.id !== id) return 'the directory belongs to another member';
    return { profile, bytes: stat.size };
  } finally {
    await handle.close();
  }
}

/** For `.catch`: a file that was removed meanwhile is `undefined`, and what is no directory has none. */
function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

/** A directory with recordings stays until those are deleted. */
function ignoreUnlessBroken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') undefinedIfMissing(error);
}
