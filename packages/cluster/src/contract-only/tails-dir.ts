import { lstat, mkdtemp, opendir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'porthole-tails-';

/** What `createTailsDir` makes: process id, its start, its namespace, and six random characters. */
const NAME = /^porthole-tails-(\d{1,10})-(\d{1,20})-(\d{1,20})-\w{6}$/;

/** Entries of the directory for temporary files that are looked at: others can fill it. */
const MAX_ENTRIES = 100_000;

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** A directory for copies of logs, for this user alone, below the system's directory for temporary files. */
export async function createTailsDir(parent = tmpdir()): Promise<string> {
  const { pid } = process;
  return mkdtemp(join(parent, `${PREFIX}${pid}-${await processStart(pid)}-${await ownNamespace()}-`));
}

/**
 * Removes directories of processes that were killed; returns how many. Others may write to the directory for temporary
 * files: only real directories of this user are removed, and only where nobody else could put something in their place.
 */
export async function removeStaleTails(parent = tmpdir()): Promise<number> {
  const uid = process.getuid?.();
  if (uid === undefined || !(await keepsEntries(parent, uid))) return 0;
  const namespace = await ownNamespace();
  let [seen, removed] = [0, 0];
  for await (const { name } of await opendir(parent)) {
    if (++seen > MAX_ENTRIES) break;
    const [, pid = '', start, of] = NAME.exec(name) ?? [];
    // In another namespace the same number is another process.
    if (start === undefined || of !== namespace || !(await hasEnded(Number(pid), start))) continue;
    const path = join(parent, name);
    const entry = await lstat(path).catch(() => undefined);
    if (!entry?.isDirectory() || entry.uid !== uid) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

/** Whether nobody but its owner can rename or replace an entry: otherwise a link could take its place while it is removed. */
async function keepsEntries(dir: string, uid: number): Promise<boolean> {
  const { mode, uid: owner } = await stat(dir);
  return (owner === uid || owner === 0) && ((mode & GROUP_OR_OTHERS_WRITE) === 0 || (mode & STICKY) !== 0);
}

/** A process with the same number that started at another time is another one. */
async function hasEnded(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = await processStart(pid);
  return now !== UNKNOWN && now !== start;
}

const UNKNOWN = '0';

/** Clock ticks from the start of the system to that of a process; `0` where that is not known, as on macOS. */
async function processStart(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program comes second and may hold anything; the start is the 22nd field, the 20th behind it.
  return /^\d+$/.exec(text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '')?.[0] ?? UNKNOWN;
}

/** Containers may share a directory for temporary files, and each has a process 1. */
async function ownNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /^pid:\[(\d+)\]$/.exec(link)?.[1] ?? UNKNOWN;
}
