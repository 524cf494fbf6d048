import { readFileSync } from 'node:fs';

/** Logs followed at the same time unless a setting says otherwise. */
const MAX_LOGS = 2000;

/** Descriptors kept for connections, searches and all else, unless somebody knows better. */
const RESERVED_FILES = 384;

/** A log that is rotated has its old file open, too, for some seconds. */
const FILES_PER_LOG = 2;

export interface FollowLimitOptions {
  /** Setting `follow.max-logs`. */
  maxLogs?: number | undefined;
  /** Descriptors that are not for follows. */
  reservedFiles?: number | undefined;
}

/** How many logs may be followed at a time, and why not more. */
export interface FollowLimit {
  most: number;
  reason: string;
}

/** As many as the setting allows, and as the process may have files open beside all else. */
export function followLimit(
  { maxLogs = MAX_LOGS, reservedFiles = RESERVED_FILES }: FollowLimitOptions,
  maxOpenFiles = readMaxOpenFiles(),
): FollowLimit {
  const fitting = Math.max(1, Math.floor((maxOpenFiles - reservedFiles) / FILES_PER_LOG));
  if (maxLogs <= fitting)
    return { most: maxLogs, reason: `follow.max-logs = ${maxLogs} allows no more; raise it or follow them by name` };
  return {
    most: fitting,
    reason: `the process may open ${maxOpenFiles} files, enough for ${fitting} logs; raise "ulimit -n" or follow them by name`,
  };
}

/** Linux has it in a file; elsewhere nothing is known. */
function readMaxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
