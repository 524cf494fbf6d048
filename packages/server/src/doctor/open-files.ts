import { constants } from 'node:fs';
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { expectCode } from '../errors.ts';
import { type CheckContext, type CheckOutcome, ok, warning } from './check-result.ts';

const LISTENING = '0A';

/**
 * Ids of the processes that have this log open to append to it, as often as they have: several nodes may be in one
 * process. Who reads it does not count. Only on Linux, and only processes of the same user.
 */
export async function findWriters(path: string): Promise<number[]> {
  const file = await stat(path).catch(expectCode);
  if (!file) return [];
  // By what it is: each process may know it by another path, through links and mounts.
  const name = basename(await realpath(path));
  const found: number[] = [];
  for await (const { pid, fd, target } of openDescriptors()) {
    if (basename(target) !== name) continue;
    const held = await stat(`/proc/${pid}/fd/${fd}`).catch(expectCode);
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(await readText(`/proc/${pid}/fdinfo/${fd}`)) ?? [];
    const appends = (Number.parseInt(flags, 8) & constants.O_APPEND) !== 0;
    if (appends && held?.ino === file.ino && held.dev === file.dev) found.push(Number(pid));
  }
  return found;
}

/**
 * The program that listens on a port, like `nginx (process 42)`. `undefined` if it is unknown: not on Linux, or a
 * program of another user.
 */
export async function findPortOwner(port: number): Promise<string | undefined> {
  const inodes = await listeningInodes(port);
  if (inodes.size === 0) return undefined;
  for await (const { pid, target } of openDescriptors()) {
    const [, inode = ''] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
    if (inodes.has(inode)) return `${await programName(pid)} (process ${pid})`;
  }
  return undefined;
}

/** The descriptors of all processes of this user. Processes may end meanwhile; whatever cannot be read is left out. */
async function* openDescriptors(): AsyncGenerator<{ pid: string; fd: string; target: string }> {
  for (const pid of await listDir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await listDir(`/proc/${pid}/fd`)) {
      yield { pid, fd, target: (await readlink(`/proc/${pid}/fd/${fd}`).catch(expectCode)) ?? '' };
    }
  }
}

/** The kernel lists sockets with their address in hexadecimal and their inode in the tenth column. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const row of (await readText(`/proc/net/${table}`)).split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
      if (state === LISTENING && local.endsWith(ending)) inodes.add(inode);
    }
  }
  return inodes;
}

async function programName(pid: string): Promise<string> {
  return (await readText(`/proc/${pid}/comm`)).trim() || 'a program';
}

/** Empty on other systems than Linux, and for processes that ended meanwhile or belong to other users. */
async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(expectCode)) ?? '';
}

async function listDir(path: string): Promise<string[]> {
  return (await readdir(path).catch(expectCode)) ?? [];
}

/** Each response holds a connection and a file. */
const PER_STREAM = 2;

/** Open files of an idle node: its own log, ports, cached descriptors, threads and their pipes. */
const BESIDES = 128;

/** Descriptors needed for the maximum number of responses and everything else except follows. */
export function openFilesNeeded({ maxStreams }: { maxStreams: number }): number {
  return maxStreams * PER_STREAM + BESIDES;
}

/** Whether the process may open enough files for the maximum number of responses. */
export async function checkOpenFiles({ settings: { http }, system }: CheckContext): Promise<CheckOutcome[]> {
  const limit = await system.maxOpenFiles();
  if (limit === undefined) return [];
  const needed = openFilesNeeded(http);
  const shown = Number.isFinite(limit) ? `${limit} files may be open` : 'any number of files may be open';
  if (limit >= needed) return [ok(`${shown}, http.max-streams = ${http.maxStreams} needs about ${needed}`)];
  return [
    warning(
      `only ${shown}, but http.max-streams = ${http.maxStreams} needs about ${needed}`,
      `raise it ("ulimit -n ${needed}", or LimitNOFILE=${needed} in the systemd unit), or lower http.max-streams`,
    ),
  ];
}
