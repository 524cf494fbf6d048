import { crc32 } from 'node:zlib';
import { readFd } from '../fs-calls.ts';
import { GRAM_ROWS } from '../kernel/scan-kernel.ts';
import { isSystemError } from '../log-error.ts';
import type { BlockCheck } from '../scan/block/blocks.ts';
import { type KeptSegment, PART_BLOCKS, SEGMENT_BLOCKS, type TextSegment } from '../scan/index-jobs.ts';
import { groupSums, ROWS_PER_GROUP } from '../scan/tasks/probe.ts';

/*
 * A file with segments: a page with its name, then entries, which are only appended. All numbers are little-endian; each
 * page ends with a CRC-32 of the rest of it.
 *
 *   segment: a page (magic, first block, width, blocks, stamp, checksums of the rows), two pages of checks, the rows
 *   renewal: a page (magic, number of segments, stamp, their first blocks)
 *
 * A later segment replaces earlier ones that start in one of its blocks.
 */
export const PAGE_BYTES = 4096;
const SUM_AT = PAGE_BYTES - 4;

const FILE_MAGIC = 0x31_54_48_50; // "PHT1"
const SEGMENT_MAGIC = 0x47_45_53_31; // "1SEG"
const RENEWAL_MAGIC = 0x4e_45_52_31; // "1REN"

const NAME_AT = 8;
const NAME_BYTES = 64;
const STAMP_LENGTH_AT = 16;
const STAMP_AT = 20;
const MAX_STAMP_BYTES = 256;
const SUMS_AT = STAMP_AT + MAX_STAMP_BYTES;
const SUMS = GRAM_ROWS / ROWS_PER_GROUP;

/** The length of the checked text, and its hash. */
const CHECK_BYTES = 8;
const CHECKS_BYTES = 2 * PAGE_BYTES;
const CHECKS_SUM_AT = CHECKS_BYTES - 4;

/** Segments renewed by one entry. */
const MAX_RENEWED = (SUM_AT - SUMS_AT) / 4;

/** Stamps of a segment that are kept: a file, its copies and its archive. */
const MAX_STAMPS = 4;

/** What is known of a file with segments. */
export interface SegmentTable {
  /** Everything before it has been read. */
  end: number;
  segments: Map<number, KeptSegment>;
  /** Bytes of segments that were replaced. */
  deadBytes: number;
}

export function segmentBytes(width: number): number {
  return PAGE_BYTES + CHECKS_BYTES + (GRAM_ROWS * width) / 8;
}

export function encodeFileHead(name: string): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.writeUInt32LE(FILE_MAGIC, 0);
  page.write(name, NAME_AT, NAME_BYTES);
  return sealed(page);
}

export function encodeSegment({ firstBlock, width, checks, rows }: TextSegment, stamp: string): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.writeUInt32LE(SEGMENT_MAGIC, 0);
  page.writeUInt32LE(firstBlock, 4);
  page.writeUInt32LE(width, 8);
  page.writeUInt32LE(checks.length, 12);
  writeStamp(page, stamp);
  for (const [index, sum] of groupSums(rows, width).entries()) page.writeUInt32LE(sum, SUMS_AT + 4 * index);
  const checksPart = Buffer.alloc(CHECKS_BYTES);
  for (const [index, { bytes, hash }] of checks.entries()) {
    checksPart.writeUInt32LE(bytes, CHECK_BYTES * index);
    checksPart.writeUInt32LE(hash, CHECK_BYTES * index + 4);
  }
  checksPart.writeUInt32LE(crc32(checksPart.subarray(0, CHECKS_SUM_AT)), CHECKS_SUM_AT);
  return Buffer.concat([sealed(page), checksPart, rows]);
}

/** One or more pages. */
export function encodeRenewal(firstBlocks: readonly number[], stamp: string): Buffer {
  const pages: Buffer[] = [];
  for (let from = 0; from < firstBlocks.length; from += MAX_RENEWED) {
    const some = firstBlocks.slice(from, from + MAX_RENEWED);
    const page = Buffer.alloc(PAGE_BYTES);
    page.writeUInt32LE(RENEWAL_MAGIC, 0);
    page.writeUInt32LE(some.length, 4);
    writeStamp(page, stamp);
    for (const [index, firstBlock] of some.entries()) page.writeUInt32LE(firstBlock, SUMS_AT + 4 * index);
    pages.push(sealed(page));
  }
  return Buffer.concat(pages);
}

/**
 * Reads the entries that were appended since the table was made; without one, all of them. An entry that is not complete
 * yet is left for the next time. `undefined`: the file is damaged, or is another one.
 */
