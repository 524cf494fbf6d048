import { readdirSync, readFileSync } from 'node:fs';

/** The unit of /proc/PID/stat, USER_HZ: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

const OWN_MEMORY_MS = 20;

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kib === undefined) throw new Error(`/proc/${pid}/status has no VmRSS`);
  return Number(kib) * 1024;
}

/** Processor time of a process since its start, user and system, in seconds. */
export function cpuSeconds(pid: number): number {
  return readCpuSeconds(`/proc/${pid}/stat`);
}

function readCpuSeconds(path: string): number {
  const stat = readFileSync(path, 'utf8');
  // The second field is the name in parentheses and may hold anything; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Processor time of each thread of a process since it started, in seconds, by its id. */
export function threadSeconds(pid: number): Map<string, number> {
  const dir = `/proc/${pid}/task`;
  return new Map(readdirSync(dir).map((id) => [id, readCpuSeconds(`${dir}/${id}/stat`)]));
}

/** The time of the thread of a process that was busiest since then, in seconds. */
export function busiestSince(pid: number, before: ReadonlyMap<string, number>): number {
  return Math.max(...Array.from(threadSeconds(pid), ([id, seconds]) => seconds - (before.get(id) ?? 0)));
}

/** Samples resident memory until stopped; `stop` gives the highest seen. A process that ends meanwhile is no failure of its own. */
export function watchResident(pid: number, everyMs: number): { stop(): number } {
  let peak = residentBytes(pid);
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, residentBytes(pid));
    } catch {
      clearInterval(timer); // whoever talks to it will notice
    }
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** Memory that a process and its children have for themselves, in bytes: without files that they map. */
export function ownMemory(pid: number): number {
  try {
    const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + ownMemory(Number(child)), Number(kib) * 1024);
  } catch {
    return 0; // it has ended
  }
}

/** Samples `ownMemory` until stopped; `stop` gives the highest seen. */
export function watchOwnMemory(pid: number): { stop(): number } {
  let peak = ownMemory(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, ownMemory(pid));
  }, OWN_MEMORY_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
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
