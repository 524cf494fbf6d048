import type { RecordsSummary } from '../../kernel/scan-kernel.ts';
import { levelRank } from '../../parse/level.ts';

export type { RecordsSummary } from '../../kernel/scan-kernel.ts';

const NEWLINE = 10;

/*
 * A file's text is scanned in blocks at multiples of BLOCK_BYTES. A record belongs to the block it starts in. A whole
 * block in which no record starts is filled by a record longer than a block: it is split there, at the first line start
 * of the block or, without one, near its middle, where it cannot cut off a head. An incomplete last block is never
 * split: a record must not be cut in two because a block boundary is near the end of the text. So the starts of records
 * follow from the bytes of one block alone, in either direction, no record is longer than two blocks, and a line of
 * gigabytes costs no more memory than any other.
 */

/**
 * Small enough to stay in the processor's cache from reading to scanning, large enough that the overhead of calls is
 * negligible.
 */
export const BLOCK_BYTES = 256 * 1024;

/**
 * Where a record that fills a whole block is split, as an offset in the block: at `lineStart`, the first one in it, if
 * there is one. Otherwise at the first character from its middle on: whatever starts before the block, or ends after
 * it, is at least half a block long.
 */
export function splitOffset(block: Uint8Array, lineStart: number): number {
  if (lineStart < block.length) return lineStart;
  const middle = BLOCK_BYTES / 2;
  for (let at = middle; at < middle + 4; at++) if (((block[at] ?? 0) & 0xc0) !== 0x80) return at;
  return middle;
}

/** Nothing but a hole, which was read as newlines. */
export function isHole(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] === NEWLINE) at++;
  return at === end;
}

export function blockAt(offset: number): number {
  return Math.floor(offset / BLOCK_BYTES);
}

export function blockCount(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES);
}

/** The records that start in a block, in file order. Reused for every block: copy what must be kept. */
export interface RecordTable {
  count: number;
  /** Positions in the loaded text. */
  starts: Uint32Array;
  /** Epoch ms; `NaN` if a record has no time. */
  times: Float64Array;
  /** Level ranks; 0 if there is none. */
  ranks: Uint8Array;
  /** Where the last record ends. */
  end: number;
  /** The first record was split from a longer one that starts before the block. */
  firstContinues: boolean;
}

/** Adds a first record that has no head. */
export function insertFirst(table: RecordTable, start: number, { continues }: { continues: boolean }): void {
  const { count, starts, times, ranks } = table;
  starts.copyWithin(1, 0, count);
  times.copyWithin(1, 0, count);
  ranks.copyWithin(1, 0, count);
  starts[0] = start;
  times[0] = Number.NaN;
  ranks[0] = 0;
  table.count = count + 1;
  table.firstContinues = continues;
}

/** What is known of a block that will not change any more. */
export interface BlockSummary {
  block: number;
  /** `null` if not every record was examined. */
  all: RecordsSummary | null;
  /** Whether it has records of level ERROR and above. */
  hasErrors: boolean;
  /** Checksum of the text it was made from: if the text differs now, the summary is invalid. */
  check: BlockCheck;
}

/**
 * Hash of a block and of the surrounding bytes that determine its records: the byte before it, and the rest of its last
 * line.
 */
export interface BlockCheck {
  bytes: number;
  hash: number;
  /** Whether secrets were masked in the hashed bytes. */
  scrubbed: boolean;
}

/** Summarises a last block, which can still change. */
export interface TailSummary {
  block: number;
  all: RecordsSummary;
}

export const ERROR_RANK = levelRank('ERROR');
