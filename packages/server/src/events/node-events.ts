import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rm, stat, statfs, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type ConfigHistory,
  type ConfigValue,
  compareValues,
  type StoredConfig,
  toStoredConfig,
} from '@porthole/cluster/past';
import { errorMessage, type VersionChange } from '@porthole/contract';
import { replaceFile } from '@porthole/logs';
import { owned } from '@porthole/logs/shared';
import type { ConfigSource } from '../config/service-config.ts';
import { hasCode } from '../errors.ts';
import type { Logger } from '../own-log/own-log.ts';
import type { EventLog } from './event-log.ts';

/** How exactly the end of a killed node is known. */
const ALIVE_EVERY_MS = 2000;

const CONFIG_EVERY_MS = 5000;
const CONFIG_WAIT_MS = 1000;
const DISK_EVERY_MS = 60_000;

/** Smaller jumps are corrections that any time service makes. */
const STEP_MS = 2000;

/** A disk is nearly full at this share in use, and no more so below the other. */
const FULL_SHARE = 0.95;
const ROOM_SHARE = 0.93;

/** A certificate is renewed weeks before its end; days before, somebody has to renew it. */
const EXPIRES_WITHIN_MS = 7 * 86_400_000;

/** Configurations that wait for a disk that cannot be written; the oldest are given up. */
const MAX_WAITING = 20;

/** Keys that an event names; the history has all of them. */
const MAX_NAMED_KEYS = 20;

interface NodeEventsDeps {
  log: EventLog;
  mark: RunMark;
  history: ConfigHistory;
  config: ConfigSource;
  version: string;
  startedMs: number;
  /** Where the node writes, and the logs it shows. */
  dirs: readonly string[];
  /** The certificate file as it is now, as PEM: it is renewed while the node runs. `undefined` without one. */
  certificate(): Promise<string | undefined>;
  ownLog: Logger;
  now?: () => number;
  /** Monotonic. */
  runningMs?: () => number;
}

/** Watches what happens to the node itself, and writes the events. */
export class NodeEvents {
  readonly #deps: NodeEventsDeps;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #full = new Set<string>();
  #config: StoredConfig | undefined;
  /** Not written yet, oldest first. */
  #unwritten: readonly StoredConfig[] = [];
  #values: readonly ConfigValue[] | undefined;
  #differs = '';
  #clock: { wallMs: number; runningMs: number };
  readonly #running = new Set<Promise<void>>(); // kept: never rejects: each is owned, and reports its failure
  #isClosed = false;
  #problem = '';
  /** Why configurations are not written to the history now. */
  historyProblem: string | undefined;

  constructor(deps: NodeEventsDeps) {
    this.#deps = deps;
    this.#clock = this.#readClock();
  }

  get log(): EventLog {
    return this.#deps.log;
  }

  /** Writes how the last run ended and that this one has begun. */
  async start(): Promise<void> {
    const { log, mark, version, startedMs } = this.#deps;
    const killed = await mark.read().catch((error: unknown) => this.#report(error));
    await this.#attempt(() => mark.begin({ pid: process.pid, startedMs, version }));
    if (killed) {
      const isReboot = killed.boot !== '' && killed.boot !== (await bootId());
      const why = isReboot ? 'the machine was restarted' : 'the process was killed or crashed';
      const aliveMs = Math.max(killed.aliveMs, log.past.at(-1)?.timeMs ?? 0);
      log.write({
        kind: 'killed',
        timeMs: Math.min(aliveMs, startedMs),
        message: `the node ended without stopping: ${why}`,
        cause: `killed ${killed.startedMs} ${killed.pid}`,
        fields: { pid: killed.pid, run: killed.startedMs, uncertaintyMs: ALIVE_EVERY_MS, isReboot },
      });
    }
    const before = this.#lastValue('version');
    if (before !== undefined && before !== version)
      log.write({
        kind: 'version-changed',
        message: `the version changed from ${before} to ${version}`,
        fields: { before, version },
      });
    await this.#soon(this.#attempt(() => this.#checkConfig('restart')));
    log.write({
      kind: 'started',
      message: `the node started, version ${version}`,
      fields: { version, pid: process.pid, ...(this.#config && { config: this.#config.version }) },
    });
    await log.flush();
    this.#every(ALIVE_EVERY_MS, () => this.#checkClock());
    this.#every(CONFIG_EVERY_MS, () => this.#checkConfig('edit'));
    this.#every(DISK_EVERY_MS, () => this.#checkMachine());
    await this.#attempt(() => this.#checkMachine());
  }

  /** Resolves when the checks that have begun are done. */
  async checked(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Writes that the node stops, and stops watching. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#deps.log.write({ kind: 'stopped', message: 'the node stopped', fields: { run: this.#deps.startedMs } });
    await this.#deps.log.close();
    await this.#deps.mark.end();
  }

  /** A start does not wait for a configuration that takes long: it is compared when it is there. */
  async #soon(check: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CONFIG_WAIT_MS);
    });
    await Promise.race([check, late]);
    clearTimeout(timer);
  }

