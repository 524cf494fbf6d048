import { mergeShapes } from '../../shapes/merge-shapes.ts';
import type { RecordFilter } from '../../types.ts';
import type { ScanPart, ScanReport } from '../block/scan-file.ts';
import { NO_ID, ValueTable } from '../count/value-table.ts';

/** Groups records by level and origin. */
export interface DigestJob extends ScanPart {
  kind: 'digest';
  filter: RecordFilter;
}

/** What the records of a group have in common. */
export interface GroupKind {
  rank: number;
  source: string | null;
  /** What records without a source have in common. */
  shape: string | null;
}

/** How many records, the earliest and latest time of them, and the offset of the newest. */
interface Members {
  count: number;
  firstMs: number;
  lastMs: number;
  offset: number;
}

export interface ScannedGroup extends GroupKind, Members {}

export interface DigestResult extends ScanReport {
  groups: ScannedGroup[];
  ungrouped: number;
  /** The groups of blocks that will not change any more, if all records of the block were grouped. */
  kept: PackedBlockGroups | undefined;
}

/** Groups of one job. If there are more, similar shapes are merged early; what does not fit even then is only counted. */
const MAX_GROUPS = 5000;

/** Merging early is repeated only if it has left so much room. */
const MERGED_GROUPS = (MAX_GROUPS * 3) / 4;

/** A group, and what of it is in the current block. */
interface GroupState extends ScannedGroup {
  id: number;
  inBlock: Members;
}

/** Groups by origin first, then by level: most origins have records of one level only. */
export class ScannedGroups {
  ungrouped = 0;
  #all: GroupState[] = [];
  #mayMerge = true;
  readonly #bySource = new Map<string, GroupState[]>();
  readonly #byShape = new Map<string, GroupState[]>();
  /** Sources by their bytes: no text is created for one that is known. */
  readonly #sourceBytes = new ValueTable();
  readonly #sources: string[] = [];
  /** Groups of the current block. */
  readonly #touched: GroupState[] = [];
  #ungroupedBefore = 0;
  #written: BlockGroupsWriter | undefined = new BlockGroupsWriter();

  /** Counts records of one group in the current block. */
  count({ source, shape, rank }: GroupKind, members: Members): void {
    const known = this.#find(source, shape)?.find((candidate) => candidate.rank === rank);
    if (known) {
      this.#addTo(known, members);
      return;
    }
    if (this.#all.length >= MAX_GROUPS && this.#mayMerge) this.#mergeShapes();
    if (this.#all.length >= MAX_GROUPS) this.ungrouped += members.count;
    else this.#addTo(this.#insert({ rank, source, shape, ...NO_MEMBERS }), members);
  }

  /** The text of the source `[start, end)`. */
  sourceText(bytes: Buffer, start: number, end: number): string {
    const known = this.#sourceBytes.find(bytes, start, end);
    if (known !== NO_ID) return this.#sources[known] ?? '';
    const source = bytes.toString('utf8', start, end);
    if (this.#sources.length < MAX_GROUPS) {
      this.#sourceBytes.add(bytes, start, end);
      this.#sources.push(source);
    }
    return source;
  }

  /** Adds what is in the current block to the groups. `keepAs`: its number, if the groups of this block may be kept. */
  endBlock(keepAs?: number): void {
    const isWhole = this.ungrouped === this.#ungroupedBefore;
    if (keepAs !== undefined && isWhole) this.#written?.write(keepAs, this.#touched);
    this.#ungroupedBefore = this.ungrouped;
    this.#flush();
  }

  result(): { groups: ScannedGroup[]; ungrouped: number; kept: PackedBlockGroups | undefined } {
    const groups = this.#all.map(({ id: _id, inBlock: _inBlock, ...group }) => group);
    return { groups, ungrouped: this.ungrouped, kept: this.#written?.packed() };
  }

  #flush(): void {
    for (const group of this.#touched) {
      join(group, group.inBlock);
      group.inBlock = { ...NO_MEMBERS };
    }
    this.#touched.length = 0;
  }

  #addTo(group: GroupState, members: Members): void {
    if (group.inBlock.count === 0) this.#touched.push(group);
    join(group.inBlock, members);
  }

  #find(source: string | null, shape: string | null): GroupState[] | undefined {
    return source === null ? this.#byShape.get(shape ?? '') : this.#bySource.get(source);
  }

  #insert(scanned: ScannedGroup): GroupState {
    const { source, shape } = scanned;
    const group = { ...scanned, id: this.#all.length, inBlock: { ...NO_MEMBERS } };
    const ofOrigin = this.#find(source, shape);
    this.#all.push(group);
    if (ofOrigin) ofOrigin.push(group);
    else if (source === null) this.#byShape.set(shape ?? '', [group]);
    else this.#bySource.set(source, [group]);
    return group;
  }

  #mergeShapes(): void {
    this.#flush();
    // Groups of blocks that were written before are others.
    this.#written = undefined;
    const all = this.#all;
    const merged = mergeShapes(all.flatMap(({ shape }) => shape ?? []));
    this.#all = [];
    this.#bySource.clear();
    this.#byShape.clear();
    for (const group of all) {
      const { source, rank } = group;
      const shape = group.shape === null ? null : (merged.get(group.shape) ?? group.shape);
      const known = this.#find(source, shape)?.find((candidate) => candidate.rank === rank);
      if (known) join(known, group);
      else this.#insert({ ...group, shape });
    }
    this.#mayMerge = this.#all.length <= MERGED_GROUPS;
  }
}

const NO_MEMBERS: Readonly<Members> = { count: 0, firstMs: Number.NaN, lastMs: Number.NaN, offset: -1 };

/** A record without a time is the newest only if none has a time; of records with the same time, the last one is. */
function join(known: Members, { count, firstMs, lastMs, offset }: Members): void {
  known.count += count;
  if (firstMs < known.firstMs || Number.isNaN(known.firstMs)) known.firstMs = firstMs;
  const isSameTime = Object.is(lastMs, known.lastMs);
  if (isSameTime ? offset > known.offset : lastMs > known.lastMs || Number.isNaN(known.lastMs)) {
    known.lastMs = lastMs;
    known.offset = offset;
  }
}

/** Groups of a block that are kept: 16 bytes each, so at most 2 % of the block. */
const MAX_KEPT_GROUPS = 320;

/** Numbers per group: its id and count, the offset of its newest record in the text, and two times. */
export const GROUP_NUMBERS = 5;

/** The groups of the blocks of a job, one block after the other. */
export interface PackedBlockGroups {
  blocks: number[];
  /** How many groups all blocks up to this one have. */
  ends: number[];
  /** Each group has its index among the groups of the job, count, offset, first and last time. */
  numbers: Float64Array<ArrayBuffer>;
}

/** Collects the groups of blocks. */
class BlockGroupsWriter {
  readonly #blocks: number[] = [];
  readonly #ends: number[] = [];
  readonly #numbers: number[] = [];

  write(block: number, groups: readonly { id: number; inBlock: Members }[]): void {
    if (groups.length > MAX_KEPT_GROUPS) return;
    for (const { id, inBlock } of groups) {
      this.#numbers.push(id, inBlock.count, inBlock.offset, inBlock.firstMs, inBlock.lastMs);
    }
    this.#blocks.push(block);
    this.#ends.push(this.#numbers.length / GROUP_NUMBERS);
  }

  packed(): PackedBlockGroups | undefined {
    if (this.#blocks.length === 0) return undefined;
    return { blocks: this.#blocks, ends: this.#ends, numbers: Float64Array.from(this.#numbers) };
  }
}
