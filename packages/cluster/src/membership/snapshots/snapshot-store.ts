import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@porthole/contract';
import { replaceFile } from '@porthole/logs';
import { type MemberSnapshot, parseSnapshot, serializeSnapshot } from './member-snapshot.ts';

/** Larger files are not snapshots. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

const FILE_NAME = /^words-[0-9a-f]{32}\.json$/;
const HALF_WRITTEN = /^words-[0-9a-f]{32}(?:\.json)?\.[0-9a-f-]{36}\.tmp$/;

/** Persistent storage of snapshots. */
export interface SnapshotStore {
  /** Loads the newest snapshots up to a total size; invalid files are skipped and reported. */
  load(limits: { maxBytes: number }): Promise<{ snapshots: MemberSnapshot[]; skipped: string[] }>;
  /** Atomic, even with concurrent writers. */
  save(snapshot: MemberSnapshot): Promise<void>;
  remove(id: string): Promise<void>;
}

/** One private file per member, named by the hash of its id: an id cannot form a path. */
export function createSnapshotStore(dir: string): SnapshotStore {
  const filePath = (id: string) => join(dir, fileName(id));
  return {
    async load({ maxBytes }) {
      const snapshots: MemberSnapshot[] = [];
      const skipped: string[] = [];
      let leftBytes = maxBytes;
      await prepare(dir);
      for (const name of await listNewestFirst(dir)) {
        const read = await readSnapshot(join(dir, name), { name, leftBytes }).catch(errorMessage);
        if (typeof read === 'string') skipped.push(`${name}: ${read}`);
        else {
          snapshots.push(read.words);
          leftBytes -= read.bytes;
        }
      }
      return { snapshots: snapshots, skipped };
    },

    async save(snapshot) {
      await prepare(dir);
      await replaceFile(filePath(snapshot.member.id), serializeSnapshot(snapshot));
    },

    remove: (id) => rm(filePath(id), { force: true }),
  };
}

function fileName(id: string): string {
  return `words-${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`;
}

async function prepare(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  // An existing directory may be accessible to others.
  if (made === undefined) await chmod(dir, 0o700);
}

/** Lists snapshot files and removes unfinished ones. */
async function listNewestFirst(dir: string): Promise<string[]> {
  const found: { name: string; modifiedMs: number }[] = [];
  for (const name of (await readdir(dir)).sort()) {
    if (HALF_WRITTEN.test(name)) await rm(join(dir, name), { force: true });
    if (!FILE_NAME.test(name)) continue;
    const stat = await lstat(join(dir, name)).catch(undefinedIfMissing);
    if (stat) found.push({ name, modifiedMs: stat.mtimeMs });
  }
  return found.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ name }) => name);
}

/** Reads a snapshot, or returns why it is rejected. */
async function readSnapshot(
  path: string,
  { name, leftBytes }: { name: string; leftBytes: number },
): Promise<{ words: MemberSnapshot; bytes: number } | string> {
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
    const snapshot = parseSnapshot(await handle.readFile('utf8'));
    if (snapshot === undefined) return 'invalid content';
    if (fileName(snapshot.member.id) !== name) return 'the file name belongs to another member';
    return { words: snapshot, bytes: stat.size };
  } finally {
    await handle.close();
  }
}

/** For `.catch`: a file that was removed meanwhile is `undefined`. */
function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
