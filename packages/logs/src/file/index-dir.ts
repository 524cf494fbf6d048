import { createHash, pbkdf2, randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeFd, openFd, readFd, statFd } from '../fs-calls.ts';
import { isSystemError, systemCode } from '../log-error.ts';
import type { Scrubbing, ScrubRules } from '../scrub/scrubber.ts';
import { KEPT, Shared } from '../shared.ts';
import { replaceFile } from './replace-file.ts';

/** Names of what it keeps. Everything else in the directory is neither read nor removed. */
const ENTRY_NAME = /^[0-9a-f]{32}\.(?:blocks|text)$/;
const SALT_NAME = 'salt';
const SALT_BYTES = 32;

/** After a failed write (disk full, read-only), none is tried for this long; then the next one, within the minute. */
const RETRY_MS = 30_000;

/** The modification time of a file is when it was last used; not updated more often than this. */
const TOUCH_MS = 3_600_000;

export interface IndexKeeperTimes {
  /** How long no search has been running before anything is written; for tests. */
  idleMs?: number | undefined;
  /** How long something waits at most while searches run, and after a failure; for tests. */
  latestMs?: number | undefined;
}

export interface IndexDirOptions {
  dir: string;
  /** Bytes that all files together may use, with this many bytes of logs. */
  maxBytes(logBytes: number): number;
  /** The version of the program: another one may read formats differently. */
  version: string;
  /** When something is written; for tests. */
  times?: IndexKeeperTimes;
  /** Called once for each kind of problem, until there is none any more. */
  onProblem?(message: string): void;
}

export interface IndexDirUsage {
  bytes: number;
  files: number;
  /** Files removed because they were damaged. */
  dropped: number;
  /** Files removed to keep the limit. */
  evicted: number;
  /** Why the last attempt to read or write failed; `undefined` if it did not. */
  problem: string | undefined;
}

interface Entry {
  bytes: number;
  usedMs: number;
  /** Its modification time. */
  touchedMs: number;
}

/**
 * A private directory of files that only save time: anyone may delete them at any time, and what cannot be read or
 * written is just not there. Within its limit, the least recently used file is removed first. Several processes may use
 * it at the same time. Created with its first file.
 */
export class IndexDir {
  readonly #dir: string;
  readonly #maxBytes: (logBytes: number) => number;
  readonly #onProblem: (message: string) => void;
  /** Known once it was listed, which only writing and trimming need. */
  #entries = new Map<string, Entry>();
  readonly #listed = new Shared<boolean>(KEPT);
  readonly #checked = new Shared<boolean>(KEPT);
  readonly #salt = new Shared<Buffer | undefined>(KEPT);
  #logBytes = 0;
  readonly #waitMs: number;
  #retryMs = 0;
  #problem: string | undefined;
  #dropped = 0;
  #evicted = 0;

  constructor({ dir, maxBytes, times, onProblem = () => {} }: IndexDirOptions) {
    this.#waitMs = Math.min(RETRY_MS, times?.latestMs ?? RETRY_MS);
    this.#dir = dir;
    this.#maxBytes = maxBytes;
    this.#onProblem = onProblem;
  }

