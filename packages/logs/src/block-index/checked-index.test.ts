import { describe, expect, it } from 'vitest';
import type { BlockSummary } from '../scan/block/blocks.ts';
import { FileIndex } from './block-index.ts';
import { CheckedIndex } from './checked-index.ts';

const FOUND = { startBytes: 10, endBytes: 20 };

function summary(block: number): BlockSummary {
  return { block, all: null, hasErrors: false, check: { bytes: 1, hash: block, scrubbed: false } };
}

describe('where a time range was found', () => {
  it('is known as long as the file has the same stamp', () => {
    const index = new FileIndex();
    new CheckedIndex(index, 'one').noteSought('1 2', FOUND);
    expect(new CheckedIndex(index, 'one').sought('1 2')).toEqual(FOUND);
    expect(new CheckedIndex(index, 'one').sought('1 3')).toBeUndefined();
    expect(new CheckedIndex(index, 'two').sought('1 2')).toBeUndefined();
    // Not even if it had that stamp again.
    expect(new CheckedIndex(index, 'one').sought('1 2')).toBeUndefined();
  });

  it('is neither kept nor used for a file that may change without a new stamp', () => {
    const index = new FileIndex();
    new CheckedIndex(index, undefined).noteSought('1 2', FOUND);
    expect(new CheckedIndex(index, 'one').sought('1 2')).toBeUndefined();
    new CheckedIndex(index, 'one').noteSought('1 2', FOUND);
    expect(new CheckedIndex(index, undefined).sought('1 2')).toBeUndefined();
  });

  it('is kept for the last few ranges only', () => {
    const checked = new CheckedIndex(new FileIndex(), 'one');
    for (let range = 0; range < 100; range++) checked.noteSought(`${range}`, FOUND);
    const kept = Array.from({ length: 100 }, (_, range) => range).filter((range) => checked.sought(`${range}`));
    expect(kept).toEqual([92, 93, 94, 95, 96, 97, 98, 99]);
  });
});

describe('an index', () => {
  it('is proven while all of its blocks were read with the same stamp', () => {
    const index = new FileIndex();
    const checked = new CheckedIndex(index, 'one');
    expect(checked.isProven).toBe(false);
    checked.add(summary(0));
    checked.add(summary(1));
    expect(checked.isProven).toBe(true);
    expect(checked.toVerify(0, 2, () => true)).toEqual([]);
    const changed = new CheckedIndex(index, 'two');
    expect(changed.isProven).toBe(false);
    expect(changed.toVerify(0, 2, () => true)).toHaveLength(2);
    changed.noteVerified([summary(0)], { valid: [0], stale: [] });
    expect(changed.isProven).toBe(false);
    expect(changed.toVerify(0, 2, () => true)).toHaveLength(1);
    expect(new CheckedIndex(index, undefined).isProven).toBe(false);
  });

  it('is not proven by a block that was removed in favour of one that is not known for certain', () => {
    const index = new FileIndex();
    const [removed, added] = [summary(0), summary(1)];
    new CheckedIndex(index, 'one').add(removed);
    index.remove(removed);
    index.add(added);
    const checked = new CheckedIndex(index, 'one');
    expect(checked.isProven).toBe(false);
    expect(checked.toVerify(0, 2, () => true)).toEqual([added]);
  });
});
