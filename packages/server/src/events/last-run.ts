import { readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@porthole/logs';
import { hasCode } from '../errors.ts';

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
export interface UnfinishedRun extends Run {
  aliveMs: number;
}

/** The file that exists while the node runs; its modification time says when the node was last alive. */
export class RunMark {
  readonly #path: string;

  constructor(dir: string) {
    this.#path = join(dir, FILE_NAME);
  }

  /** The run that was killed, if one was, and writes the mark of this one. */
  async begin(run: Omit<Run, 'boot'>): Promise<UnfinishedRun | undefined> {
    const unfinished = await this.#read();
    const text = JSON.stringify({ ...run, boot: await bootId() });
    await replaceFile(this.#path, text);
    return unfinished;
  }

  async alive(nowMs: number): Promise<void> {
    await utimes(this.#path, nowMs / 1000, nowMs / 1000);
  }

  async end(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #read(): Promise<UnfinishedRun | undefined> {
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
