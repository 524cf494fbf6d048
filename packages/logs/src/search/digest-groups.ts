import type { BlockSummary } from '../block-index/block-index.ts';
import type { KeptGroups } from '../block-index/kept-groups.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import type { ScannedGroup } from '../scan/digest/digest-jobs.ts';
import type { RecordMatcher } from '../scan/match/record-matcher.ts';
import { mergeShapes } from '../shapes/merge-shapes.ts';
import type { OpenFamily } from './files/open-family.ts';
import type { BlockOwner, KnownBlocks } from './plan/file-parts.ts';

/**
 * Groups kept while scanning. If there are more, similar shapes are merged early; what does not fit even then is counted.
 * Merging happens on the main thread: with 20,000 different shapes it took up to 1.8 s, during which nobody was served.
 */
const MAX_GROUPS = 6_000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

/** A group and the position of its newest record. */
export interface GroupState extends ScannedGroup {
  family: OpenFamily;
  /** Index of the file in the family. */
  file: number;
  /** Of the family among all of the query. */
  familyNumber: number;
  /** There are records of it before the counted range. */
  wasSeen?: boolean;
}

/** The groups of a digest. */
export class GroupTable {
  ungrouped = 0;
  records = 0;
  #mayMerge = true;
  #groups = new Map<string, GroupState>();

  count(group: GroupState): void {
    this.records += group.count;
    if (!this.#add(group)) this.ungrouped += group.count;
  }

  /**
   * Notes that a group has records before the counted range, after all of that was counted: a call site not known by then
   * has none in it. A shape may still merge with others. Returns `false` if there was no room for it.
   */
  see(group: GroupState): boolean {
    if (group.shape === null && !this.#groups.has(toKey(group))) return true;
    return this.#add({ ...group, count: 0, wasSeen: true });
  }

  /** Merges groups whose shapes differ in what varies by position only. */
  mergeShapes(): void {
    const groups = [...this.#groups.values()];
    const merged = mergeShapes(groups.flatMap(({ shape }) => shape ?? []));
    this.#groups = new Map();
    for (const group of groups) {
      if (group.shape !== null) group.shape = merged.get(group.shape) ?? group.shape;
      const key = toKey(group);
      const known = this.#groups.get(key);
      if (known) joinGroup(known, group);
      else this.#groups.set(key, group);
    }
  }

  /** Largest first; equal ones in an order that does not depend on the scan. */
  largestFirst(): GroupState[] {
    const counted = [...this.#groups].filter(([, { count }]) => count > 0);
    const sorted = counted.sort(([aKey, a], [bKey, b]) => b.count - a.count || (aKey < bKey ? -1 : 1));
    return sorted.map(([, group]) => group);
  }

  #add(group: GroupState): boolean {
    if (this.#groups.size >= MAX_GROUPS && this.#mayMerge) {
      this.mergeShapes();
      this.#mayMerge = this.#groups.size <= MERGED_GROUPS;
    }
    const key = toKey(group);
    const known = this.#groups.get(key);
    if (known) joinGroup(known, group);
    else if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, group);
    else return false;
    return true;
  }
}

function toKey({ rank, source, shape }: GroupState): string {
  return JSON.stringify([rank, source, shape]);
}

/** Groups that were only seen come last: `known` is not one of them if the other was counted. */
function joinGroup(known: GroupState, group: GroupState): void {
  if (group.wasSeen) known.wasSeen = true;
  if (group.count === 0) return;
  known.count += group.count;
  if (group.firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = group.firstMs;
  if (!isNewer(group, known)) return;
  const { lastMs, offset, file, family, familyNumber } = group;
  Object.assign(known, { lastMs, offset, file, family, familyNumber });
}

/** Of records with the same time, or without one, the newest is the last one of the last file. */
function isNewer(group: GroupState, known: GroupState): boolean {
  if (!Object.is(group.lastMs, known.lastMs)) return group.lastMs > known.lastMs || Number.isNaN(known.lastMs);
  if (group.familyNumber !== known.familyNumber) return group.familyNumber > known.familyNumber;
  return group.file === known.file ? group.offset > known.offset : group.file > known.file;
}

/** Sums of what is known of the blocks of a file, by the ids of its groups. */
interface FileSums {
  owner: BlockOwner;
  sums: Map<number, { count: number; firstMs: number; lastMs: number; offset: number }>;
}

/** Counts blocks by the groups that earlier digests found in them. */
export class KnownGroups implements KnownBlocks {
  readonly #matcher: RecordMatcher;
  readonly #files = new Map<KeptGroups, FileSums>();

  constructor(matcher: RecordMatcher) {
    this.#matcher = matcher;
  }

  mayTake({ all, block, check }: BlockSummary, { index, file }: BlockOwner): boolean {
    if (!all || !index.groups.has(block, check, file.scrub?.id)) return false;
    const { hasTimes, fromMs, toMs } = this.#matcher;
    return !hasTimes || (all.untimed === 0 && all.minMs >= fromMs && all.maxMs < toMs);
  }

  take(summary: BlockSummary, owner: BlockOwner): boolean {
    if (!this.mayTake(summary, owner)) return false;
    const { groups } = owner.index;
    const { ranks } = this.#matcher;
    const { sums } = this.#files.get(groups) ?? this.#begin(groups, owner);
    groups.take(summary.block, (id, count, offsetInBlock, firstMs, lastMs) => {
      if (ranks[groups.kinds[id]?.rank ?? 0] === 0) return;
      const offset = summary.block * BLOCK_BYTES + offsetInBlock;
      const sum = sums.get(id);
      if (!sum) {
        sums.set(id, { count, firstMs, lastMs, offset });
        return;
      }
      sum.count += count;
      if (firstMs < sum.firstMs || Number.isNaN(sum.firstMs)) sum.firstMs = firstMs;
      const isSameTime = Object.is(lastMs, sum.lastMs);
      if (isSameTime ? offset < sum.offset : !(lastMs > sum.lastMs || Number.isNaN(sum.lastMs))) return;
      sum.lastMs = lastMs;
      sum.offset = offset;
    });
    return true;
  }

  /** Passes on all that was taken. */
  addTo(add: (group: GroupState) => void, families: readonly OpenFamily[]): void {
    for (const [{ kinds }, { owner, sums }] of this.#files) {
      const { family, number: file } = owner;
      const place = { family, file, familyNumber: families.indexOf(family) };
      for (const [id, sum] of sums) {
        const kind = kinds[id];
        if (kind) add({ ...kind, ...sum, ...place });
      }
    }
  }

  #begin(groups: KeptGroups, owner: BlockOwner): FileSums {
    const file: FileSums = { owner, sums: new Map() };
    this.#files.set(groups, file);
    return file;
  }
}
