import { readdir, readFile, readlink } from 'node:fs/promises';

const LISTENING = '0A';

/**
 * The program that listens on a port, like `nginx (process 42)`. `undefined` if it is unknown: not on Linux, or a
 * program of another user.
 */
export async function findPortOwner(port: number): Promise<string | undefined> {
  const inodes = await listeningInodes(port);
  if (inodes.size === 0) return undefined;
  for (const pid of await listDir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await listDir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      const [, inode = ''] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
      if (inodes.has(inode)) return `${await programName(pid)} (process ${pid})`;
    }
  }
  return undefined;
}

/** The kernel lists sockets with their address in hexadecimal and their inode in the tenth column. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const table of ['tcp', 'tcp6']) {
    const text = await readFile(`/proc/net/${table}`, 'utf8').catch(() => '');
    for (const row of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
      if (state === LISTENING && local.endsWith(ending)) inodes.add(inode);
    }
  }
  return inodes;
}

async function programName(pid: string): Promise<string> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return name.trim() || 'a program';
}

/** Empty for processes that ended meanwhile or belong to other users. */
function listDir(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
