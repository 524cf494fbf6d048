import { readFileSync } from 'node:fs';

/** The unit of /proc/PID/stat, USER_HZ: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kib === undefined) throw new Error(`/proc/${pid}/status has no VmRSS`);
  return Number(kib) * 1024;
}

/** Processor time of a process since its start, user and system, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in parentheses and may hold anything; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export interface Reads {
  /** Calls that read, from files and anything else: pipes, sockets, the event descriptors threads wake each other with. */
  calls: number;
  bytes: number;
}

/** What a process has read since its start, as the system counts it. */
export function readIoCounters(pid: number): Reads {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const readNumber = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1]);
  return { calls: readNumber('syscr'), bytes: readNumber('rchar') };
}
