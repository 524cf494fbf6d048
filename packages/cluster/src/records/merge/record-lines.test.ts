import { exactJson } from '@porthole/contract';
import { LineKernel } from '@porthole/logs';
import type { FoundRecord } from '@porthole/logs/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endItem, FakeNode, record } from '../../testing/fake-node.ts';
import { ClusterLineWriter } from './cluster-line-writer.ts';
import { MemberLane } from './member-lane.ts';
import { mergeByTime } from './merge-by-time.ts';
import { LineReader, LineRows, lineItems } from './record-lines.ts';

const KERNEL = new LineKernel();
const QUERY = { order: 'oldest', limit: 1000, before: 0, after: 0 } as const;

interface MergeCase {
  asLines: boolean;
  /** Records that a member sends at once. */
  batch?: number;
  /** How far the clock of each member is ahead of the one before it. */
  aheadMs?: number;
  limit?: number;
}

/** The records of all members as one text: with lines that are not parsed, or with records. */
async function mergedText(
  members: readonly (readonly FoundRecord[])[],
  { asLines, batch = 3, aheadMs = 7, limit = 1000 }: MergeCase,
): Promise<string> {
  const lanes = members.map((records, index) => {
    const node = new FakeNode({
      async *search() {
        yield [];
        for (let at = 0; at < records.length; at += batch) yield records.slice(at, at + batch);
        yield [endItem()];
      },
    });
    const open = () => (asLines ? lineItems(node.searchLogLines(QUERY), KERNEL) : node.searchLogs(QUERY));
    const clock = { offsetMs: index * aheadMs, uncertaintyMs: 2 };
    const waiting = { firstBatchMs: 9e4, timeoutMs: 9e4 };
    return new MemberLane({ index, id: `n "${index}" ü`, clock, newestFirst: false, open, ...waiting });
  });
  const writer = new ClusterLineWriter(KERNEL);
  let text = '';
  for await (const items of mergeByTime(lanes, { limit, maxParallel: 9 })) text += writer.write(items).toString();
  return text;
}

/** What a member may send besides what a record needs. */
const odd = fc.record(
  {
    file: fc.constantFrom('a.log', 'a "b".log', 'ü.log', 'a\\'),
    timeMs: fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(1.5, -0.25)),
    level: fc.constantFrom('INFO' as const, 'ERROR' as const),
    message: fc.string(),
    context: fc.dictionary(fc.constantFrom('node', 'atMs', 'timeMs', 'a'), fc.jsonValue()),
    contextText: fc.constantFrom('{"a":1.0,"a":2}', '{"node":1}'),
    node: fc.constantFrom('other', 7),
    atMs: fc.constantFrom(1, 'never'),
    isUnsure: fc.boolean(),
    before: fc.constant([record('neighbour', 1)]),
    another: fc.string(),
  },
  { requiredKeys: [] },
);

describe('records merged as lines', () => {
  it('are the same as records that were parsed, and nothing of a member overrides what this node says', async () => {
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
          expect(await mergedText(members, { asLines: true })).toBe(await mergedText(members, { asLines: false }));
        },
      ),
      { numRuns: 60 },
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
          const asLines = await mergedText(members, { ...how, asLines: true });
          expect(asLines).toBe(await mergedText(members, { ...how, asLines: false }));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are the same if the client has recognized them already', () => {
    const lines = fc.array(fc.tuple(fc.constantFrom('a.log', 'ü.log', 'b.log'), fc.nat(), fc.string()), {
      minLength: 1,
      maxLength: 9,
    });
    const show = (items: readonly unknown[]) =>
      items.flatMap((item) => {
        if (!(item instanceof LineRows)) return item;
        return item.records().map(({ file, offset, cursor, timeMs, line }) => {
          return { file, offset, cursor, timeMs, line: line.toString() };
        });
      });
    fc.assert(
      fc.property(lines, fc.boolean(), (given, withEnd) => {
        const items = given.map(([file, offset, message]) => {
          return { type: 'record', file, offset, bytes: 1, cursor: 'c.1', timeMs: offset, message };
        });
        const piece = Buffer.from(
          [...items, ...(withEnd ? [endItem()] : [])].map((item) => `${exactJson(item)}\n`).join(''),
        );
        const kernel = new LineKernel();
        const before = show(new LineReader(kernel).read(piece));
        const { count } = kernel.recognize(piece, 0, Infinity);
        expect(count).toBe(given.length);
        // Not if there is something else in it.
        expect(kernel.known(piece) === undefined).toBe(withEnd);
        expect(show(new LineReader(kernel).read(piece))).toEqual(before);
        expect(kernel.known(Buffer.from(piece))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it('are not parsed if they are as nodes write them', async () => {
    const sent = { ...record('m', 12, 3), file: 'a.log', offset: 34, cursor: 'cc.1', timeMs: 12 };
    const { file, offset, bytes, cursor, timeMs, message } = sent;
    const line = exactJson({ type: 'record', file, offset, bytes, cursor, timeMs, message });
    const chunks = (async function* () {
      yield Buffer.from(`${line}\n${line}\n${exactJson(endItem())}\n`);
    })();
    for await (const items of lineItems(chunks, KERNEL)) {
      const [lines, end] = items;
      expect(lines).toBeInstanceOf(LineRows);
      expect((lines as LineRows).count).toBe(2);
      expect((lines as LineRows).last).toMatchObject({ file: 'a.log', offset: 34, cursor: 'cc.1', timeMs: 12 });
      expect(end).toEqual(endItem());
    }
  });
});
