import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { IndexDir, IndexKeys } from '../file/index-dir.ts';
import { closeFd, readFd, statFd } from '../fs-calls.ts';
import { isSystemError } from '../log-error.ts';
import type { BlockSummary } from '../scan/block/blocks.ts';
import { ONCE, Shared } from '../shared.ts';
import type { BlockIndexes, FileIndex } from './block-index.ts';

/** That of a terabyte of text. Anything larger was not written here. */
const MAX_FILE_BYTES = 512 * 1024 ** 2;

/** Few blocks are scanned in no time, and are not worth a file. */
const MIN_BLOCKS = 16;

/** What the summaries of a file depend on, besides its text. */
interface SummaryKey {
  scrubId: string;
  parts: readonly (string | number)[];
}

/** Keeps block summaries in files, so that they survive a restart. */
export class SummaryStore {
  readonly #dir: IndexDir;
  readonly #keys: IndexKeys;
  readonly #loading = new WeakMap<FileIndex, Shared<void>>();
  readonly #keyOf = new WeakMap<FileIndex, SummaryKey>();

  constructor(dir: IndexDir, keys: IndexKeys) {
    this.#dir = dir;
    this.#keys = keys;
  }

  /** Adds what is kept to a new index, once. */
  load(index: FileIndex, key: SummaryKey): Promise<void> {
    const loading = this.#loading.get(index) ?? new Shared<void>(ONCE);
    this.#loading.set(index, loading);
    return loading.run(() => {
      this.#keyOf.set(index, key);
      return this.#read(index, key);
    });
  }

