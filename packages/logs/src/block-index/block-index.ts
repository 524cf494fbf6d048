import type { BlockCheck, BlockSummary, TailSummary } from '../scan/block/blocks.ts';
import { GROUP_NUMBERS, type GroupKind, type PackedBlockGroups } from '../scan/digest/scanned-groups.ts';
import type { SeekResult } from '../scan/jobs.ts';
import type { KeptSummaries } from './summary-store.ts';

/** Approximate memory of one block summary, for the memory limit. */
const BLOCK_COST_BYTES = 160;

/** Time ranges of a file whose positions are kept: those that are asked for again are mostly the last ones. */
const MAX_SOUGHT = 8;

/**
 * What earlier scans learned about the blocks of one file. Complete blocks only: they do not change as long as the log
 * is only appended to. `CheckedIndex` verifies that this still holds.
 */
export class FileIndex {
  readonly #blocks = new Map<number, BlockSummary>();
  readonly #maxGroupBytes: number;
  readonly #onGrow: () => void;
  costBytes = 0;
  /** What digests found in its blocks. */
  groups: KeptGroups;
  /** It contains something that was not kept on disk yet. */
  isChanged = false;
  /** Blocks that were read while the file had this stamp and had not changed for long enough before. */
  #settled: { stamp: string; blocks: Set<number> } = { stamp: '', blocks: new Set() };
  /** Where time ranges were found while the file had this stamp, as above. */
  #sought: { stamp: string; ranges: Map<string, SeekResult> } = { stamp: '', ranges: new Map() };
  /** Times of the incomplete last block while the file had this stamp, as above. */
  #last: { stamp: string; times: BlockTimes } | undefined;
  /** The end of the last block ever indexed. */
  #end = 0;
  #times: KnownTimes | undefined;
  /** Summary of the incomplete last block: its records are still there, whatever was appended since. */
  #tail: TailSummary | undefined;

  /** `onGrow` is called whenever it takes more memory. */
  constructor(maxGroupBytes = Infinity, onGrow = () => {}) {
    this.#maxGroupBytes = maxGroupBytes;
    this.#onGrow = onGrow;
    this.groups = new KeptGroups(maxGroupBytes, onGrow);
  }

