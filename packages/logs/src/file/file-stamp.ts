import type { BigIntStats } from 'node:fs';
import type { LogHandle } from './log-handle.ts';

/**
 * File system clocks tick every few milliseconds, old ones every second or two: a file written twice within one tick
 * has the same stamp before and after. A file unchanged for longer gets a new stamp with its next change.
 */
const TICK_MS = 2000;

/**
 * A program that writes to mapped memory can change a dirty page without a new stamp until the kernel writes it back:
 * after half a minute at most, unless configured otherwise.
 */
const MAPPED_MS = 60_000;

type Times = Pick<LogHandle, 'modifiedNs' | 'changedNs'>;

export type Stamped = Pick<LogHandle, 'dev' | 'ino' | 'sizeBytes' | 'modifiedNs' | 'changedNs'>;

/** Changes with every change of the file, within the limits of `isSettled` and `isSettledForWriters`. */
export function fileStamp({ dev, ino, sizeBytes, modifiedNs, changedNs }: Stamped): string {
  return `${dev}:${ino}:${sizeBytes}:${modifiedNs}:${changedNs}`;
}

export function statsStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return fileStamp({ dev, ino, sizeBytes: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs });
}

/** Whether any change from now on changes the stamp. Data cached by a stamp must have been read while this was true. */
export function isSettled(file: Times, nowMs = Date.now()): boolean {
  return quietMs(file, nowMs) >= TICK_MS;
}

/** The same for files that a program may be writing to, including through mapped memory. */
export function isSettledForWriters(file: Times): boolean {
  return quietMs(file, Date.now()) >= MAPPED_MS;
}

/** Negative for a file with a timestamp in the future, of which nothing can be concluded. */
function quietMs({ modifiedNs, changedNs }: Times, nowMs: number): number {
  const latestNs = modifiedNs > changedNs ? modifiedNs : changedNs;
  return nowMs - Number(latestNs / 1_000_000n);
}
