import { randomBytes } from 'node:crypto';
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '@porthole/contract';
import { ProgramError } from '../../exit.ts';
import { exchange, type Received, type Sent, type Target } from './exchange.ts';

/** The three operations of the interface. */
export const ROUTES = { config: '/api/v1/config', list: '/api/v1/log/list', view: '/api/v1/log/view' } as const;

export interface LogEntry {
  name: string;
  size: number;
}

/** Larger than any file that is viewed wholly, in bytes and in lines. */
export const WHOLE = 64 * 1024 * 1024;

/** Some nodes list their directory only now and then. */
const LISTED_WITHIN_MS = 2000;

export class LateError extends Error {
  override readonly name = 'LateError';
}

/** The node, what it was asked, and the directory whose files it shows, if that may be written to. */
export class NodeUnderTest {
  readonly files: TestFiles | undefined;
  /** Responses that are not complete HTTP messages, with the request of each. */
  readonly badFrames: string[] = [];
  /** What it listed before anything was written, if that was nothing. */
  emptyList: string | undefined;
  readonly #target: Target;
  /** Of the check that runs. */
  #deadline: AbortSignal | undefined;

  constructor(target: Target, files?: TestFiles) {
    this.#target = target;
    this.files = files;
  }

  /** Runs one check. Its requests end at the deadline, and it throws `LateError`: a node can answer slowly for ever. */
  async inTime<T>(deadline: AbortSignal, check: () => Promise<T>): Promise<T> {
    this.#deadline = deadline;
    try {
      return await check();
    } catch (error) {
      if (deadline.aborted && !this.#target.signal.aborted)
        throw new LateError('it did not end in time', { cause: error });
      throw error;
    } finally {
      this.#deadline = undefined;
    }
  }

  async send(path: string, sent: Sent = {}): Promise<Received> {
    const { signal } = this.#target;
    const until = this.#deadline ? AbortSignal.any([signal, this.#deadline]) : signal;
    const response = await exchange({ ...this.#target, signal: until }, path, sent);
    // What happens during a view may rightly cut it.
    if (sent.during === undefined) {
      const what = `${sent.method ?? 'GET'} ${path}${sent.query?.file === undefined ? '' : ` of ${quote(sent.query.file)}`}`;
      if (response.failure !== undefined) this.badFrames.push(`${what}: ${response.failure}`);
      else if (!response.isDelimited) this.badFrames.push(`${what}: neither Content-Length nor chunks`);
    }
    return response;
  }

  view(file: string, size?: number, sent: Sent = {}): Promise<Received> {
    return this.send(ROUTES.view, { ...sent, query: { file, ...(size !== undefined && { size: String(size) }) } });
  }

  /** The entries that have the right shape; a case of its own checks that all have it. */
  async list(): Promise<LogEntry[]> {
    const value = parseJson((await this.send(ROUTES.list)).body);
    return Array.isArray(value) ? value.filter(isEntry) : [];
  }

  /** Writes a file into the log directory and waits until the node lists it; `false`: it does not. */
  async show(files: TestFiles, label: string, content: string | Uint8Array): Promise<boolean> {
    return this.isListed(await files.write(label, content));
  }

  async isListed(name: string, withinMs = LISTED_WITHIN_MS): Promise<boolean> {
    const giveUpAt = performance.now() + withinMs;
    for (;;) {
      if ((await this.list()).some((entry) => entry.name === name)) return true;
      if (performance.now() > giveUpAt) return false;
      await sleep(200);
    }
  }
}

/** Files that are written into the log directory of the node, and removed again; others are never touched. */
export class TestFiles {
  readonly dir: string;
  /** With a random part: nothing that exists is replaced. */
  readonly #prefix = `porthole-conform-${randomBytes(4).toString('hex')}-`;
  readonly #names = new Set<string>();

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async open(dir: string): Promise<TestFiles> {
    try {
      if (!(await stat(dir)).isDirectory()) throw new Error('not a directory');
    } catch (error) {
      throw new ProgramError(`--log-dir ${dir}: ${errorMessage(error)}`, { cause: error });
    }
    return new TestFiles(dir);
  }

  /** The name of the file with this label. */
  name(label: string): string {
    const name = this.#prefix + label;
    this.#names.add(name);
    return name;
  }

  path(label: string): string {
    return join(this.dir, this.name(label));
  }

  async write(label: string, content: string | Uint8Array): Promise<string> {
    try {
      await writeFile(this.path(label), content);
    } catch (error) {
      throw new ProgramError(`--log-dir must be writable: ${errorMessage(error)}`, { cause: error });
    }
    return this.name(label);
  }

  async link(label: string, to: string): Promise<string> {
    await symlink(to, this.path(label));
    return this.name(label);
  }

  async makeDirectory(label: string): Promise<string> {
    await mkdir(this.path(label));
    return this.name(label);
  }

  /** Removes all of them. */
  async clear(): Promise<void> {
    for (const name of this.#names) await rm(join(this.dir, name), { recursive: true, force: true });
  }
}

/** Numbered lines in the format of the interface, each of the same length. */
export function makeLines(count: number, label: string): string {
  const line = (index: number) =>
    `2026-01-01 00:00:00.000\tINFO\tconform/${label}.go:1\t[Conform]: line ${String(index).padStart(8, '0')}\n`;
  return Array.from({ length: count }, (_, index) => line(index)).join('');
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEntry(value: unknown): value is LogEntry {
  return isObject(value) && typeof value.name === 'string' && isCount(value.size);
}

/** A whole number that a program can count with. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Something of the node in a message: short, and without control characters. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