  /** A query that is taking groups goes on with those it has begun with. */
  dropGroups(): void {
    this.groups = new KeptGroups(this.#maxGroupBytes, this.#onGrow);
  }

  get(block: number): BlockSummary | undefined {
    return this.#blocks.get(block);
  }

  get blockCount(): number {
    return this.#blocks.size;
  }

  /** What another process may use of it. */
  toKeep(): KeptSummaries {
    const { stamp, blocks } = this.#settled;
    return { summaries: [...this.#blocks.values()], stamp, settled: new Set(blocks) };
  }

  /** Adds what `toKeep` returned, unless it is known already. */
  restore({ summaries, stamp, settled }: KeptSummaries): void {
    const wasChanged = this.isChanged;
    if (this.#settled.stamp === '') this.#settled = { stamp, blocks: new Set() };
    for (const summary of summaries) {
      if (this.#blocks.has(summary.block)) continue;
      this.add(summary);
      if (settled.has(summary.block) && this.#settled.stamp === stamp) this.#settled.blocks.add(summary.block);
    }
    this.isChanged = wasChanged;
  }

  /**
   * The time range of all blocks together, verified or not; sufficient for conservative decisions. `slackAt`: how much
   * disorder is usual around a time.
   */
  times(slackAt: (timeMs: number) => number): KnownTimes {
    this.#times ??= this.#collectTimes(slackAt);
    return this.#times;
  }

  #collectTimes(slackAt: (timeMs: number) => number): KnownTimes {
    const times = { minMs: Infinity, maxMs: -Infinity, isInOrder: true };
    for (let block = 0; block < Math.max(this.#end, (this.#tail?.block ?? -1) + 1); block++) {
      const all = this.#blocks.get(block)?.all ?? (block === this.#tail?.block ? this.#tail.all : undefined);
      if (!all || all.minMs > all.maxMs) continue;
      const lateMs = Math.max(all.lateMs, times.maxMs - all.minMs);
      if (lateMs > slackAt(all.minMs)) times.isInOrder = false;
      times.minMs = Math.min(times.minMs, all.minMs);
      times.maxMs = Math.max(times.maxMs, all.maxMs);
    }
    return times;
  }

  noteTail(tail: TailSummary): void {
    this.#tail = tail;
    this.#times = undefined;
  }

  /** A summary of the same text replaces the known one only if it contains more. */
  add(summary: BlockSummary): void {
    const known = this.#blocks.get(summary.block);
    if (known && isSameText(known.check, summary.check) && (known.all || !summary.all)) return;
    this.#blocks.set(summary.block, summary);
    this.#end = Math.max(this.#end, summary.block + 1);
    this.#times = undefined;
    this.isChanged = true;
    if (known) return;
    this.costBytes += BLOCK_COST_BYTES;
    this.#onGrow();
  }

  /** Removes a summary unless it was replaced in the meantime. */
  remove(summary: BlockSummary): void {
    if (this.#blocks.get(summary.block) !== summary) return;
    this.#blocks.delete(summary.block);
    this.#settled.blocks.delete(summary.block);
    this.groups.remove(summary.block);
    this.#times = undefined;
    this.costBytes -= BLOCK_COST_BYTES;
  }

  settle(block: number, stamp: string): void {
    if (this.isSettled(block, stamp)) return;
    if (this.#settled.stamp !== stamp) this.#settled = { stamp, blocks: new Set() };
    this.#settled.blocks.add(block);
    this.isChanged = true;
  }

  sought(stamp: string): ReadonlyMap<string, SeekResult> {
    if (this.#sought.stamp !== stamp) this.#sought = { stamp, ranges: new Map() };
    return this.#sought.ranges;
  }

  noteSought(stamp: string, range: string, result: SeekResult): void {
    this.sought(stamp);
    const { ranges } = this.#sought;
    ranges.delete(range);
    ranges.set(range, result);
    for (const oldest of ranges.keys()) {
      if (ranges.size <= MAX_SOUGHT) break;
      ranges.delete(oldest);
    }
  }

  lastTimes(stamp: string): BlockTimes | undefined {
    return this.#last?.stamp === stamp ? this.#last.times : undefined;
  }

  noteLastTimes(stamp: string, times: BlockTimes): void {
    this.#last = { stamp, times };
  }

  /** Whether that is true of all blocks of which anything is known. */
  isAllSettled(stamp: string): boolean {
    return this.#settled.stamp === stamp && this.#settled.blocks.size === this.#blocks.size;
  }

  isSettled(block: number, stamp: string): boolean {
    return this.#settled.stamp === stamp && this.#settled.blocks.has(block);
  }
}

/** Those of a block that is not complete. */
export interface BlockTimes {
  block: number;
  minMs: number;
  maxMs: number;
}

/** Times are infinite if none is known. */
export interface KnownTimes {
  minMs: number;
  maxMs: number;
  /** No record is known to be further out of order than usual. */
  isInOrder: boolean;
}

/** The groups of one file may take so much of the memory for all files: what they save is less than what the rest saves. */
const GROUPS_SHARE = 0.5;

/**
 * The indexes of scanned files. Bounded: first the groups, then the rest of the least recently used file is evicted
 * first. Only speed depends on it.
 */
export class BlockIndexes {
  readonly #maxBytes: number;
  readonly #files = new Map<string, FileIndex>();
  /** Since the memory was last limited. Counting it takes a while with thousands of files. */
  #hasGrown = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get costBytes(): number {
    let sum = 0;
    for (const { costBytes, groups } of this.#files.values()) sum += costBytes + groups.costBytes;
    return sum;
  }

  /** The index of a file, by its identity. The caller verifies that it is still valid. */
  get(key: string): FileIndex {
    const onGrow = () => {
      this.#hasGrown = true;
    };
    const index = this.#files.get(key) ?? new FileIndex(this.#maxBytes * GROUPS_SHARE, onGrow);
    this.#files.delete(key);
    this.#files.set(key, index);
    return index;
  }

  get isFull(): boolean {
    return this.costBytes >= this.#maxBytes;
  }

  all(): FileIndex[] {
    return [...this.#files.values()];
  }

  trim(): void {
    if (!this.#hasGrown) return;
    this.#hasGrown = false;
    let over = this.costBytes - this.#maxBytes;
    for (const index of this.#files.values()) {
      if (over <= 0) return;
      over -= index.groups.costBytes;
      index.dropGroups();
    }
    while (over > 0) {
      const [oldest] = this.#files;
      if (!oldest) return;
      this.#files.delete(oldest[0]);
      over -= oldest[1].costBytes;
    }
  }
}

/** Different groups of a file: those of more are not kept. */
const MAX_KINDS = 6000;

/** Approximate memory, for the memory limit. */
const GROUPED_BLOCK_COST_BYTES = 160;
const KIND_COST_BYTES = 120;

/** Numbers of u32 per group: id and count, offset in the block, and both times since the first one of the block. */
const PACKED_NUMBERS = 4;
/** Where the first time of a group is, as a job has it. */
const FIRST_MS = 3;
const MAX_COUNT = 0xffff;
const NO_TIME = 0xffffffff;

interface KeptBlock {
  check: BlockCheck;
  /** What was masked: under other rules, sources and shapes are others. */
  scrubId: string | undefined;
  /** Its records of this level and above are in groups; 0: all of them. */
  minRank: number;
  /** Times count from here. */
  baseMs: number;
  numbers: Uint32Array;
}

/** Called for each group of a block. `offset` counts from the start of the block. */
type TakeGroup = (id: number, count: number, offset: number, firstMs: number, lastMs: number) => void;

/** The groups of records of a file's blocks, as digests have found them. Bounded; blocks beyond the limit are not kept. */
export class KeptGroups {
  readonly kinds: GroupKind[] = [];
  costBytes = 0;
  readonly #maxBytes: number;
  readonly #onGrow: () => void;
  readonly #ids = new Map<string, number>();
  readonly #blocks = new Map<number, KeptBlock>();

  constructor(maxBytes: number, onGrow: () => void) {
    this.#maxBytes = maxBytes;
    this.#onGrow = onGrow;
  }

  /** Whether the groups of the text with this check, masked by these rules, are known from this level on. */
  has(block: number, check: BlockCheck, { scrubId, minRank }: Pick<KeptBlock, 'scrubId' | 'minRank'>): boolean {
    const kept = this.#blocks.get(block);
    if (kept === undefined || kept.minRank > minRank) return false;
    return kept.scrubId === scrubId && isSameText(kept.check, check);
  }

  /** Hands over the groups of a block. */
  take(block: number, take: TakeGroup): void {
    const { numbers, baseMs } = this.#blocks.get(block) ?? { numbers: new Uint32Array(0), baseMs: 0 };
    const timeAt = (at: number) => (numbers[at] === NO_TIME ? Number.NaN : baseMs + (numbers[at] ?? 0));
    for (let at = 0; at < numbers.length; at += PACKED_NUMBERS) {
      const idAndCount = numbers[at] ?? 0;
      take(idAndCount >>> 16, idAndCount & MAX_COUNT, numbers[at + 1] ?? 0, timeAt(at + 2), timeAt(at + 3));
    }
  }

  /**
   * Keeps the groups of blocks, as a job has found them, with the checks of the text it has read. `startOf`: the offset
   * of a block.
   */
  keep(
    { blocks, ends, numbers }: PackedBlockGroups,
    {
      kinds,
      checkOf,
      startOf,
      ...how
    }: {
      kinds: readonly GroupKind[];
      checkOf(block: number): BlockCheck | undefined;
      startOf(block: number): number;
    } & Pick<KeptBlock, 'scrubId' | 'minRank'>,
  ): void {
    let start = 0;
    for (const [index, block] of blocks.entries()) {
      const end = ends[index] ?? start;
      const check = checkOf(block);
      const ofBlock = numbers.subarray(start * GROUP_NUMBERS, end * GROUP_NUMBERS);
      start = end;
      if (!check || this.has(block, check, how) || this.costBytes > this.#maxBytes) continue;
      const kept = this.#pack(ofBlock, kinds, startOf(block));
      if (!kept) continue;
      this.remove(block);
      this.#blocks.set(block, { check, scrubId: how.scrubId, minRank: how.minRank, ...kept });
      this.costBytes += costOf(kept.numbers);
      this.#onGrow();
    }
  }

  remove(block: number): void {
    const kept = this.#blocks.get(block);
    if (!kept) return;
    this.#blocks.delete(block);
    this.costBytes -= costOf(kept.numbers);
  }

  /** `undefined` if a number is too large for it, which is rare. */
  #pack(
    groups: Float64Array,
    kinds: readonly GroupKind[],
    blockStart: number,
  ): Pick<KeptBlock, 'baseMs' | 'numbers'> | undefined {
    const numbers = new Uint32Array((groups.length / GROUP_NUMBERS) * PACKED_NUMBERS);
    const baseMs = firstTime(groups);
    for (let at = 0, to = 0; at < groups.length; at += GROUP_NUMBERS, to += PACKED_NUMBERS) {
      const [number = 0, count = 0, offset = 0, firstMs = 0, lastMs = 0] = groups.subarray(at, at + GROUP_NUMBERS);
      const kind = kinds[number];
      const id = kind && this.#idFor(kind);
      const [first, last] = [sinceBase(firstMs, baseMs), sinceBase(lastMs, baseMs)];
      if (id === undefined || count > MAX_COUNT || first === undefined || last === undefined) return undefined;
      numbers[to] = ((id << 16) | count) >>> 0;
      numbers[to + 1] = offset - blockStart;
      numbers[to + 2] = first;
      numbers[to + 3] = last;
    }
    return { baseMs, numbers };
  }

  #idFor(kind: GroupKind): number | undefined {
    const key = `${kind.rank}${kind.source === null ? '-' : '+'}${kind.source ?? kind.shape ?? ''}`;
    const known = this.#ids.get(key);
    if (known !== undefined || this.kinds.length >= MAX_KINDS) return known;
    const id = this.kinds.length;
    this.#ids.set(key, id);
    this.kinds.push({ rank: kind.rank, source: kind.source, shape: kind.shape });
    this.costBytes += KIND_COST_BYTES + 2 * key.length;
    return id;
  }
}

/** The first time of all groups; 0 if none has a time. */
function firstTime(groups: Float64Array): number {
  let first = Infinity;
  for (let at = FIRST_MS; at < groups.length; at += GROUP_NUMBERS) {
    const timeMs = groups[at] ?? Number.NaN;
    if (timeMs < first) first = timeMs;
  }
  return first === Infinity ? 0 : first;
}

function sinceBase(timeMs: number, baseMs: number): number | undefined {
  if (Number.isNaN(timeMs)) return NO_TIME;
  const sinceMs = timeMs - baseMs;
  return Number.isInteger(sinceMs) && sinceMs >= 0 && sinceMs < NO_TIME ? sinceMs : undefined;
}

function costOf(numbers: Uint32Array): number {
  return GROUPED_BLOCK_COST_BYTES + numbers.byteLength;
}

function isSameText(a: BlockCheck, b: BlockCheck): boolean {
  return a.hash === b.hash && a.bytes === b.bytes && a.scrubbed === b.scrubbed;
}
