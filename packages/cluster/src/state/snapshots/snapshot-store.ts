import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type MemberSnapshot, parseSnapshot, serializeSnapshot } from './member-snapshot.ts';

/** Larger files were not written by this. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

const FILE_NAME = /^words-[0-9a-f]{32}\.json$/;
const HALF_WRITTEN = /^words-[0-9a-f]{32}\.[0-9a-f-]{36}\.tmp$/;

/** Where words outlive this process. */
export interface SnapshotStore {
  /** What earlier runs left, the newest up to so many bytes; files that are not what they should be are skipped and told. */
  load(limits: { maxBytes: number }): Promise<{ snapshots: MemberSnapshot[]; skipped: string[] }>;
  /** All or nothing, whoever else writes at the same time. */
  save(snapshot: MemberSnapshot): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Words in files that only this user reads, one for each member. A file's name is made of the id's hash: no id is a path. */
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
      const file = filePath(snapshot.member.id);
      const half = file.replace(/json$/, `${randomUUID()}.tmp`);
      await prepare(dir);
      try {
        const handle = await open(half, 'wx', 0o600);
        try {
          await handle.writeFile(serializeSnapshot(snapshot));
        } finally {
          await handle.close();
        }
        await rename(half, file);
      } catch (error) {
        await rm(half, { force: true }).catch(() => {});
        throw error;
      }
    },

    remove: (id) => rm(filePath(id), { force: true }),
  };
}

function fileName(id: string): string {
  return `words-${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`;
}

async function prepare(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  // One that was there before may be open to others.
  if (made === undefined) await chmod(dir, 0o700);
}

/** The files that hold words. What was left half written is removed on the way. */
async function listNewestFirst(dir: string): Promise<string[]> {
  const found: { name: string; modifiedMs: number }[] = [];
  for (const name of (await readdir(dir)).sort()) {
    if (HALF_WRITTEN.test(name)) await rm(join(dir, name), { force: true });
    if (!FILE_NAME.test(name)) continue;
    const stat = await lstat(join(dir, name)).catch(() => undefined);
    if (stat) found.push({ name, modifiedMs: stat.mtimeMs });
  }
  return found.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ name }) => name);
}

/** The words of a file, or why they are not taken. */
async function readSnapshot(
  path: string,
  { name, leftBytes }: { name: string; leftBytes: number },
): Promise<{ words: MemberSnapshot; bytes: number } | string> {
  // Neither a link to elsewhere nor a pipe that never ends.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return 'no regular file';
    if (stat.size > MAX_FILE_BYTES) return `larger than ${MAX_FILE_BYTES} bytes`;
    if (stat.size > leftBytes) {
      await rm(path, { force: true });
      return 'removed, too much in all';
    }
    const snapshot = parseSnapshot(await handle.readFile('utf8'));
    if (snapshot === undefined) return 'not what was written';
    if (fileName(snapshot.member.id) !== name) return 'under the name of another member';
    return { words: snapshot, bytes: stat.size };
  } finally {
    await handle.close();
  }
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