  get usage(): IndexDirUsage {
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += entry.bytes;
    return { bytes, files: this.#entries.size, dropped: this.#dropped, evicted: this.#evicted, problem: this.#problem };
  }

  /** Bytes that may still be added without removing anything. */
  get freeBytes(): number {
    return this.#maxBytes(this.#logBytes) - this.usage.bytes;
  }

  /** The limit may depend on the size of all logs. */
  noteLogBytes(bytes: number): void {
    this.#logBytes = bytes;
  }

  /** Random bytes that stay the same; `undefined` if there are none yet and they are not to be created, or cannot be. */
  async salt({ create }: { create: boolean }): Promise<Buffer | undefined> {
    const salt = await this.#salt.run(() => this.#guard(() => this.#readSalt(create)));
    if (!salt) this.#salt.forget();
    return salt;
  }

  /** A descriptor to read the file, which the caller closes. */
  async openRead(name: string): Promise<number | undefined> {
    if (!(await this.#check())) return undefined;
    const fd = await this.#guard(() => this.#open(name, constants.O_RDONLY));
    if (fd !== undefined) await this.#guard(() => this.#touch(name, fd));
    return fd;
  }

  /** A descriptor to append to the file, if it exists. The caller closes it. */
  async openAppend(name: string): Promise<number | undefined> {
    if (!(await this.#prepareWrite())) return undefined;
    return this.#guard(() => this.#open(name, constants.O_RDWR | constants.O_APPEND));
  }

  /** Replaces the file in one step. Returns whether it could. */
  async write(name: string, bytes: Uint8Array): Promise<boolean> {
    if (!(await this.#prepareWrite())) return false;
    const done = await this.#guard(async () => {
      await replaceFile(join(this.#dir, name), bytes);
      this.noteSize(name, bytes.length);
      return true;
    });
    return done ?? false;
  }

  /** Called after something was written successfully. */
  noteSize(name: string, bytes: number): void {
    // clock: ages of files, which outlive the process
    this.#entries.set(name, { bytes, usedMs: Date.now(), touchedMs: Date.now() });
    this.#problem = undefined;
  }

  /** A file that is still open was used again. */
  noteUse(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    entry.usedMs = Date.now(); // clock: ages of files, which outlive the process
    if (entry.usedMs - entry.touchedMs < TOUCH_MS) return;
    entry.touchedMs = entry.usedMs;
    void this.#guard(() => touch(join(this.#dir, name), entry.usedMs));
  }

  /** Removes a damaged file. */
  async drop(name: string): Promise<void> {
    this.#dropped++;
    await this.#remove(name);
  }

  /**
   * Removes the least recently used files until the limit is kept with this many bytes more; only such that were not
   * used for some time. Returns whether it is kept.
   */
  async trim(moreBytes = 0, idleMs = 0): Promise<boolean> {
    const beforeMs = Date.now() - idleMs; // clock: ages of files, which outlive the process
    const idle = [...this.#entries].filter(([, { usedMs }]) => usedMs <= beforeMs);
    const idleBytes = idle.reduce((sum, [, { bytes }]) => sum + bytes, 0);
    // Nothing is removed in vain.
    if (this.freeBytes + idleBytes < moreBytes) return false;
    for (const [name] of idle.sort(([, a], [, b]) => a.usedMs - b.usedMs)) {
      if (this.freeBytes >= moreBytes) break;
      this.#evicted++;
      await this.#remove(name);
    }
    return this.freeBytes >= moreBytes;
  }

  /** Lists the directory, again: another process may have changed it. */
  async refresh(): Promise<void> {
    this.#checked.forget();
    this.#listed.forget();
    if (await this.#check()) await this.#list();
  }

  /** Reports that a file that was opened cannot be read or written. Errors of other kinds are thrown. */
  async noteFailure(error: unknown): Promise<undefined> {
    await this.#guard(() => Promise.reject(error));
    return undefined;
  }

  async #remove(name: string): Promise<void> {
    this.#entries.delete(name);
    await this.#guard(() => rm(join(this.#dir, name), { force: true }));
  }

  async #prepareWrite(): Promise<boolean> {
    if (performance.now() < this.#retryMs || this.#maxBytes(this.#logBytes) <= 0) return false;
    if (!(await this.#check())) {
      await this.#guard(() => mkdir(this.#dir, { recursive: true, mode: 0o700 }));
      if (!(await this.#check())) return false;
    }
    return this.#list();
  }

  /** Whether the directory exists and is private. */
  async #check(): Promise<boolean> {
    const isUsable = await this.#checked.run(async () => (await this.#guard(() => this.#checkDir())) ?? false);
    if (!isUsable) this.#checked.forget();
    return isUsable;
  }

  async #checkDir(): Promise<boolean> {
    const stats = await lstat(this.#dir, { bigint: true }).catch(undefinedIfMissing);
    if (!stats) return false;
    if (!stats.isDirectory()) throw new Refused(`${this.#dir} is not a directory`);
    if (!isOwn(stats)) throw new Refused(`${this.#dir} belongs to another user`);
    if (isOpenToOthers(stats)) await chmod(this.#dir, 0o700);
    return true;
  }

  async #list(): Promise<boolean> {
    const isListed = await this.#listed.run(async () => (await this.#guard(() => this.#readEntries())) ?? false);
    if (!isListed) this.#listed.forget();
    return isListed;
  }

  async #readEntries(): Promise<boolean> {
    const entries = new Map<string, Entry>();
    for (const name of await readdir(this.#dir)) {
      if (!ENTRY_NAME.test(name)) continue;
      const stats = await lstat(join(this.#dir, name)).catch(undefinedIfMissing);
      if (!stats?.isFile()) continue;
      const { size: bytes, mtimeMs } = stats;
      entries.set(name, { bytes, usedMs: mtimeMs, touchedMs: mtimeMs });
    }
    this.#entries = entries;
    return true;
  }

  /** What is not a file of this user's is removed: in a private directory, it is there by mistake. */
  async #open(name: string, flags: number): Promise<number | undefined> {
    const opened = await openOwn(join(this.#dir, name), flags);
    if (opened === 'refused') await this.drop(name);
    return typeof opened === 'number' ? opened : undefined;
  }

  async #touch(name: string, fd: number): Promise<void> {
    this.noteUse(name);
    const nowMs = Date.now(); // clock: ages of files, which outlive the process
    const { mtimeMs } = await statFd(fd);
    if (nowMs - Number(mtimeMs) >= TOUCH_MS) await touch(join(this.#dir, name), nowMs);
  }

  async #readSalt(create: boolean): Promise<Buffer | undefined> {
    const known = (await this.#check()) ? await this.#existingSalt() : undefined;
    if (known || !create || !(await this.#prepareWrite())) return known;
    await replaceFile(join(this.#dir, SALT_NAME), randomBytes(SALT_BYTES), { keep: true });
    return this.#existingSalt();
  }

  async #existingSalt(): Promise<Buffer | undefined> {
    const fd = await this.#open(SALT_NAME, constants.O_RDONLY);
    if (fd === undefined) return undefined;
    try {
      const salt = Buffer.alloc(SALT_BYTES);
      if ((await readFd(fd, salt, { position: 0, length: SALT_BYTES })) === SALT_BYTES) return salt;
    } finally {
      await closeFd(fd);
    }
    await this.drop(SALT_NAME);
    return undefined;
  }

  /** Runs a step; a failure of the file system only means that there is no result, and is reported once. */
  async #guard<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof Refused) && !isSystemError(error)) throw error;
      this.#fail(error instanceof Refused ? error.message : `${this.#dir}: ${systemCode(error)}`);
      return undefined;
    }
  }

  #fail(message: string): void {
    this.#retryMs = performance.now() + this.#waitMs;
    if (this.#problem === message) return;
    this.#problem = message;
    this.#onProblem(message);
  }
}

/** The directory is not one that can be trusted. */
class Refused extends Error {}

function touch(path: string, timeMs: number): Promise<void> {
  return utimes(path, new Date(timeMs), new Date(timeMs));
}

const OTHERS = 0o077n;

function isOwn({ uid }: BigIntStats): boolean {
  return process.geteuid === undefined || uid === BigInt(process.geteuid());
}

function isOpenToOthers({ mode }: BigIntStats): boolean {
  return (mode & OTHERS) !== 0n;
}

/** A descriptor of the file, if it is a regular one of this user, and not a link. Others lose their access to it. */
async function openOwn(path: string, flags: number): Promise<number | 'missing' | 'refused'> {
  let fd: number;
  try {
    fd = await openFd(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return 'missing';
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR') return 'refused';
    throw error;
  }
  try {
    const stats = await statFd(fd);
    if (stats.isFile() && isOwn(stats)) {
      if (isOpenToOthers(stats)) await chmod(path, 0o600);
      return fd;
    }
  } catch (error) {
    await closeFd(fd);
    throw error;
  }
  await closeFd(fd);
  return 'refused';
}

function undefinedIfMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

/** Changes with every change of what the files contain or mean. */
const VERSION = 1;

/**
 * The names of files depend on the masked secrets. They are kept as a slow, salted hash, so that who gets hold of the
 * directory cannot guess them at the speed of a plain one. Takes some milliseconds.
 */
const ROUNDS = 10_000;
const FINGERPRINT_BYTES = 16;

const derive = promisify(pbkdf2);

/** What is kept: summaries of blocks, or which grams they contain. */
type IndexKind = 'blocks' | 'text';

/** Names files by what their content depends on: the same in another process with the same rules. */
export class IndexKeys {
  readonly #dir: IndexDir;
  readonly #version: string;
  readonly #scrubbing: Scrubbing;
  #fingerprint: { id: string; value: Shared<string | undefined> } | undefined;

  constructor(dir: IndexDir, { version, scrubbing }: { version: string; scrubbing: Scrubbing }) {
    this.#dir = dir;
    this.#version = `${VERSION}:${version}:${process.versions.tz ?? ''}`;
    this.#scrubbing = scrubbing;
  }

  /**
   * The name of the file for a text with these properties. `scrubId`: of the rules it is masked by, which must be the
   * current ones; empty: none. `undefined`: it has none, or none yet and `create` is not set.
   */
  async name(
    kind: IndexKind,
    { scrubId, parts, create }: { scrubId: string; parts: readonly (string | number)[]; create: boolean },
  ): Promise<string | undefined> {
    const fingerprint = await this.#rulesFingerprint(scrubId, create);
    if (fingerprint === undefined) return undefined;
    const hash = createHash('sha256').update(JSON.stringify([this.#version, kind, fingerprint, ...parts]));
    return `${hash.digest('hex').slice(0, 32)}.${kind}`;
  }

  async #rulesFingerprint(id: string, create: boolean): Promise<string | undefined> {
    if (id === '') return '';
    const rules = this.#scrubbing.current?.rules;
    if (rules?.id !== id) return undefined;
    if (this.#fingerprint?.id !== id) this.#fingerprint = { id, value: new Shared(KEPT) };
    const value = await this.#fingerprint.value.run(() => this.#derive(rules, create));
    if (value === undefined && this.#fingerprint?.id === id) this.#fingerprint = undefined;
    return value;
  }

  async #derive({ table, patterns }: ScrubRules, create: boolean): Promise<string | undefined> {
    if (!table) return JSON.stringify(patterns);
    const salt = await this.#dir.salt({ create });
    if (!salt) return undefined;
    const secrets = Buffer.concat([
      Buffer.from(`${JSON.stringify(patterns)}${table.starts.join()}:`),
      Buffer.from(table.bytes),
    ]);
    return (await derive(secrets, salt, ROUNDS, FINGERPRINT_BYTES, 'sha256')).toString('hex');
  }
}
