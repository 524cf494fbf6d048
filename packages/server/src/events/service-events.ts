import { constants } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '@porthole/contract';
import { NO_WORK, type Owned, owned } from '@porthole/logs/shared';
import type { ConfigSource } from '../config/service-config.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { EventLog } from './event-log.ts';
import { bootId } from './last-run.ts';
import type { LogTallies } from './log-tallies.ts';
import {
  countOpenFiles,
  findListener,
  readBootMs,
  readPidFile,
  readProcess,
  readUnit,
  type ServiceProcess,
  type UnitState,
} from './service-process.ts';

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
  #startedMs = Date.now();
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
      fields: { pid, program, startedMs, uncertaintyMs: Date.now() - last.timeMs },
    });
  }

  async #reportStart({ pid, program, ticks, startedMs }: ServiceProcess): Promise<void> {
    const nowMs = Date.now();
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
    const uncertaintyMs = Date.now() - aliveMs;
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
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}
