import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry, GoneFiles } from './log-files.ts';

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
  /** Records without a time. */
  untimed: number;
  /** By how much times went back at most. */
  disorderMs: number;
  /** Files that are no longer listed below. */
  forgotten: GoneFiles;
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
    await replaceFile(this.#dir, this.#path, [JSON.stringify(state)]);
  }
}

/** After a crash, a file of the directory has its old content or its new one. */
export async function replaceFile(dir: string, path: string, parts: readonly (string | Buffer)[]): Promise<void> {
  const aside = `${path}.new`;
  const file = await open(aside, 'w', 0o600);
  try {
    for (const part of parts) await file.writeFile(part);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
  const directory = await open(dir, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Nothing is shipped. */
export function emptyState(log: string): ShippedState {
  const counts = { records: 0, untimed: 0, disorderMs: 0, lostBytes: 0, losses: 0 };
  return { version: 1, log, shippedMs: 0, toMs: null, ...counts, forgotten: { count: 0, toMs: 0 }, files: [] };
}

/** With files of which nothing is shipped yet. */
export function withNewFiles(state: ShippedState, files: readonly FileEntry[], shippedMs: number): ShippedState {
  const saved = new Map(state.files.map((entry) => [entry.id, entry]));
  const fresh = { end: 0, lastOffset: 0, cursor: null, beforeMs: 0, toMs: null, seen: 0 };
  const merged = files.map((entry) => {
    const { hash, headBytes } = entry;
    return { ...entry, ...fresh, ...saved.get(entry.id), hash, headBytes };
  });
  return { ...state, shippedMs, files: merged };
}

function parseState(text: string, log: string): ShippedState | undefined {
  let state: Partial<ShippedState>;
  try {
    state = JSON.parse(text) as Partial<ShippedState>;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const isState = state.version === 1 && state.log === log && areEntries(state.files);
  return isState ? { ...emptyState(log), ...state } : undefined;
}

export function areEntries(files: unknown): files is FileEntry[] {
  return Array.isArray(files) && files.every(isEntry);
}

function isEntry(value: unknown): boolean {
  const { id, hash, headBytes, end, lastOffset, cursor, beforeMs, size, seen } = (value ?? {}) as Partial<FileEntry>;
  const numbers = [headBytes, end, lastOffset, beforeMs, size, seen];
  const texts = [id, hash, cursor ?? ''];
  return numbers.every((number) => Number.isSafeInteger(number)) && texts.every((part) => typeof part === 'string');
}