  /** Writes what was learned since it was last written. Returns whether nothing is left. */
  async save(indexes: BlockIndexes): Promise<boolean> {
    let isSaved = true;
    for (const index of indexes.all()) {
      const key = this.#keyOf.get(index);
      if (!key || !index.isChanged || index.blockCount < MIN_BLOCKS) continue;
      await this.#loading.get(index)?.last();
      const name = await this.#keys.name('blocks', { ...key, create: true });
      if (name === undefined) {
        // It has none any more if the rules have changed, by which it is masked.
        if (this.#dir.usage.problem !== undefined) isSaved = false;
        continue;
      }
      // Before it is written: searches may learn more meanwhile.
      index.isChanged = false;
      if (!(await this.#dir.write(name, await encodeSummaries(index.toKeep())))) {
        index.isChanged = true;
        isSaved = false;
      }
      await this.#dir.trim();
    }
    return isSaved;
  }

  async #read(index: FileIndex, key: SummaryKey): Promise<void> {
    const name = await this.#keys.name('blocks', { ...key, create: false });
    const fd = name === undefined ? undefined : await this.#dir.openRead(name);
    if (name === undefined || fd === undefined) return;
    try {
      const bytes = await readWhole(fd);
      const kept = bytes && (await decodeSummaries(bytes));
      if (kept) index.restore(kept);
      else await this.#dir.drop(name);
    } finally {
      await closeFd(fd);
    }
  }
}

/** `undefined` if it cannot be read, or is too large to be what was written. */
async function readWhole(fd: number): Promise<Buffer | undefined> {
  try {
    const length = Number((await statFd(fd)).size);
    if (length > MAX_FILE_BYTES) return undefined;
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, await readFd(fd, buffer, { position: 0, length }));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/**
 * Layout, all numbers little-endian: magic, length of the stamp, number of summaries, the stamp, the summaries, and a
 * CRC-32 of everything before it.
 */
const MAGIC = 0x32_42_48_50; // "PHB2"
const HEADER_BYTES = 12;
const SUM_BYTES = 4;

/** Block, flags, check (bytes, hash). */
const BLOCK_HEAD_BYTES = 24;
/** Three times, seven levels, records without a time. */
const LEVELS = 7;
const ALL_BYTES = 24 + 4 * LEVELS + 4;

/** Read or written in about a millisecond, after which others may run. */
const BLOCKS_PER_TURN = 2048;

const HAS_ALL = 1;
const HAS_ERRORS = 2;
const IS_SCRUBBED = 4;
const IS_SETTLED = 8;

/** What is kept of the index of a file. */
export interface KeptSummaries {
  summaries: readonly BlockSummary[];
  /** The stamp of the file while the settled blocks were read; empty: none is. */
  stamp: string;
  settled: ReadonlySet<number>;
}

export async function encodeSummaries({ summaries, stamp, settled }: KeptSummaries): Promise<Buffer> {
  const stampBytes = Buffer.from(stamp);
  let length = HEADER_BYTES + stampBytes.length + SUM_BYTES;
  for (const { all } of summaries) length += BLOCK_HEAD_BYTES + (all ? ALL_BYTES : 0);
  const buffer = Buffer.alloc(length);
  buffer.writeUInt32LE(MAGIC, 0);
  buffer.writeUInt32LE(stampBytes.length, 4);
  buffer.writeUInt32LE(summaries.length, 8);
  stampBytes.copy(buffer, HEADER_BYTES);
  let at = HEADER_BYTES + stampBytes.length;
  for (const [index, summary] of summaries.entries()) {
    at = writeSummary(buffer, at, summary, settled.has(summary.block));
    if (index % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await nextTurn();
  }
  buffer.writeUInt32LE(crc32(buffer.subarray(0, at)), at);
  return buffer;
}

function writeSummary(buffer: Buffer, start: number, summary: BlockSummary, isSettled: boolean): number {
  const { block, all, hasErrors, check } = summary;
  const flags =
    (all ? HAS_ALL : 0) |
    (hasErrors ? HAS_ERRORS : 0) |
    (check.scrubbed ? IS_SCRUBBED : 0) |
    (isSettled ? IS_SETTLED : 0);
  buffer.writeUInt32LE(block, start);
  buffer.writeUInt32LE(flags, start + 4);
  buffer.writeDoubleLE(check.bytes, start + 8);
  buffer.writeDoubleLE(check.hash, start + 16);
  const at = start + BLOCK_HEAD_BYTES;
  if (!all) return at;
  for (const [index, timeMs] of [all.minMs, all.maxMs, all.lateMs].entries())
    buffer.writeDoubleLE(timeMs, at + 8 * index);
  for (let rank = 0; rank < LEVELS; rank++) buffer.writeUInt32LE(all.counts[rank] ?? 0, at + 24 + 4 * rank);
  buffer.writeUInt32LE(all.untimed, at + 24 + 4 * LEVELS);
  return at + ALL_BYTES;
}

/** `undefined`: these are not the bytes that were written. */
export async function decodeSummaries(buffer: Buffer): Promise<KeptSummaries | undefined> {
  const end = buffer.length - SUM_BYTES;
  if (end < HEADER_BYTES || buffer.readUInt32LE(0) !== MAGIC) return undefined;
  if (crc32(buffer.subarray(0, end)) !== buffer.readUInt32LE(end)) return undefined;
  let at = HEADER_BYTES + buffer.readUInt32LE(4);
  const count = buffer.readUInt32LE(8);
  const stamp = buffer.toString('utf8', HEADER_BYTES, at);
  const summaries: BlockSummary[] = [];
  const settled = new Set<number>();
  for (let index = 0; index < count; index++) {
    const { summary, isSettled, next } = readSummary(buffer, at);
    summaries.push(summary);
    if (isSettled) settled.add(summary.block);
    at = next;
    if (index % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await nextTurn();
  }
  return { summaries, stamp, settled };
}

function readSummary(buffer: Buffer, start: number): { summary: BlockSummary; isSettled: boolean; next: number } {
  const block = buffer.readUInt32LE(start);
  const flags = buffer.readUInt32LE(start + 4);
  const check = {
    bytes: buffer.readDoubleLE(start + 8),
    hash: buffer.readDoubleLE(start + 16),
    scrubbed: (flags & IS_SCRUBBED) !== 0,
  };
  let at = start + BLOCK_HEAD_BYTES;
  let all: BlockSummary['all'] = null;
  if ((flags & HAS_ALL) !== 0) {
    const counts: number[] = [];
    for (let rank = 0; rank < LEVELS; rank++) counts.push(buffer.readUInt32LE(at + 24 + 4 * rank));
    all = {
      minMs: buffer.readDoubleLE(at),
      maxMs: buffer.readDoubleLE(at + 8),
      lateMs: buffer.readDoubleLE(at + 16),
      counts,
      untimed: buffer.readUInt32LE(at + 24 + 4 * LEVELS),
    };
    at += ALL_BYTES;
  }
  const summary = { block, all, hasErrors: (flags & HAS_ERRORS) !== 0, check };
  return { summary, isSettled: (flags & IS_SETTLED) !== 0, next: at };
}
