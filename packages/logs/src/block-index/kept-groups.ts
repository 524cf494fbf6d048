import { GROUP_NUMBERS, type PackedBlockGroups } from '../scan/digest/block-groups.ts';
import type { GroupKind } from '../scan/digest/digest-jobs.ts';
import type { BlockCheck } from './block-index.ts';

/** Different groups of a file: those of more are not kept. */
const MAX_KINDS = 6000;

/** Approximate memory, for the memory limit. */
const BLOCK_COST_BYTES = 160;
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
  /** Times count from here. */
  baseMs: number;
  numbers: Uint32Array;
}

/** Called for each group of a block. `offset` counts from the start of the block. */
export type TakeGroup = (id: number, count: number, offset: number, firstMs: number, lastMs: number) => void;

/** The groups of records of a file's blocks, as digests have found them. Bounded; blocks beyond the limit are not kept. */
export class KeptGroups {
  readonly kinds: GroupKind[] = [];
  costBytes = 0;
  readonly #maxBytes: number;
  readonly #ids = new Map<string, number>();
  readonly #blocks = new Map<number, KeptBlock>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the groups of the text with this check, masked by these rules, are known. */
  has(block: number, check: BlockCheck, scrubId: string | undefined): boolean {
    const kept = this.#blocks.get(block);
    return kept !== undefined && kept.scrubId === scrubId && isSameText(kept.check, check);
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
      scrubId,
    }: {
      kinds: readonly GroupKind[];
      checkOf(block: number): BlockCheck | undefined;
      startOf(block: number): number;
      scrubId: string | undefined;
    },
  ): void {
    let start = 0;
    for (const [index, block] of blocks.entries()) {
      const end = ends[index] ?? start;
      const check = checkOf(block);
      const ofBlock = numbers.subarray(start * GROUP_NUMBERS, end * GROUP_NUMBERS);
      start = end;
      if (!check || this.has(block, check, scrubId) || this.costBytes > this.#maxBytes) continue;
      const kept = this.#pack(ofBlock, kinds, startOf(block));
      if (!kept) continue;
      this.remove(block);
      this.#blocks.set(block, { check, scrubId, ...kept });
      this.costBytes += costOf(kept.numbers);
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

/** Of all groups; 0 if none has a time. */
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
  return BLOCK_COST_BYTES + numbers.byteLength;
}

export function isSameText(a: BlockCheck, b: BlockCheck): boolean {
  return a.hash === b.hash && a.bytes === b.bytes && a.scrubbed === b.scrubbed;
}
