import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { areEntries, replaceFile, type ShippedState } from './position-file.ts';

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
  /** See `RecordTarget`. */
  format: string;
  rows: number;
  /** Of the rows, not packed. */
  bytes: number;
  logs: readonly PendingLog[];
  packed: Buffer;
}

/** More than a batch can have, packed or not; written by us, but a disk can return anything. */
const MAX_BYTES = 64 * 1024 ** 2;

/** A first line of JSON says what the rest is. */
const NEWLINE = 10;

interface Head extends Omit<KeptBatch, 'packed'> {
  version: 1;
  sha256: string;
}

/** The batch in flight, on disk: whether it was stored is not known after a crash, so the very same one is sent again. */
export class PendingBatch {
  readonly #dir: string;
  readonly #path: string;

  constructor(dir: string) {
    this.#dir = dir;
    this.#path = join(dir, 'batch');
  }

  async write({ packed, ...batch }: KeptBatch): Promise<void> {
    const head: Head = { version: 1, sha256: hashOf(packed), ...batch };
    await replaceFile(this.#dir, this.#path, [`${JSON.stringify(head)}\n`, packed]);
  }

  /** `undefined` if there is none, or if it is damaged: then what is not known to be stored is read again. */
  async read(): Promise<KeptBatch | undefined> {
    let file: FileHandle;
    try {
      file = await open(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return (await file.stat()).size > MAX_BYTES ? undefined : parseBatch(await file.readFile());
    } finally {
      await file.close();
    }
  }

  /** It is stored. Not synced: if it is there again after a crash, it is sent again. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

function parseBatch(bytes: Buffer): KeptBatch | undefined {
  const end = bytes.indexOf(NEWLINE);
  const packed = bytes.subarray(end + 1);
  let head: Partial<Head> | null;
  try {
    head = JSON.parse(bytes.toString('utf8', 0, Math.max(0, end))) as Partial<Head> | null;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { version, sha256, format, rows, bytes: rowBytes, logs } = head ?? {};
  const areNumbers = Number.isSafeInteger(rows) && Number.isSafeInteger(rowBytes);
  if (version !== 1 || typeof format !== 'string' || !areNumbers || sha256 !== hashOf(packed)) return undefined;
  if (!Array.isArray(logs) || !logs.every(isPendingLog)) return undefined;
  return { format, rows: rows as number, bytes: rowBytes as number, logs, packed };
}

function isPendingLog(value: unknown): boolean {
  const { log, files, records, toMs, shippedMs, untimed, disorderMs, forgotten } = (value ?? {}) as Partial<PendingLog>;
  const numbers = [records, shippedMs, toMs ?? 0, untimed, disorderMs, forgotten?.count, forgotten?.toMs];
  const areNumbers = numbers.every((number) => Number.isSafeInteger(number));
  return typeof log === 'string' && areNumbers && areEntries(files);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
