import { fileStamp } from '../file/file-stamp.ts';
import type { LogHandle } from '../file/handle-cache.ts';
import type { FormatName } from '../parse/format.ts';
import { BLOCK_BYTES, type BlockSummary } from '../scan/block/blocks.ts';
import { type KeptIndex, type KeptSegment, PART_BLOCKS, SEGMENT_BLOCKS } from '../scan/index-jobs.ts';

/*
 * A file that is being written has a new stamp with every line, which proves nothing about the rest of it. What was
 * indexed of it is taken to be as it was if the file has only grown: it is the same file, each time it was looked at it
 * was longer than before or had not been written to, and a sample of its blocks, the first and the last one among them,
 * still has the checksums it was indexed with. That detects what happens to logs: rotation, truncation, another text in
 * the place of the old one, however long. An edit in the middle that keeps the length, and is followed by an append
 * before anybody looks, need not be in the sample: so all blocks are compared in the background after questions that
 * relied on this. Whoever finds a block changed doubts the rest, until all of it has been compared.
 */

export interface LiveLimits {
  /** What is at least this old is indexed: writers through mapped memory or a network may still change what is newer. */
  agedMs: number;
  /** What is appended is indexed in segments of so many blocks; if there are enough from the start, of so many. */
  partBlocks: number;
  wholeBlocks: number;
  /** The time in ms, by a clock that does not jump. */
  now(): number;
}

const LIVE_LIMITS: LiveLimits = {
  agedMs: 60_000,
  partBlocks: PART_BLOCKS,
  wholeBlocks: SEGMENT_BLOCKS,
  now: () => performance.now(),
};

/** Ends of records, and of secrets that are masked, depend on what follows: so many blocks at the end are left out. */
const OPEN_BLOCKS = 4;

/** How much a file has to grow until there is something to index. */
export const LIVE_STEP_BYTES = PART_BLOCKS * BLOCK_BYTES;
export const OPEN_BYTES = OPEN_BLOCKS * BLOCK_BYTES;

/** Files that are remembered. */
const MAX_FILES = 1024;

/** Blocks compared by each query, and the segments that they are from: 3 MiB take a millisecond. */
const SAMPLED_SEGMENTS = 6;
const SAMPLED_PER_SEGMENT = 2;

/** While queries keep coming, all blocks are compared this often at most. */
const COMPARED_MS = 60_000;

/** Begins stamps of files that could still change without a new one, and those of files that are doubted. */
const UNSETTLED = '~';
const DOUBTED = '!';

type Stamped = Pick<LogHandle, 'dev' | 'ino' | 'sizeBytes' | 'modifiedNs' | 'changedNs'>;

/** A file, by what identifies it and the start of its text. */
interface SeenText {
  key: string;
  format: FormatName;
  startHash: string;
  handle: Stamped;
}

/** What is known of the files that this process has looked at. */
export class LiveTexts {
  readonly limits: LiveLimits;
  readonly #files = new Map<string, LiveText>();

  constructor(limits = LIVE_LIMITS) {
    this.limits = limits;
  }

  /** The file, as it was seen now. With other rules of masking, or another start, it is another text. */
  see({ key: file, format, startHash, handle }: SeenText): LiveText {
    const key = `${file}:${format}:${startHash}`;
    const text = this.#files.get(key) ?? new LiveText(handle, this.limits);
    this.#files.delete(key);
    this.#files.set(key, text);
    const [oldest] = this.#files.keys();
    if (this.#files.size > MAX_FILES && oldest !== undefined) this.#files.delete(oldest);
    text.see(handle);
    return text;
  }
}

export class LiveText {
  readonly limits: LiveLimits;
  #seen: Stamped;
  /** A size it had for long enough, and one that it will have had. */
  #aged = { sizeBytes: 0, sinceMs: 0 };
  #next: { sizeBytes: number; sinceMs: number };
  /** When segments were compared as a whole, or built; forgotten with every doubt. */
  #comparedMs = new Map<string, number>();
  #doubts = 0;
  #usedMs = Number.NEGATIVE_INFINITY;
  #turn = 0;

  constructor(seen: Stamped, limits: LiveLimits) {
    this.#seen = seen;
    this.#next = { sizeBytes: seen.sizeBytes, sinceMs: limits.now() };
    this.limits = limits;
  }

