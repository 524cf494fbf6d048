import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { ask, askPages, toldOf } from '../testing/ask.ts';
import { BERLIN, type LogSpec, LogWriter, logSpec, writeFamilies } from '../testing/random-logs.ts';
import { filterOf, filterSpec, slowStartOf, startSpec } from '../testing/random-queries.ts';
import {
  familyRecordsOf,
  type SlowFamily,
  type SlowRecord,
  slowMerge,
  slowSearch,
  tell,
} from '../testing/slow-logs.ts';
import { openDir, tempDir } from '../testing/temp-dir.ts';
import type { FoundRecord, StartPoint } from '../types.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

interface Setting {
  logs: LogDir;
  write(specs: readonly LogSpec[]): SlowFamily[];
}

/** One directory and its engine for many cases: starting threads takes longer than asking. */
function setting(): Setting {
  const dir = join(tempDir(), 'logs');
  const writer = new LogWriter();
  const logs = openDir(dir, { zone: BERLIN });
  return {
    logs,
    write(specs) {
      const families = specs.map((spec, index) => writer.family(`log${String.fromCharCode(97 + index)}`, spec));
      writeFamilies(dir, families);
      return families;
    },
  };
}

const question = fc.record({
  filter: filterSpec,
  start: startSpec,
  until: fc.option(fc.nat(1_000_000), { freq: 5, nil: undefined }),
  order: fc.constantFrom('newest', 'oldest'),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(100_000)),
  context: fc.constantFrom([0, 0], [0, 0], [2, 1], [0, 3]),
  oneFile: fc.boolean(),
});

/** Cursors of all records, as the engine tells them. */
async function cursorsOf(logs: LogDir, query: { file?: string; family?: string }): Promise<FoundRecord[]> {
  return (await ask(logs, query)).records;
}

describe('a search', () => {
  test('tells what the reference tells, whatever the log and the question', { timeout: 600_000 }, async () => {
    const { logs, write } = setting();
    await fc.assert(
      fc.asyncProperty(logSpec, fc.array(question, { minLength: 1, maxLength: 6 }), async (spec, questions) => {
        const [family = { name: '', files: [] }] = write([spec]);
        for (const { filter: wanted, start, until, order, limit, context, oneFile } of questions) {
          const file = family.files[start.at % family.files.length];
          const asksFile = (oneFile || start.kind === 'offset') && file !== undefined;
          const records = familyRecordsOf(asksFile ? { name: '', files: [file] } : family, BERLIN);
          const selection = asksFile ? { file: file.name } : { family: family.name };
          const all = await cursorsOf(logs, selection);
          expect(all.map(toldOf)).toEqual(records.map(tell));

          const slowStart = slowStartOf(start, records);
          const stop = until === undefined ? undefined : until % records.length;
          const filter = filterOf(wanted, records);
          const expected = slowSearch(records, {
            ...filter,
            order,
            start: slowStart,
            until: stop === undefined ? undefined : records[stop],
          }).slice(0, limit);
          const [before = 0, after = 0] = context;
          const point = startPoint(slowStart, records, all);
          const { records: found, end } = await ask(logs, {
            ...selection,
            ...filter,
            order,
            limit,
            before,
            after,
            ...(point && { start: point }),
            ...(stop !== undefined && { until: all[stop]?.cursor ?? '' }),
          });
          expect(found.map(toldOf)).toEqual(expected.map(tell));
          expect(end.records).toBe(expected.length);
          if (end.reason === 'exhausted') expect(end.cursor).toBeNull();
          else expect([end.reason, expected.length]).toEqual(['limit', limit]);
          expectContext(found, expected, records, { before, after });
        }
      }),
      { numRuns: 60 * MORE },
    );
  });

  test('gone through by pages tells every record exactly once and in order', { timeout: 600_000 }, async () => {
    const { logs, write } = setting();
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 100, max: 5000 })), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(
        logSpec,
        filterSpec,
        fc.constantFrom('newest', 'oldest'),
        sizes,
        async (spec, wanted, order, pages) => {
          const [family = { name: '', files: [] }] = write([spec]);
          const records = familyRecordsOf(family, BERLIN);
          const filter = filterOf(wanted, records);
          const expected = slowSearch(records, { ...filter, order });
          const usable =
            expected.length > 200 ? pages.map((size) => Math.max(size, Math.ceil(expected.length / 40))) : pages;
          const found = await askPages(logs, { family: family.name, ...filter, order }, usable);
          expect(found.map(toldOf)).toEqual(expected.map(tell));
        },
      ),
      { numRuns: 30 * MORE },
    );
  });

  test('of all logs tells each once, every log in its own order', { timeout: 600_000 }, async () => {
    const { logs, write } = setting();
    const specs = fc.array(logSpec, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        specs,
        filterSpec,
        fc.constantFrom('newest', 'oldest'),
        fc.nat(30),
        async (logSpecs, wanted, order, size) => {
          const families = write(logSpecs);
          const byFamily = families.map((family) => familyRecordsOf(family, BERLIN));
          const filter = filterOf(wanted, byFamily.flat());
          const lanes = byFamily.map((records) => slowSearch(records, { ...filter, order }));
          const { records: found } = await ask(logs, { ...filter, order });
          expectLanes(found, lanes, families);
          if (Object.keys(filter).length === 0) expect(found.map(toldOf)).toEqual(slowMerge(lanes, order).map(tell));

          const pages = [1 + size, 1 + Math.ceil(found.length / 10)];
          expectLanes(await askPages(logs, { ...filter, order }, pages), lanes, families);
        },
      ),
      { numRuns: 25 * MORE },
    );
  });
});

function startPoint(
  start: ReturnType<typeof slowStartOf>,
  records: readonly SlowRecord[],
  all: readonly FoundRecord[],
): StartPoint | undefined {
  const cursorOf = (record: SlowRecord) => all[records.indexOf(record)]?.cursor ?? '';
  if (!start) return undefined;
  if ('after' in start) return { cursor: cursorOf(start.after) };
  if ('at' in start) return { record: cursorOf(start.at) };
  return start;
}

function expectContext(
  found: readonly FoundRecord[],
  expected: readonly SlowRecord[],
  records: readonly SlowRecord[],
  { before, after }: { before: number; after: number },
): void {
  // Of a few only: the reference is slow.
  for (const [index, record] of found.slice(0, 5).entries()) {
    const place = records.indexOf(expected[index] as SlowRecord);
    const told = (part: readonly SlowRecord[]) => part.map(tell);
    if (before > 0) expect(record.before?.map(toldOf)).toEqual(told(records.slice(Math.max(0, place - before), place)));
    else expect(record.before).toBeUndefined();
    if (after > 0) expect(record.after?.map(toldOf)).toEqual(told(records.slice(place + 1, place + 1 + after)));
    else expect(record.after).toBeUndefined();
  }
}

function expectLanes(
  found: readonly FoundRecord[],
  lanes: readonly SlowRecord[][],
  families: readonly SlowFamily[],
): void {
  families.forEach(({ files }, index) => {
    const names = new Set(files.map(({ name }) => name));
    const own = found.filter(({ file }) => names.has(file));
    expect(own.map(toldOf)).toEqual(lanes[index]?.map(tell));
  });
  expect(found.length).toBe(lanes.flat().length);
}
