import type { BigIntStats } from 'node:fs';
import type { LogHandle } from './log-handle.ts';

/**
 * File systems count time in ticks of a few milliseconds, old ones in seconds: what is written twice within one tick
 * has the same stamp before and after. A file left alone for longer gets a new stamp with its next change.
 */
const TICK_MS = 2000;

/**
 * A program that writes to mapped memory changes a page at will once it is dirty, without a new stamp, until the system
 * has written it back: after half a minute at most, unless set otherwise.
 */
const MAPPED_MS = 60_000;

type Times = Pick<LogHandle, 'modifiedNs' | 'changedNs'>;

export type Stamped = Pick<LogHandle, 'dev' | 'ino' | 'sizeBytes' | 'modifiedNs' | 'changedNs'>;

/** Changes with every change of the file, except as `isSettled` and `isSettledForWriters` say. */
export function fileStamp({ dev, ino, sizeBytes, modifiedNs, changedNs }: Stamped): string {
  return `${dev}:${ino}:${sizeBytes}:${modifiedNs}:${changedNs}`;
}

export function statsStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return fileStamp({ dev, ino, sizeBytes: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs });
}

/** Whether a change from now on shows in the stamp. What is remembered by a stamp must have been read when this held. */
export function isSettled(file: Times, nowMs = Date.now()): boolean {
  return quietMs(file, nowMs) >= TICK_MS;
}

/** The same for files that a program may be writing to, by mapped memory too. */
export function isSettledForWriters(file: Times): boolean {
  return quietMs(file, Date.now()) >= MAPPED_MS;
}

/** Negative for a file from the future: nothing can be said of it. */
function quietMs({ modifiedNs, changedNs }: Times, nowMs: number): number {
  const latestNs = modifiedNs > changedNs ? modifiedNs : changedNs;
  return nowMs - Number(latestNs / 1_000_000n);
}
