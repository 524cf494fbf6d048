import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { findPortOwner } from '../doctor/open-files.ts';
import { expectCode, hasCode } from '../errors.ts';

/** How Linux counts the start times of processes, on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** Files of /proc about one process, and files with a process id, are shorter. */
const MAX_BYTES = 16 * 1024;

const MAX_PID = 2 ** 22;

const SYSTEMCTL_MS = 2000;

/** A process. Its id is given to others when it has ended; the start time distinguishes them. */
export interface ServiceProcess {
  pid: number;
  program: string;
  /** When it was started, since the start of the machine. */
  ticks: number;
  startedMs: number;
  /** Resident memory. */
  memoryBytes: number | undefined;
}

/** `undefined`: it has ended, or the system has no /proc. */
export async function readProcess(pid: number, bootMs: number): Promise<ServiceProcess | undefined> {
  const line = await readShort(`/proc/${pid}/stat`);
  // The name is in parentheses and may contain any character.
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(line ?? '') ?? [];
  const [state = '', ...fields] = rest.split(' ');
  const ticks = Number(fields[18]);
  // Dead, but its parent has not noticed.
  if (!Number.isFinite(ticks) || state === 'Z' || state === 'X') return undefined;
  const [, kib] = /^VmRSS:\s*(\d+) kB$/m.exec((await readShort(`/proc/${pid}/status`)) ?? '') ?? [];
  return {
    pid,
    ticks,
    program: name.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 32),
    startedMs: bootMs + (ticks / TICKS_PER_SECOND) * 1000,
    memoryBytes: kib === undefined ? undefined : Number(kib) * 1024,
  };
}

/** When the machine was started, as the kernel counts; `undefined` on other systems than Linux. */
export async function readBootMs(): Promise<number | undefined> {
  const uptime = Number((await readShort('/proc/uptime'))?.split(' ')[0]);
  return Number.isFinite(uptime) ? Date.now() - uptime * 1000 : undefined;
}

/** How many files a process has open; `undefined`: it is not ours to know. */
export async function countOpenFiles(pid: number): Promise<number | undefined> {
  return (await readdir(`/proc/${pid}/fd`).catch(expectCode))?.length;
}

/** The id in a file, and when it was written; `undefined`: there is no such file, or no id in it. */
export async function readPidFile(path: string): Promise<{ pid: number; writtenMs: number } | undefined> {
  const [, digits] = /^\s*(\d{1,7})\s/.exec(`${(await readShort(path)) ?? ''}\n`) ?? [];
  const pid = toPid(digits);
  const file = pid === undefined ? undefined : await stat(path).catch(expectCode);
  return pid !== undefined && file ? { pid, writtenMs: file.mtimeMs } : undefined;
}

/** The process that listens on a port, unless it is this one. */
export async function findListener(port: number): Promise<number | undefined> {
  const [, digits] = /\(process (\d+)\)$/.exec((await findPortOwner(port)) ?? '') ?? [];
  const pid = toPid(digits);
  return pid === process.pid ? undefined : pid;
}

/** What systemd knows about the main process of a unit. */
export interface UnitState {
  pid: number | undefined;
  /** Why it ended: `success`, `exit-code`, `signal`, `core-dump`, `oom-kill`, ... */
  result: string;
  /** The signal or the exit code it ended with, if it has. */
  signal: number | undefined;
  exitCode: number | undefined;
  restarts: number;
}

/** `undefined`: there is no systemd, it does not respond, or it does not know the unit. */
export function readUnit(unit: string): Promise<UnitState | undefined> {
  const names = ['MainPID', 'Result', 'ExecMainCode', 'ExecMainStatus', 'NRestarts', 'LoadState'];
  const args = ['show', `--property=${names.join(',')}`, '--', unit];
  const limits = { timeout: SYSTEMCTL_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES } as const;
  return new Promise((resolve) => {
    execFile('systemctl', args, { ...limits, env: { ...process.env, LC_ALL: 'C' } }, (error, stdout) => {
      resolve(error ? undefined : parseUnit(stdout));
    });
  });
}

/** CLD_EXITED, CLD_KILLED and CLD_DUMPED: how a process ended. */
const EXITED = 1;
const KILLED = [2, 3];

export function parseUnit(text: string): UnitState | undefined {
  const values = new Map(text.split('\n').map((line) => line.split('=', 2) as [string, string]));
  if (values.get('LoadState') !== 'loaded') return undefined;
  const pid = toPid(values.get('MainPID'));
  const code = Number(values.get('ExecMainCode'));
  const status = Number(values.get('ExecMainStatus'));
  return {
    pid,
    result: values.get('Result') ?? '',
    signal: KILLED.includes(code) ? status : undefined,
    exitCode: code === EXITED ? status : undefined,
    restarts: Number(values.get('NRestarts')) || 0,
  };
}

function toPid(digits: string | undefined): number | undefined {
  const pid = Number(digits);
  return pid > 0 && pid <= MAX_PID ? pid : undefined;
}

/** The start of a file that others write; never waits for a FIFO. */
async function readShort(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ENXIO', 'EAGAIN', 'ELOOP', 'ESPIPE'))
      return undefined;
    throw error;
  }
}
