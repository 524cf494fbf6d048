import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry } from './log-files.ts';

/** How far a log was shipped, as it is kept on disk. */
export interface ShippedState {
  /** Of the file. */
  version: 1;
  log: string;
  /** The highest version of a row so far: a row that replaces another must have a higher one. */
  shippedMs: number;
  /** Time of the newest record that was shipped. */
  toMs: number | null;
  records: number;
  lostBytes: number;
  losses: number;
  files: FileEntry[];
}

/** Written by us, but a disk can return anything. */
const MAX_BYTES = 4 * 1024 ** 2;

/** The durable position of one log. */
export class PositionFile {
  readonly #dir: string;
  readonly #path: string;
  readonly #log: string;

  constructor(dir: string, log: string) {
    this.#dir = dir;
    this.#log = log;
    // Names of logs may contain slashes, and more characters than a file name.
    this.#path = join(dir, `${createHash('sha256').update(log).digest('hex').slice(0, 32)}.json`);
  }

  /** `undefined` if there is none, or if it is damaged: then the archive knows what it has. */
  async read(): Promise<ShippedState | undefined> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return text.length > MAX_BYTES ? undefined : parseState(text, this.#log);
  }

  /** Replaces it as a whole: after a crash it is the old one or the new one. */
  async write(state: ShippedState): Promise<void> {
    const aside = `${this.#path}.new`;
    const file = await open(aside, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(state));
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(aside, this.#path);
    const dir = await open(this.#dir, 'r');
    try {
      await dir.sync();
    } finally {
      await dir.close();
    }
  }
}

function parseState(text: string, log: string): ShippedState | undefined {
  let state: Partial<ShippedState>;
  try {
    state = JSON.parse(text) as Partial<ShippedState>;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const isState = state.version === 1 && state.log === log && Array.isArray(state.files) && state.files.every(isEntry);
  return isState ? (state as ShippedState) : undefined;
}

function isEntry(value: unknown): boolean {
  const { id, hash, headBytes, end, lastOffset, cursor, beforeMs, size, seen } = (value ?? {}) as Partial<FileEntry>;
  const numbers = [headBytes, end, lastOffset, beforeMs, size, seen];
  const texts = [id, hash, cursor ?? ''];
  return numbers.every((number) => Number.isSafeInteger(number)) && texts.every((part) => typeof part === 'string');
}
