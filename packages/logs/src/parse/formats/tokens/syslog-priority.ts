import { isDigit } from './byte-scan.ts';

/** A syslog priority and where it ends; `end` is the start if there is none. */
export interface ReadPriority {
  value: number;
  end: number;
}

/** Reads `<0>` to `<191>`. */
export function readPriority(bytes: Buffer, start: number, end: number, priority: ReadPriority): boolean {
  priority.end = start;
  if (start >= end || bytes[start] !== 60) return false;
  let value = 0;
  let at = start + 1;
  for (; at < end && at < start + 4 && isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] ?? 0) - 48;
  if (at === start + 1 || at >= end || bytes[at] !== 62 || value > 191) return false;
  priority.value = value;
  priority.end = at + 1;
  return true;
}
