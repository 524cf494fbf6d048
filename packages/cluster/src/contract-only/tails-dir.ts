import { lstat, mkdtemp, opendir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectFailure } from '../requests/member-failure.ts';

const PREFIX = 'porthole-tails-';

/** Names made by `createTailsDir`: process id, its start time, its namespace, and six random characters. */
const NAME = /^porthole-tails-(\d{1,10})-(\d{1,20})-(\d{1,20})-\w{6}$/;

/** Maximum entries of the temporary directory to check: other users can fill it. */
const MAX_ENTRIES = 100_000;

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Creates a private directory for mirrored logs in the system's temporary directory. */
export async function createTailsDir(parent = tmpdir()): Promise<string> {
  const { pid } = process;
  return mkdtemp(join(parent, `${PREFIX}${pid}-${await processStart(pid)}-${await ownNamespace()}-`));
}

/**
 * Removes directories left by killed processes; returns how many. The temporary directory is shared: only real directories of
 * this user are removed, and only if nobody else could replace them meanwhile.
 */
export async function removeStaleTails(parent = tmpdir()): Promise<number> {
  const uid = process.getuid?.();
  if (uid === undefined || !(await keepsEntries(parent, uid))) return 0;
  const namespace = await ownNamespace();
  let [seen, removed] = [0, 0];
  for await (const { name } of await opendir(parent)) {
    if (++seen > MAX_ENTRIES) break;
    const [, pid = '', start, of] = NAME.exec(name) ?? [];
    // In another namespace the same id is another process.
    if (start === undefined || of !== namespace || !(await hasEnded(Number(pid), start))) continue;
    const path = join(parent, name);
    const entry = await lstat(path).catch(undefinedIfMissing);
    if (!entry?.isDirectory() || entry.uid !== uid) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

/** Whether only the owner can rename or replace an entry: otherwise a link could replace it during removal. */
async function keepsEntries(dir: string, uid: number): Promise<boolean> {
  const { mode, uid: owner } = await stat(dir);
  return (owner === uid || owner === 0) && ((mode & GROUP_OR_OTHERS_WRITE) === 0 || (mode & STICKY) !== 0);
}

/** A process with the same id but another start time is a different one. */
async function hasEnded(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    expectFailure(error);
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // EPERM: it runs as another user
  }
  const now = await processStart(pid);
  return now !== UNKNOWN && now !== start;
}

const UNKNOWN = '0';

/** Start time of a process in clock ticks since boot; `0` if unknown, as on macOS. */
async function processStart(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(emptyIfUnreadable); // it has ended, or there is none
  // The second field, the program name, may contain anything; the start time is the 20th field after it.
  return /^\d+$/.exec(text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '')?.[0] ?? UNKNOWN;
}

/** Containers may share a temporary directory, and each has a process 1. */
async function ownNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(emptyIfUnreadable); // there is none on macOS
  return /^pid:\[(\d+)\]$/.exec(link)?.[1] ?? UNKNOWN;
}

/** For `.catch`: a file that the system does not show is empty. */
function emptyIfUnreadable(error: NodeJS.ErrnoException): string {
  if (error.syscall === undefined) throw error;
  return '';
}

/** For `.catch`: a file that was removed meanwhile is `undefined`. */
function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
