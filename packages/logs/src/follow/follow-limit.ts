import { readFileSync } from 'node:fs';
import { isSystemError } from '../log-error.ts';

/** Logs followed at the same time, unless `follow.max-logs` is set. */
const MAX_LOGS = 2000;

/** Descriptors reserved for connections, searches and everything else, unless the caller knows better. */
const RESERVED_FILES = 384;

/** A rotated log keeps its old file open for some seconds. */
const FILES_PER_LOG = 2;

export interface FollowLimitOptions {
  /** Setting `follow.max-logs`. */
  maxLogs?: number | undefined;
  /** Descriptors not available to follows. */
  reservedFiles?: number | undefined;
}

/** How many logs may be followed at the same time, and the reason reported for those left out. */
export interface FollowLimit {
  most: number;
  reason: string;
}

/** The smaller of the setting and what the process' limit on open files leaves room for. */
export function followLimit(
  { maxLogs = MAX_LOGS, reservedFiles = RESERVED_FILES }: FollowLimitOptions,
  maxOpenFiles = readMaxOpenFiles(),
): FollowLimit {
  const fitting = Math.max(1, Math.floor((maxOpenFiles - reservedFiles) / FILES_PER_LOG));
  if (maxLogs <= fitting)
    return { most: maxLogs, reason: `follow.max-logs = ${maxLogs} is reached; raise it or follow them by name` };
  return {
    most: fitting,
    reason: `the process may open ${maxOpenFiles} files, enough for ${fitting} logs; raise "ulimit -n" or follow them by name`,
  };
}

/** Linux has it in /proc; elsewhere the limit is unknown. */
function readMaxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return Number.POSITIVE_INFINITY;
  }
}
