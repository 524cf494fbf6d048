import { describe, expect, it } from 'vitest';
import { clusterRecord } from '../../http/testing/cluster-responses.ts';
import { followItemMessage } from '../messages.ts';
import { inBoundedMessages } from './calls.ts';

function items(sizes: readonly number[]) {
  return sizes.map((size) => followItemMessage(clusterRecord(1, { message: 'x'.repeat(size) })));
}

describe('items in messages', () => {
  it('are together while they are small', () => {
    const small = items(Array.from({ length: 1000 }, () => 10));
    expect([...inBoundedMessages(small)]).toEqual([small]);
  });

  it('are apart where they would be too large together, in their order, however large one is', () => {
    const sizes = [100_000, 100_000, 100_000, 600_000, 1, 1];
    const large = items(sizes);
    expect([...inBoundedMessages(large)].map((run) => run.map((item) => large.indexOf(item)))).toEqual([
      [0, 1],
      [2],
      [3],
      [4, 5],
    ]);
  });

  it('count all their texts', () => {
    const raw = 'x'.repeat(200_000);
    const [one, other] = [1, 2].map((number) => followItemMessage(clusterRecord(number, { raw })));
    expect([...inBoundedMessages([one, other].filter((item) => item !== undefined))]).toHaveLength(2);
  });

  it('are empty if there is nothing', () => {
    expect([...inBoundedMessages([])]).toEqual([]);
  });
});
