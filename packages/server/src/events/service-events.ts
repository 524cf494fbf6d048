// owner: execFile calls back once, with the failure to start it too; bounded in time and output
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { constants as system } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '@porthole/contract';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import type { ConfigSource } from '../config/service-config.ts';
import { findPortOwner } from '../doctor/open-files.ts';
import { expectCode, hasCode } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { EventLog } from './event-log.ts';
import type { LogTallies } from './log-tallies.ts';
import { bootId } from './node-events.ts';

/** How exactly the end of the service is known. */
const POLL_MS = 2000;

/** While the service does not run it is looked for less often if that takes long: by systemctl, or in all processes. */
const SEARCH_POLLS = 5;

/** The search in all processes is repeated less and less often: it never finds one of another user. */
const MAX_SEARCH_POLLS = 150;

/** Open files are counted every 30 s: a database may have many. */
const FILES_POLLS = 15;

/** A file with a process id that is older than the process belongs to another one. */
const PID_FILE_MS = 2000;

/** How long the last lines of a service, and systemd, take to arrive here. */
const SETTLE_MS = 600;

/** A line that reports a crash is written right before the end. */
const CRASH_WITHIN_MS = 30_000;

export interface ServiceEventsDeps {
  log: EventLog;
  pidFile: string;
  unit: string;
  /** Has the port that is looked for without the other two. */
  config: Pick<ConfigSource, 'current' | 'observes'>;
  tallies: Pick<LogTallies, 'lastFatal'>;
  ownLog: Logger;
}

interface KnownService extends ServiceProcess {
  openFiles: number | undefined;
  /** When it was last seen to run. */
  aliveMs: number;
  unit: UnitState | undefined;
}

/** Watches the process of the service that a node runs next to. Where there is no /proc it sees none. */
export class ServiceEvents {
  readonly #deps: ServiceEventsDeps;
  #timer: NodeJS.Timeout | undefined;
  #polling: Owned = NO_WORK;
  #isPolling = false;
  #polls = 0;
  #searchPolls = SEARCH_POLLS;
  #bootMs: number | undefined;
  #service: KnownService | undefined;
  #startedMs = Date.now(); // clock: times of events
  #isPastChecked = false;
  #problem = '';

