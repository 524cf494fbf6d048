import fs from 'node:fs';
import { promisify } from 'node:util';

/*
 * Calls on plain descriptors. `FileHandle` of node:fs/promises costs a third of the tail rate at 256 KiB, and its
 * descriptors are closed by the garbage collector when forgotten, which would hide a leak from the tests.
 */
export const openFd: (path: string | Buffer, flags: number, mode?: number) => Promise<number> = promisify(fs.open);
export const closeFd: (fd: number) => Promise<void> = promisify(fs.close);

export function statFd(fd: number): Promise<fs.BigIntStats> {
  return new Promise((resolve, reject) => {
    fs.fstat(fd, { bigint: true }, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
}

/** Stats of the entry itself: links are not followed. */
export function statEntry(path: string | Buffer): Promise<fs.BigIntStats> {
  return new Promise((resolve, reject) => {
    fs.lstat(path, { bigint: true }, (error, stats) => (error ? reject(error) : resolve(stats)));
  });
}

export interface FdRead {
  position: number;
  length: number;
}

/** Reads `length` bytes to the start of `buffer`; fewer only at the end of the file. */
export async function readFd(fd: number, buffer: Buffer, { position, length }: FdRead): Promise<number> {
  let filled = 0;
  while (filled < length) {
    const got = await readOnce(fd, buffer, filled, { position: position + filled, length: length - filled });
    if (got === 0) break;
    filled += got;
  }
  return filled;
}

/** The same on this thread: for what is known to be in memory, where asking a thread of the pool takes longer than reading. */
export function readFdNow(fd: number, buffer: Buffer, { position, length }: FdRead): number {
  let filled = 0;
  while (filled < length) {
    const got = fs.readSync(fd, buffer, filled, length - filled, position + filled);
    if (got === 0) break;
    filled += got;
  }
  return filled;
}

function readOnce(fd: number, buffer: Buffer, offset: number, { position, length }: FdRead): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, buffer, offset, length, position, (error, got) => (error ? reject(error) : resolve(got)));
  });
}
