import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '@porthole/contract';
import type { FileEntry, GoneFiles } from './log-files.ts';

/* What a node keeps on disk of shipping: how far each log was shipped, and the batch in flight. */

/** How far a log was shipped. */
export interface ShippedState {
  /** Version of the file's format. */
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

/** Where a batch ends in a log: what is shipped of it once the batch is stored. */
export type PendingLog = Omit<ShippedState, 'version' | 'lostBytes' | 'losses'>;

/** What is read of a log with a batch: saved as shipped once that is stored. */
export interface LogCheckpoint {
  state: PendingLog;
  /** Before it is sent for the first time. */
  prepare(): Promise<void>;
  /** After it was stored. */
  commit(): Promise<void>;
}

/** A batch that was about to be sent. */
export interface KeptBatch {
  /** See `ClickHouseSink`. */
  format: string;
  rows: number;
  /** Size of the rows, not packed. */
  bytes: number;
  logs: readonly PendingLog[];
  packed: Buffer;
}

/** Its first line. */
type Kept = Omit<KeptBatch, 'packed'> & { version: number; sha256: string };

/** More than is ever written: a disk can return anything. */
const MAX_STATE_BYTES = 4 * 1024 ** 2;
const MAX_BATCH_BYTES = 64 * 1024 ** 2;

/** The first line of a batch is JSON that says what the rest is. */
const NEWLINE = 10;

/** The durable position of one log. */
export class PositionFile {
  readonly #dir: string;
  readonly #path: string;
  readonly #log: string;

  constructor(dir: string, log: string) {
    this.#dir = dir;
    this.#log = log;
    this.#path = join(dir, positionName(log));
  }

  /** `undefined` if there is none, or if it is damaged: then the archive knows what it has. */
  async read(): Promise<ShippedState | undefined> {
    const bytes = await readSmall(this.#path, MAX_STATE_BYTES);
    const state = bytes && (parseJson(bytes.toString()) as Partial<ShippedState> | null | undefined);
    const isState = state?.version === 1 && state.log === this.#log && areEntries(state.files);
    return isState ? { ...emptyState(this.#log), ...state } : undefined;
  }

  /** Replaces it as a whole: after a crash it is the old one or the new one. */
  async write(state: ShippedState): Promise<void> {
    await replaceFile(this.#dir, this.#path, [JSON.stringify(state)]);
  }
}

/** Names of logs may contain slashes, and more characters than a file name. */
function positionName(log: string): string {
  return `${hashOf(log).slice(0, 32)}.json`;
}

/** How long the position of a log that is gone is kept: it may come back, as with a directory that is mounted again. */
export const KEEP_GONE_MS = 30 * 86_400_000;

/** Positions of logs that are gone, at most: those that are gone for longest are dropped first. */
export const MAX_GONE = 10_000;

/** Drops positions of logs that are gone for long, or of too many. To be called about once a day: it marks those of the others. */
export async function dropGonePositions(dir: string, present: Iterable<string>, nowMs: number): Promise<void> {
  const kept = new Set(Array.from(present, positionName));
  const gone: { path: string; seenMs: number }[] = [];
  for (const name of await readdir(dir)) {
    if (!/^[0-9a-f]{32}\.json$/.test(name)) continue;
    const path = join(dir, name);
    const now = new Date(nowMs);
    if (kept.has(name)) await utimes(path, now, now);
    else gone.push({ path, seenMs: (await stat(path)).mtimeMs });
  }
  gone.sort((a, b) => b.seenMs - a.seenMs);
  for (const [index, { path, seenMs }] of gone.entries())
    if (index >= MAX_GONE || nowMs - seenMs > KEEP_GONE_MS) await rm(path, { force: true });
}

/** The batch in flight: whether it was stored is not known after a crash, so the very same one is sent again. */
export class PendingBatch {
  readonly #dir: string;
  readonly #path: string;

  constructor(dir: string) {
    this.#dir = dir;
    this.#path = join(dir, 'batch');
  }

  async write({ packed, ...batch }: KeptBatch): Promise<void> {
    const head = { version: 1, sha256: hashOf(packed), ...batch };
    await replaceFile(this.#dir, this.#path, [`${JSON.stringify(head)}\n`, packed]);
  }

  /** `undefined` if there is none, or if it is damaged: then what is not known to be stored is read again. */
  async read(): Promise<KeptBatch | undefined> {
    const file = await readSmall(this.#path, MAX_BATCH_BYTES);
    if (!file) return undefined;
    const end = file.indexOf(NEWLINE);
    const packed = file.subarray(end + 1);
    const head = parseJson(file.toString('utf8', 0, Math.max(0, end))) as Partial<Kept> | null | undefined;
    const { version, sha256, format, rows, bytes, logs } = head ?? {};
    if (version !== 1 || typeof format !== 'string' || sha256 !== hashOf(packed)) return undefined;
    if (!areIntegers(rows, bytes) || !Array.isArray(logs) || !logs.every(isPendingLog)) return undefined;
    return { format, rows: rows as number, bytes: bytes as number, logs, packed };
  }

  /** It is stored. Not synced: if it is there again after a crash, it is sent again. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
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

/** `undefined` if there is no such file, or a larger one. */
async function readSmall(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return (await file.stat()).size > maxBytes ? undefined : await file.readFile();
  } finally {
    await file.close();
  }
}

/** After a crash, a file of the directory has its old content or its new one. */
async function replaceFile(dir: string, path: string, parts: readonly (string | Buffer)[]): Promise<void> {
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

function isPendingLog(value: unknown): boolean {
  const { log, files, records, toMs, shippedMs, untimed, disorderMs, forgotten } = (value ?? {}) as Partial<PendingLog>;
  const { count, toMs: forgottenToMs } = forgotten ?? {};
  const hasNumbers = areIntegers(records, shippedMs, toMs ?? 0, untimed, disorderMs, count, forgottenToMs);
  return typeof log === 'string' && hasNumbers && areEntries(files);
}

function areEntries(files: unknown): files is FileEntry[] {
  return Array.isArray(files) && files.every(isEntry);
}

function isEntry(value: unknown): boolean {
  const { id, hash, headBytes, end, lastOffset, cursor, beforeMs, size, seen } = (value ?? {}) as Partial<FileEntry>;
  const hasTexts = [id, hash, cursor ?? ''].every((part) => typeof part === 'string');
  return hasTexts && areIntegers(headBytes, end, lastOffset, beforeMs, size, seen);
}

function areIntegers(...values: unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value));
}

function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