  /** Skips a check whose last one is still running: a program may never return its configuration. */
  #every(ms: number, check: () => Promise<void>): void {
    let isRunning = false;
    const run = () => {
      if (isRunning || this.#isClosed) return;
      isRunning = true;
      const done = this.#attempt(check).finally(() => {
        isRunning = false;
        this.#running.delete(done);
      });
      this.#running.add(done);
    };
    this.#timers.push(setInterval(run, ms).unref());
  }

  /** What cannot be read now, like the configuration of a service that is not installed yet, is tried again later. */
  #attempt(check: () => Promise<void>): Promise<void> {
    return owned(check(), (error) => this.#report(error));
  }

  /** Once for each problem: a full disk would fill the log too. */
  #report(error: unknown): undefined {
    const problem = errorMessage(error);
    if (problem !== this.#problem) this.#deps.ownLog.warn('events', 'what happens cannot be watched', { problem });
    this.#problem = problem;
  }

  #lastValue(field: string): string | undefined {
    const found = this.log.past.findLast(({ fields }) => typeof fields[field] === 'string');
    return found?.fields[field] as string | undefined;
  }

  #readClock(): { wallMs: number; runningMs: number } {
    // clock: steps of the clock are what is watched
    const { now = Date.now, runningMs = () => performance.now() } = this.#deps;
    return { wallMs: now(), runningMs: runningMs() };
  }

  async #checkClock(): Promise<void> {
    const before = this.#clock;
    const now = this.#readClock();
    this.#clock = now;
    const stepMs = Math.round(now.wallMs - before.wallMs - (now.runningMs - before.runningMs));
    if (Math.abs(stepMs) >= STEP_MS)
      this.log.write({
        kind: 'clock-stepped',
        message: `the clock was set ${stepMs > 0 ? 'forward' : 'back'} by ${Math.abs(stepMs) / 1000} s`,
        fields: { stepMs, beforeMs: Math.round(now.wallMs - stepMs) },
      });
    await this.#deps.mark.alive(now.wallMs);
  }

  /** Compares what the node shows with what it showed last, and its file with what it runs with. */
  async #checkConfig(how: 'restart' | 'edit'): Promise<void> {
    const { config } = this.#deps;
    await this.#writeHistory();
    const { text, values } = await config.current();
    const known = this.#values;
    this.#values = values;
    if (text !== this.#config?.config) {
      const before = this.#config ?? (await this.#lastConfig());
      this.#config = toStoredConfig(text, values);
      this.#unwritten = [...this.#unwritten, this.#config].slice(-MAX_WAITING);
      if (before) this.#reportChange(before, compareValues(before.settings, values), how);
    } else if (known) this.#reportChange(this.#config, compareValues(known, values), how);
    await this.#writeHistory();
    if (config.observes === 'self') this.#reportFile((await config.settings()).disk.differs);
  }

  /** What a disk does not take now is tried again with each check: the event that names it is written either way. */
  async #writeHistory(): Promise<void> {
    try {
      for (const stored of this.#unwritten) {
        await this.#deps.history.write(stored);
        this.#unwritten = this.#unwritten.filter((other) => other !== stored);
      }
      this.historyProblem = undefined;
    } catch (error) {
      this.historyProblem = errorMessage(error);
      this.#report(error);
    }
  }

  async #lastConfig(): Promise<StoredConfig | undefined> {
    const version = this.#lastValue('config');
    return version === undefined ? undefined : this.#deps.history.get(version);
  }

  #reportChange(before: StoredConfig, changes: readonly VersionChange[], how: 'restart' | 'edit'): void {
    if (changes.length === 0) return;
    const whose = this.#deps.config.observes === 'self' ? 'the configuration' : 'the configuration of the service';
    const since = how === 'restart' ? ' while the node was down' : '';
    this.log.write({
      kind: 'config-changed',
      message: `${whose} changed${since}: ${keysText(changes)}`,
      fields: {
        config: this.#config?.version,
        before: before.version,
        how,
        keys: changes.slice(0, MAX_NAMED_KEYS).map(({ key }) => key),
        changed: changes.length,
      },
    });
  }

  #reportFile(keys: readonly string[]): void {
    const differs = keys.join(' ');
    if (differs === this.#differs) return;
    this.#differs = differs;
    if (keys.length === 0) return;
    this.log.write({
      kind: 'config-file-differs',
      message: `the configuration file was edited and is not in use: ${keysText(keys.map((key) => ({ key })))}`,
      fields: { keys: keys.slice(0, MAX_NAMED_KEYS), changed: keys.length },
    });
  }

  async #checkMachine(): Promise<void> {
    for (const dir of new Set(this.#deps.dirs)) await this.#checkDisk(dir);
    await this.#checkCertificate();
  }

  async #checkDisk(dir: string): Promise<void> {
    const disk = await statfs(dir).catch((error: unknown) => {
      // A log directory may be created later; the health of the node reports that it is missing.
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    if (!disk) return;
    const { blocks, bavail, bfree, bsize } = disk;
    // As `df` counts: what only root may use is not available.
    const used = (blocks - bfree) / Math.max(1, blocks - bfree + bavail);
    if (used < ROOM_SHARE) this.#full.delete(dir);
    if (used < FULL_SHARE || this.#full.has(dir)) return;
    this.#full.add(dir);
    const freeBytes = bavail * bsize;
    this.log.write({
      kind: 'disk-nearly-full',
      message: `the disk of ${dir} is ${Math.floor(used * 100)} % full`,
      fields: { dir, freeBytes, usedPercent: Math.floor(used * 100) },
    });
  }

  async #checkCertificate(): Promise<void> {
    const pem = await this.#deps.certificate();
    if (pem === undefined) return;
    const { validTo, fingerprint256, subject } = new X509Certificate(pem);
    const endsMs = Date.parse(validTo);
    const leftMs = endsMs - (this.#deps.now ?? Date.now)(); // clock: steps of the clock are what is watched
    if (leftMs > EXPIRES_WITHIN_MS) return;
    const when = leftMs < 0 ? 'has expired' : `expires on ${new Date(endsMs).toISOString().slice(0, 10)}`;
    this.log.write({
      kind: 'certificate-expiring',
      message: `the certificate of this node ${when}`,
      cause: `certificate ${fingerprint256} ${leftMs < 0}`,
      fields: { endsMs, subject },
    });
  }
}

function keysText(changes: readonly Pick<VersionChange, 'key'>[]): string {
  const named = changes.slice(0, 3).map(({ key }) => key);
  const more = changes.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

const FILE_NAME = 'running.json';

/** A run of the node that has not ended yet, or was killed. */
export interface Run {
  pid: number;
  startedMs: number;
  version: string;
  /** Differs after the machine was restarted; empty where the system does not say. */
  boot: string;
}

/** An earlier run that did not say that it stops, and when it was last seen alive. */
interface UnfinishedRun extends Run {
  aliveMs: number;
}

/** The file that exists while the node runs; its modification time says when the node was last alive. */
export class RunMark {
  readonly #path: string;
  #text = '';
  #isWritten = false;

  constructor(dir: string) {
    this.#path = join(dir, FILE_NAME);
  }

  /** Writes the mark of this run; what a disk does not take now is written with the next sign of life. */
  async begin(run: Omit<Run, 'boot'>): Promise<void> {
    this.#text = JSON.stringify({ ...run, boot: await bootId() });
    await this.#write();
  }

  async alive(nowMs: number): Promise<void> {
    if (!this.#isWritten) await this.#write();
    await utimes(this.#path, nowMs / 1000, nowMs / 1000);
  }

  async #write(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await replaceFile(this.#path, this.#text);
    this.#isWritten = true;
  }

  async end(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  /** The run that was killed, if one was. Before `begin`. */
  async read(): Promise<UnfinishedRun | undefined> {
    try {
      const { mtimeMs } = await stat(this.#path);
      const value = JSON.parse(await readFile(this.#path, 'utf8')) as Partial<Run>;
      const { pid, startedMs, version, boot } = value;
      if (typeof pid !== 'number' || typeof startedMs !== 'number' || typeof version !== 'string') return undefined;
      return { pid, startedMs, version, boot: String(boot ?? ''), aliveMs: Math.max(startedMs, Math.floor(mtimeMs)) };
    } catch (error) {
      // Killed while it wrote the mark: then it ran for a moment only.
      if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

export async function bootId(): Promise<string> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
