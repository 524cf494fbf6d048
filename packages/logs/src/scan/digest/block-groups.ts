import type { Members } from './digest-jobs.ts';

/** Groups of a block that are kept: 16 bytes each, so at most 2 % of the block. */
const MAX_KEPT_GROUPS = 320;

/** Numbers per group: its id and count, the offset of its newest record in the text, and two times. */
export const GROUP_NUMBERS = 5;

/** The groups of the blocks of a job, one block after the other. */
export interface PackedBlockGroups {
  blocks: number[];
  /** How many groups all blocks up to this one have. */
  ends: number[];
  /** Of each group: its index among the groups of the job, count, offset, first and last time. */
  numbers: Float64Array<ArrayBuffer>;
}

/** Collects the groups of blocks. */
export class BlockGroupsWriter {
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