  constructor(deps: ServiceEventsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => this.#pollSoon(), POLL_MS).unref();
    this.#pollSoon();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  #pollSoon(): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const done = this.poll().finally(() => {
      this.#isPolling = false;
    });
    this.#polling = owned(done, (error) => {
      const problem = errorMessage(error);
      if (problem !== this.#problem) this.#deps.ownLog.warn('events', 'the service cannot be watched', { problem });
      this.#problem = problem;
    });
  }

  /** Looks whether the service still runs, or runs by now. */
  async poll(): Promise<void> {
    this.#bootMs ??= await readBootMs();
    if (this.#bootMs === undefined) return;
    const before = this.#service;
    if (before) {
      const now = await readProcess(before.pid, this.#bootMs);
      if (now?.ticks === before.ticks) {
        const isCounted = this.#polls++ % FILES_POLLS === 0;
        const openFiles = isCounted ? await countOpenFiles(now.pid) : before.openFiles;
        // clock: times of events
        this.#service = { ...before, memoryBytes: now.memoryBytes, openFiles, aliveMs: Date.now() };
        return;
      }
      this.#service = undefined;
      this.#polls = 0;
      await this.#reportEnd(before);
    }
    const { pidFile } = this.#deps;
    if (pidFile === '' && this.#polls++ % this.#searchPolls !== 0) return;
    const found = await this.#find();
    const isByPort = pidFile === '' && this.#deps.unit === '';
    this.#searchPolls = isByPort && !found ? Math.min(this.#searchPolls * 2, MAX_SEARCH_POLLS) : SEARCH_POLLS;
    const running = found && (await readProcess(found.pid, this.#bootMs));
    const isOther = running && running.startedMs > (found.writtenMs ?? Number.POSITIVE_INFINITY) + PID_FILE_MS;
    await this.#reportMissed(isOther ? undefined : running);
    if (!running || isOther) return;
    this.#polls = 0;
    // clock: times of events
    this.#service = { ...running, openFiles: undefined, aliveMs: Date.now(), unit: found.unit };
    await this.#reportStart(running);
  }

  async #find(): Promise<{ pid: number; writtenMs?: number; unit?: UnitState } | undefined> {
    const { pidFile, unit, config } = this.#deps;
    if (pidFile !== '') return readPidFile(pidFile);
    if (unit !== '') {
      const state = await readUnit(unit);
      return state?.pid === undefined ? undefined : { pid: state.pid, unit: state };
    }
    // A node that shows its own settings does not know those of the service.
    const { values } = config.observes === 'self' ? { values: [] } : await config.current();
    for (const { key, value } of values) {
      const port = /(?:^|[._-])port$/i.test(key) ? Number(value) : 0;
      const pid = Number.isInteger(port) && port > 0 && port < 65_536 ? await findListener(port) : undefined;
      if (pid !== undefined) return { pid };
    }
    return undefined;
  }

  /** Once, at the start of the node: the service that ran before may have ended since. */
  async #reportMissed(running: ServiceProcess | undefined): Promise<void> {
    if (this.#isPastChecked) return;
    this.#isPastChecked = true;
    const { log } = this.#deps;
    const last = log.past.findLast(({ kind }) => kind.startsWith('service-'));
    if (last?.kind !== 'service-started') return;
    const { pid, ticks, boot, program, startedMs } = last.fields;
    const known = running ?? (await readProcess(Number(pid), this.#bootMs ?? 0));
    if (known && known.pid === pid && known.ticks === ticks && boot === (await bootId())) return;
    log.write({
      kind: 'service-stopped',
      message: `the service ended while the node was down: ${program}, process ${pid}; how is not known`,
      cause: `service ended ${pid} ${ticks} ${boot}`,
      // clock: times of events
      fields: { pid, program, startedMs, uncertaintyMs: Date.now() - last.timeMs },
    });
  }

  async #reportStart({ pid, program, ticks, startedMs }: ServiceProcess): Promise<void> {
    const nowMs = Date.now(); // clock: times of events
    // Times of events are in order, as those of all logs: one that was started before has been found now.
    const isNow = startedMs > this.#startedMs && nowMs - startedMs < 50_000;
    const since = isNow ? '' : ` since ${new Date(startedMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    const boot = await bootId();
    this.#deps.log.write({
      kind: 'service-started',
      timeMs: isNow ? Math.min(Math.round(startedMs), nowMs) : nowMs,
      message: `the service ${isNow ? 'started' : 'runs'}: ${program}, process ${pid}${since}`,
      cause: `service ${pid} ${ticks} ${boot}`,
      fields: { pid, program, startedMs: Math.round(startedMs), ticks, boot },
    });
  }

  async #reportEnd(ended: KnownService): Promise<void> {
    const { log, pidFile, unit, tallies } = this.#deps;
    const { pid, program, ticks, startedMs, memoryBytes, openFiles, aliveMs } = ended;
    const uncertaintyMs = Date.now() - aliveMs; // clock: times of events
    await wait(SETTLE_MS, undefined, { ref: false });
    const state = unit === '' ? undefined : await readUnit(unit);
    // One that was started again has the state of the new process, which says nothing about the end of this one.
    const known = state && (state.pid === undefined || state.pid === pid) ? state : undefined;
    const restarts = state && ended.unit && state.restarts > ended.unit.restarts ? state.restarts : undefined;
    const left = pidFile === '' ? undefined : { pid: (await readPidFile(pidFile))?.pid };
    const fatal = tallies.lastFatal;
    const crash = fatal && Math.abs(fatal.timeMs - aliveMs) < CRASH_WITHIN_MS ? fatal : undefined;
    const how = describeEnd(known, {
      hasCrash: crash !== undefined,
      isPidLeft: left && left.pid === pid,
      isPidGone: left && left.pid === undefined,
    });
    log.write({
      kind: how.isKilled ? 'service-killed' : 'service-stopped',
      timeMs: aliveMs,
      message: `the service ${how.isKilled ? 'was killed or crashed' : 'stopped'}: ${program}, process ${pid}; ${how.text}`,
      cause: `service ended ${pid} ${ticks} ${await bootId()}`,
      fields: {
        ...{ pid, program, startedMs: Math.round(startedMs), uncertaintyMs },
        ...(memoryBytes !== undefined && { memoryBytes }),
        ...(openFiles !== undefined && { openFiles }),
        ...(known?.signal !== undefined && { signal: signalName(known.signal) }),
        ...(known?.exitCode !== undefined && { exitCode: known.exitCode }),
        ...(known && { result: known.result }),
        ...(restarts !== undefined && { restarts }),
        ...(crash && {
          log: crash.log,
          record: { cursor: crash.record.cursor, file: crash.record.file, message: crash.record.message.slice(0, 200) },
        }),
      },
    });
  }
}

interface SignsOfEnd {
  /** Its log has a fatal error of that time. */
  hasCrash: boolean;
  /** The file with its process id has it still, or is gone. */
  isPidLeft: boolean | undefined;
  isPidGone: boolean | undefined;
}

/** Only what is known is said. */
function describeEnd(unit: UnitState | undefined, signs: SignsOfEnd): { isKilled: boolean; text: string } {
  const isKilled = unit?.result !== 'success';
  if (unit?.signal !== undefined) return { isKilled, text: `by ${signalName(unit.signal)} (systemd: ${unit.result})` };
  if (unit?.exitCode !== undefined)
    return { isKilled, text: `with exit code ${unit.exitCode} (systemd: ${unit.result})` };
  if (signs.hasCrash) return { isKilled: true, text: 'it has logged a fatal error' };
  if (signs.isPidLeft) return { isKilled: true, text: 'its pid file is still there' };
  return { isKilled: false, text: signs.isPidGone ? 'its pid file was removed' : 'how is not known' };
}

function signalName(signal: number): string {
  return Object.entries(system.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

/** How Linux counts the start times of processes, on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/** Files of /proc about one process, and files with a process id, are shorter. */
const MAX_BYTES = 16 * 1024;

const MAX_PID = 2 ** 22;

const SYSTEMCTL_MS = 2000;

/** A process. Its id is given to others when it has ended; the start time distinguishes them. */
interface ServiceProcess {
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
  // clock: when the machine was started
  return Number.isFinite(uptime) ? Date.now() - uptime * 1000 : undefined;
}

/** How many files a process has open; `undefined`: it is not ours to know. */
async function countOpenFiles(pid: number): Promise<number | undefined> {
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
interface UnitState {
  pid: number | undefined;
  /** Why it ended: `success`, `exit-code`, `signal`, `core-dump`, `oom-kill`, ... */
  result: string;
  /** The signal or the exit code it ended with, if it has. */
  signal: number | undefined;
  exitCode: number | undefined;
  restarts: number;
}

/** `undefined`: there is no systemd, it does not respond, or it does not know the unit. */
function readUnit(unit: string): Promise<UnitState | undefined> {
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
