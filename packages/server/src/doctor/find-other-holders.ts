import { readdir, readlink } from 'node:fs/promises';

/** Ids of other processes that have this file open. Only on Linux, and only processes of the same user. */
export async function findOtherHolders(path: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await list('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    for (const fd of await list(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      if (target !== path) continue;
      found.push(Number(pid));
      break;
    }
  }
  return found;
}

/** Processes come and go while they are looked at, and those of others cannot be. */
function list(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