export async function readSegmentTable(
  { fd, name, sizeBytes }: { fd: number; name: string; sizeBytes: number },
  known?: SegmentTable,
): Promise<SegmentTable | undefined> {
  const table = known ?? (await readFileHead(fd, name));
  if (!table) return undefined;
  while (table.end + PAGE_BYTES <= sizeBytes) {
    const page = await readPage(fd, table.end);
    if (!page) return undefined;
    const bytes = entryBytes(page);
    if (bytes === undefined) return undefined;
    if (table.end + bytes > sizeBytes) break;
    addEntry(table, page);
    table.end += bytes;
  }
  return table;
}

/** The checks of a segment; `undefined` if they are damaged. */
export async function readChecks(fd: number, { at, blocks }: KeptSegment): Promise<BlockCheck[] | undefined> {
  const part = await readPart(fd, at - CHECKS_BYTES, CHECKS_BYTES);
  if (!part || crc32(part.subarray(0, CHECKS_SUM_AT)) !== part.readUInt32LE(CHECKS_SUM_AT)) return undefined;
  return Array.from({ length: blocks }, (_, index) => ({
    bytes: part.readUInt32LE(CHECK_BYTES * index),
    hash: part.readUInt32LE(CHECK_BYTES * index + 4),
    scrubbed: true,
  }));
}

async function readFileHead(fd: number, name: string): Promise<SegmentTable | undefined> {
  const page = await readPage(fd, 0);
  if (page?.readUInt32LE(0) !== FILE_MAGIC) return undefined;
  const ownName = page.toString('latin1', NAME_AT, NAME_AT + NAME_BYTES).replace(/\0.*/s, '');
  return ownName === name ? { end: PAGE_BYTES, segments: new Map(), deadBytes: 0 } : undefined;
}

/** `undefined`: this is no entry. */
function entryBytes(page: Buffer): number | undefined {
  if (page.readUInt32LE(STAMP_LENGTH_AT) > MAX_STAMP_BYTES) return undefined;
  if (page.readUInt32LE(0) === RENEWAL_MAGIC) return page.readUInt32LE(4) <= MAX_RENEWED ? PAGE_BYTES : undefined;
  if (page.readUInt32LE(0) !== SEGMENT_MAGIC) return undefined;
  const [firstBlock, width, blocks] = [page.readUInt32LE(4), page.readUInt32LE(8), page.readUInt32LE(12)];
  const isPlausible = firstBlock % PART_BLOCKS === 0 && width % 8 === 0 && width <= SEGMENT_BLOCKS && blocks <= width;
  return isPlausible && blocks > 0 ? segmentBytes(width) : undefined;
}

/** Segments are replaced, never changed: others use them. */
function addEntry(table: SegmentTable, page: Buffer): void {
  const stamp = page.toString('latin1', STAMP_AT, STAMP_AT + page.readUInt32LE(STAMP_LENGTH_AT));
  if (page.readUInt32LE(0) === RENEWAL_MAGIC) {
    table.deadBytes += PAGE_BYTES;
    for (let index = 0; index < page.readUInt32LE(4); index++) {
      const segment = table.segments.get(page.readUInt32LE(SUMS_AT + 4 * index));
      if (!segment) continue;
      const stamps = [stamp, ...segment.stamps.filter((other) => other !== stamp)].slice(0, MAX_STAMPS);
      table.segments.set(segment.firstBlock, { ...segment, stamps });
    }
    return;
  }
  const [firstBlock, width, blocks] = [page.readUInt32LE(4), page.readUInt32LE(8), page.readUInt32LE(12)];
  for (const replaced of table.segments.values()) {
    if (replaced.firstBlock < firstBlock || replaced.firstBlock >= firstBlock + blocks) continue;
    table.deadBytes += segmentBytes(replaced.width);
    table.segments.delete(replaced.firstBlock);
  }
  const sums = Uint32Array.from({ length: SUMS }, (_, index) => page.readUInt32LE(SUMS_AT + 4 * index));
  const at = table.end + PAGE_BYTES + CHECKS_BYTES;
  table.segments.set(firstBlock, { firstBlock, width, blocks, at, sums, stamps: [stamp] });
}

function writeStamp(page: Buffer, stamp: string): void {
  page.writeUInt32LE(page.write(stamp.slice(0, MAX_STAMP_BYTES), STAMP_AT, 'latin1'), STAMP_LENGTH_AT);
}

function sealed(page: Buffer): Buffer {
  page.writeUInt32LE(crc32(page.subarray(0, SUM_AT)), SUM_AT);
  return page;
}

/** `undefined`: it cannot be read, or is damaged. */
async function readPage(fd: number, position: number): Promise<Buffer | undefined> {
  const page = await readPart(fd, position, PAGE_BYTES);
  return page && crc32(page.subarray(0, SUM_AT)) === page.readUInt32LE(SUM_AT) ? page : undefined;
}

async function readPart(fd: number, position: number, length: number): Promise<Buffer | undefined> {
  const part = Buffer.alloc(length);
  try {
    return (await readFd(fd, part, { position, length })) === length ? part : undefined;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}