  see(now: Stamped): void {
    // Whoever was faster has seen it later.
    const isSameTime = now.changedNs === this.#seen.changedNs && now.modifiedNs === this.#seen.modifiedNs;
    if (now.changedNs < this.#seen.changedNs || (isSameTime && now.sizeBytes < this.#seen.sizeBytes)) return;
    if (!hasOnlyGrown(this.#seen, now)) this.doubt();
    this.#seen = now;
    const { sizeBytes } = now;
    this.#aged.sizeBytes = Math.min(this.#aged.sizeBytes, sizeBytes);
    this.#next.sizeBytes = Math.min(this.#next.sizeBytes, sizeBytes);
    if (this.limits.now() - this.#next.sinceMs < this.limits.agedMs) return;
    this.#aged = this.#next;
    this.#next = { sizeBytes, sinceMs: this.limits.now() };
  }

  /** Blocks that are old enough to be indexed. */
  get finishedBlocks(): number {
    const whole = Math.floor(this.#aged.sizeBytes / BLOCK_BYTES) - OPEN_BLOCKS;
    return Math.max(0, whole - (whole % this.limits.partBlocks));
  }

  /** The size from which on there is more to index than now. */
  get grownBytes(): number {
    return (this.finishedBlocks + this.limits.partBlocks + OPEN_BLOCKS) * BLOCK_BYTES;
  }

  /** Changes with every doubt: what was read before proves nothing after it. */
  get doubts(): number {
    return this.#doubts;
  }

  /** Something was changed that was not appended. */
  doubt(): void {
    this.#doubts++;
    this.#comparedMs.clear();
  }

  /** Whether a segment is probably true of the file as it is now: a sample decides. */
  trusts(segment: KeptSegment, now: Stamped): boolean {
    const { firstBlock, blocks } = segment;
    if ((firstBlock + blocks) * BLOCK_BYTES > now.sizeBytes) return false;
    return this.#comparedMs.has(keyOf(segment)) || (this.#doubts === 0 && hasGrownSince(segment, now));
  }

  /** Whether a segment should be compared as a whole, because queries have relied on it since it was. */
  isDue(segment: KeptSegment): boolean {
    const comparedMs = this.#comparedMs.get(keyOf(segment)) ?? Number.NEGATIVE_INFINITY;
    return this.#usedMs > comparedMs && this.limits.now() - comparedMs >= COMPARED_MS;
  }

  noteCompared(segment: Pick<KeptSegment, 'firstBlock' | 'blocks'>, doubts: number): void {
    if (doubts === this.#doubts) this.#comparedMs.set(keyOf(segment), this.limits.now());
  }

  /**
   * Blocks to compare before these segments are relied on: the first, the last, and others each time. `undefined` if their
   * checks cannot be read.
   */
  async sample(
    kept: KeptIndex,
    segments: readonly KeptSegment[],
  ): Promise<Pick<BlockSummary, 'block' | 'check'>[] | undefined> {
    this.#usedMs = this.limits.now();
    const turn = this.#turn++;
    const sorted = segments.toSorted((a, b) => a.firstBlock - b.firstBlock);
    const sampled: Pick<BlockSummary, 'block' | 'check'>[] = [];
    for (const number of spread(sorted.length, SAMPLED_SEGMENTS, turn)) {
      const segment = sorted[number];
      const checks = segment && (await kept.checks(segment));
      if (!checks) return undefined;
      const columns = new Set([
        ...(number === 0 ? [0] : []),
        ...(number === sorted.length - 1 ? [checks.length - 1] : []),
      ]);
      for (let index = 0; index < SAMPLED_PER_SEGMENT; index++)
        columns.add((SAMPLED_PER_SEGMENT * turn + index) % checks.length);
      for (const column of columns) {
        const check = checks[column];
        if (check) sampled.push({ block: segment.firstBlock + column, check });
      }
    }
    return sampled;
  }
}

function keyOf({ firstBlock, blocks }: Pick<KeptSegment, 'firstBlock' | 'blocks'>): string {
  return `${firstBlock}:${blocks}`;
}

/** Of a segment that was read while the file could change without a new stamp. */
export function unsettledStamp(handle: Stamped): string {
  return `${UNSETTLED}${fileStamp(handle)}`;
}

/**
 * By which the next process knows that a segment has to be compared first: by then, the file may have grown. `undefined` if
 * it knows, or if it is a segment of another file.
 */
export function doubtedStamp({ stamps }: KeptSegment, { dev, ino }: Stamped): string | undefined {
  const newest = stamps.find((stamp) => isOf(stamp, { dev, ino }));
  return newest === undefined || newest.startsWith(DOUBTED) ? undefined : `${DOUBTED}${dev}:${ino}:`;
}

/** Whether the file has only grown since a segment was made of it, or compared with it, as far as their stamps show. */
export function hasGrownSince({ stamps }: KeptSegment, now: Stamped): boolean {
  const newest = stamps.find((stamp) => isOf(stamp, now));
  if (newest === undefined || newest.startsWith(DOUBTED)) return false;
  const [size = '', modified = '', changed = ''] = newest.split(':').slice(2);
  return hasOnlyGrown({ sizeBytes: Number(size), modifiedNs: BigInt(modified), changedNs: BigInt(changed) }, now);
}

function isOf(stamp: string, { dev, ino }: Pick<Stamped, 'dev' | 'ino'>): boolean {
  return stamp.replace(/^[~!]/, '').startsWith(`${dev}:${ino}:`);
}

/** As far as two looks at the same file show: whatever is written to it without making it longer changes its times. */
function hasOnlyGrown(
  before: Pick<Stamped, 'sizeBytes' | 'modifiedNs' | 'changedNs'>,
  { sizeBytes, modifiedNs, changedNs }: Pick<Stamped, 'sizeBytes' | 'modifiedNs' | 'changedNs'>,
): boolean {
  if (sizeBytes > before.sizeBytes) return modifiedNs >= before.modifiedNs && changedNs >= before.changedNs;
  return sizeBytes === before.sizeBytes && modifiedNs === before.modifiedNs && changedNs === before.changedNs;
}

/** Some of the numbers below `count`, evenly spaced: the first, the last, and others with every turn. */
function spread(count: number, most: number, turn: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, number) => number);
  const inner = most - 2;
  const stride = (count - 2) / inner;
  const others = Array.from(
    { length: inner },
    (_, index) => 1 + Math.floor(index * stride) + (turn % Math.max(1, Math.floor(stride))),
  );
  return [0, ...others, count - 1];
}
