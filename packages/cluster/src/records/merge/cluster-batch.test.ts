import { exactJson } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs/types';
import { bytesOf, originAt, recordsOf, sliceBatch } from '@porthole/records';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endItem, FakeNode, record } from '../../testing/fake-node.ts';
import { toClusterRecord } from '../to-cluster-record.ts';
import { ClusterBatchWriter } from './cluster-batch.ts';
import { MemberLane } from './member-lane.ts';
import { mergeMembers } from './merge-members.ts';

const QUERY = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;

interface MergeCase {
  /** Records that a member sends at once. */
  batch?: number;
  /** How far the clock of each member is ahead of the one before it. */
  aheadMs?: number;
  limit?: number;
}

/** The lines of all members merged, and what they are if each record is parsed and written again. */
async function mergedTexts(
  members: readonly (readonly FoundRecord[])[],
  { batch = 3, aheadMs = 7, limit = 1000 }: MergeCase,
): Promise<{ text: string; expected: string }> {
  const lanes = members.map((records, index) => {
    const node = new FakeNode({
      async *search() {
        yield [];
        for (let at = 0; at < records.length; at += batch) yield records.slice(at, at + batch);
        yield [endItem()];
      },
    });
    const clock = { offsetMs: index * aheadMs, uncertaintyMs: 2 };
    const waiting = { firstBatchMs: 9e4, timeoutMs: 9e4 };
    const open = () => node.search(QUERY);
    return new MemberLane({ index, id: `n "${index}" ü`, clock, newestFirst: false, open, ...waiting });
  });
  const writer = new ClusterBatchWriter();
  const found = { text: '', expected: '' };
  for await (const runs of mergeMembers(lanes, { limit, maxParallel: 9 })) {
    const written = writer.write(runs);
    found.text += Buffer.from(written.bytes).toString();
    let index = 0;
    for (const { node, lane, isUnsure, batch: own, from, to } of runs)
      for (const [row, record] of recordsOf<FoundRecord>(sliceBatch(own, from, to)).entries()) {
        const atMs = record.timeMs === undefined ? undefined : record.timeMs - lane * aheadMs;
        const merged = toClusterRecord(record, { node, atMs, isUnsure: isUnsure && row === 0 });
        found.expected += `${exactJson(merged)}\n`;
        expect(originAt(written, index)).toEqual({ node, file: record.file });
        expect([written.times[index], written.offsets[index]]).toEqual([atMs ?? Number.NaN, record.offset]);
        const line = Buffer.from(bytesOf(written, index, index + 1)).toString();
        expect(JSON.parse(line)).toEqual(JSON.parse(exactJson(merged)));
        index++;
      }
  }
  return found;
}

/** What a member may send besides what a record needs. */
const odd = fc.record(
  {
    file: fc.constantFrom('a.log', 'a "b".log', 'ü.log', 'a\\'),
    timeMs: fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(1.5, -0.25)),
    level: fc.constantFrom('INFO' as const, 'ERROR' as const),
    message: fc.string(),
    context: fc.dictionary(fc.constantFrom('node', 'atMs', 'timeMs', 'a'), fc.jsonValue()),
    before: fc.constant([record('neighbour', 1)]),
    another: fc.string(),
  },
  { requiredKeys: [] },
);

describe('records merged as lines', () => {
  it('are the same as records that were parsed and written again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(odd, { maxLength: 10 }), { maxLength: 3 }),
        fc.boolean(),
        async (given, first) => {
          const members = given.map((records) =>
            records.map((each, index): FoundRecord => {
              const whole = record(`m${index}`, each.timeMs ?? Number.NaN, index);
              // The time is not always where our nodes write it.
              return (first ? { ...each, ...whole, ...each } : { ...whole, ...each }) as FoundRecord;
            }),
          );
          const { text, expected } = await mergedTexts(members, {});
          expect(text).toBe(expected);
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it('are the same if many of a member come in a row, whatever their times', async () => {
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.nat({ max: 40 }) },
      fc.constantFrom(99_999, 1e5, -3, 1e9, -1e12, 3.9e14, 4e14, 1e15, 0.5, Number.NaN),
    );
    const member = fc.record({ startMs: fc.constantFrom(0, 99_990, 1_767_225_599_990), steps: fc.array(step) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { maxLength: 3 }),
        fc.record({
          batch: fc.constantFrom(1, 5, 100),
          aheadMs: fc.constantFrom(0, 7, -100_000, 0.5),
          limit: fc.constantFrom(1, 4, 30, 1000),
        }),
        async (given, how) => {
          const members = given.map(({ startMs, steps }) => {
            let timeMs = startMs;
            return steps.map((next, index): FoundRecord => {
              timeMs += Number.isNaN(next) ? 0 : next;
              const { type, file, offset, bytes, cursor, message } = record(`m${index}`, timeMs, index);
              // The order of our nodes, without which no line is recognized.
              const time = Number.isNaN(next) ? {} : { timeMs };
              return { type, file: index % 50 < 40 ? file : 'b.log', offset, bytes, cursor, ...time, message };
            });
          });
          const { text, expected } = await mergedTexts(members, how);
          expect(text).toBe(expected);
        },
      ),
      { numRuns: runs(75) },
    );
  });
});
