import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldValues, recordFields, valueType } from '../query/index.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { randomDir } from '../testing/random-dir.ts';
import { logSpec } from '../testing/random-logs.ts';
import { filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { matches, readFamilyRecords, type SlowRecord, timedOnly } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';

const specs = fc.array(logSpec, { minLength: 1, maxLength: 2 });
const field = fc.constantFrom('level', 'source', 'component', 'message', 'q', 'key', 'context.a.b', 'nothing');

/** Occurrences by value, a value of a record counted once, and by bucket. */
function slowTop(records: readonly SlowRecord[], by: string, bucketMs: number) {
  const counts = new Map<string, { count: number; buckets: Map<number, number> }>();
  let missing = 0;
  for (const { whole, timeMs } of records) {
    const values = new Set(fieldValues(whole, by));
    if (values.size === 0) missing++;
    for (const value of values) {
      const known = counts.get(value) ?? { count: 0, buckets: new Map() };
      counts.set(value, known);
      known.count++;
      const startMs = Math.floor(timeMs / bucketMs) * bucketMs;
      if (!Number.isNaN(startMs)) known.buckets.set(startMs, (known.buckets.get(startMs) ?? 0) + 1);
    }
  }
  const sorted = [...counts].sort(([a, { count: x }], [b, { count: y }]) => y - x || (a < b ? -1 : 1));
  const values = sorted.map(([value, { count, buckets }]) => ({
    value: value.length > 256 ? `${value.slice(0, 255)}…` : value,
    count,
    buckets: [...buckets].sort(([a], [b]) => a - b).map(([startMs, inBucket]) => ({ startMs, count: inBucket })),
  }));
  return { values, missing, total: values.reduce((sum, { count }) => sum + count, 0) };
}

describe('top', () => {
  test('counts like the reference, also when repeated', async () => {
    const { logs, write } = randomDir();
    const query = fc.record({
      filter: filterSpec,
      by: field,
      limit: fc.constantFrom(1, 3, 10_000),
      buckets: fc.constantFrom(undefined, 1, 7, 200),
      maxCells: fc.constantFrom(undefined, 3),
      only: fc.constantFrom(undefined, [0, 2], [1, 1, 5]),
    });
    await fc.assert(
      fc.asyncProperty(specs, fc.array(query, { minLength: 1, maxLength: 3 }), async (logSpecs, queries) => {
        const records = write(logSpecs).flatMap((family) => timedOnly(readFamilyRecords(family, BERLIN)));
        for (const { filter: wanted, by, limit, buckets, maxCells, only } of [...queries, ...queries]) {
          const filter = toFilter(wanted, records);
          const matching = records.filter((record) => matches(record, filter));
          // Several may be shown cut in the same way.
          const all = slowTop(matching, by, 1).values.flatMap(({ value }) => (value.length < 256 ? value : []));
          const values = only?.map((index) => all[index] ?? 'none');
          const query = { ...filter, by, limit, ...(buckets && { buckets }), ...(values && { values }) };
          const found = await logs.top(query, { countLimits: { maxCells } });
          const expected = slowTop(matching, by, found.bucketMs ?? 1);
          const chosen = expected.values.filter(({ value }) => values?.includes(value) ?? true);
          const listed = chosen.slice(0, limit);
          expect(found).toMatchObject({
            values: listed.map(({ buckets: counted, ...value }) => {
              return found.bucketMs === undefined ? value : { ...value, buckets: counted };
            }),
            others: expected.total - listed.reduce((sum, { count }) => sum + count, 0),
            missing: expected.missing,
            distinct: chosen.length,
            isExact: true,
          });
          expect([found.end.records, found.end.reason]).toEqual([matching.length, 'exhausted']);
        }
      }),
      { numRuns: runs(2) },
    );
  });
});

describe('more values than are counted exactly', () => {
  test('have counts within their error, and those over time are exact', async () => {
    const dir = tempDir();
    const lines = Array.from({ length: 30_000 }, (_, index) => {
      const id = index % 4 === 0 ? index % 16 : `once-${index}`;
      const time = `2026-06-01 10:${String(Math.floor(index / 600)).padStart(2, '0')}:00.000`;
      return `${time}\tINFO\ta.go:1\trequest\t{"id":"${id}"}\n`;
    });
    writeFileSync(join(dir, 'a.log'), lines.join(''));
    const logs = openDir(dir);
    const query = { by: 'context.id', limit: 6, bucketMs: 600_000 };
    const countLimits = { maxValues: 1000, maxCells: 500 };
    const { values, others, distinct, isExact, by } = await logs.top(query, { countLimits });
    expect([by, isExact]).toEqual(['id', false]);
    const buckets = [0, 1, 2, 3, 4].map((ten) => ({ startMs: Date.UTC(2026, 5, 1, 10, ten * 10), count: 375 }));
    expect(values.slice(0, 4)).toEqual(['0', '12', '4', '8'].map((value) => ({ value, count: 1875, buckets })));
    expect(values.map(({ count }) => count)).toEqual([1875, 1875, 1875, 1875, 1, 1]);
    expect(others).toBe(22_500 - 2);
    expect(Math.abs(distinct / 22_504 - 1)).toBeLessThan(0.05);
    const { values: once } = await logs.top({ by: 'id', limit: 1000 }, { countLimits });
    for (const { value, count, error = 0 } of once) {
      const real = value.startsWith('once') ? 1 : 1875;
      expect(count <= real && count + error >= real && error <= (2 * 30_000) / 1000).toBe(true);
    }
  });
});

describe('fields', () => {
  test('of a large range are those of blocks all over it', async () => {
    const dir = tempDir();
    const line = (minute: number) =>
      `2026-06-01 10:${String(minute).padStart(2, '0')}:00.000\tINFO\ta.go:1\tline\t{"minute":${minute}}\n`;
    const lines = Array.from({ length: 60 }, (_, minute) => line(minute).repeat((2 * BLOCK_BYTES) / line(60).length));
    writeFileSync(join(dir, 'a.log'), lines.join(''));
    writeFileSync(join(dir, 'b.log'), line(5));
    const logs = openDir(dir);
    const maxSampleBytes = 30 * BLOCK_BYTES;
    const sample = await logs.fields({ limit: 10 }, { fieldLimits: { maxSampleBytes } });
    expect(sample.isSample).toBe(true);
    expect(sample.end.scannedBytes + (sample.end.unreadBytes ?? 0)).toBeGreaterThan(118 * BLOCK_BYTES);
    const minutes = sample.fields.find(({ name }) => name === 'minute');
    expect(minutes).toMatchObject({ types: ['number'], isDistinctExact: true, records: sample.records });
    expect(minutes?.distinct).toBeGreaterThanOrEqual(28);
    const range = { fromMs: Date.UTC(2026, 5, 1, 10, 20), toMs: Date.UTC(2026, 5, 1, 10, 22) };
    const whole = await logs.fields({ ...range, limit: 10 }, { fieldLimits: { maxSampleBytes } });
    expect(whole).toMatchObject({ isSample: false, totalFields: 4 });
  });

  test('beyond the limit are counted, and values beyond it estimated', async () => {
    const dir = tempDir();
    const lines = Array.from({ length: 3000 }, (_, index) => {
      return `2026-06-01 10:00:00.000\tINFO\ta.go:1\tline\t{"id":${index},"key${index}":"x"}\n`;
    });
    writeFileSync(join(dir, 'a.log'), lines.join(''));
    const { fields, totalFields } = await openDir(dir).fields({ limit: 5 });
    expect(fields.map(({ name }) => name)).toEqual(['id', 'level', 'message', 'source', 'key0']);
    expect(fields[0]).toMatchObject({ records: 3000, isDistinctExact: false });
    expect(Math.abs((fields[0]?.distinct ?? 0) / 3000 - 1)).toBeLessThan(0.05);
    expect(Math.abs(totalFields / 3004 - 1)).toBeLessThan(0.05);
  });

  test('are those of the reference', async () => {
    const { logs, write } = randomDir();
    await fc.assert(
      fc.asyncProperty(specs, filterSpec, async (logSpecs, wanted) => {
        const records = write(logSpecs).flatMap((family) => timedOnly(readFamilyRecords(family, BERLIN)));
        const filter = toFilter(wanted, records);
        const matching = records.filter((record) => matches(record, filter));
        const expected = new Map<string, { records: Set<SlowRecord>; values: Set<string>; types: string[] }>();
        for (const record of matching) {
          for (const { name, text } of recordFields(record.whole)) {
            const known = expected.get(name) ?? { records: new Set(), values: new Set(), types: [] };
            expected.set(name, known);
            known.records.add(record);
            known.values.add(text);
            known.types.push(valueType(text, name));
          }
        }
        const found = await logs.fields({ ...filter, limit: 1000 });
        expect(found).toMatchObject({ totalFields: expected.size, records: matching.length, isSample: false });
        expect(found.fields.map(({ name }) => name).sort()).toEqual([...expected.keys()].sort());
        for (const { name, types, records: having, distinct, isDistinctExact } of found.fields) {
          const field = expected.get(name);
          const all = field?.types ?? [];
          const shares = new Map(
            [...new Set(all)].map((type) => [type, all.filter((other) => other === type).length / all.length]),
          );
          const isMain = (type: string) => (shares.get(type) ?? 0) >= 0.05;
          expect([having, new Set(types)]).toEqual([field?.records.size, new Set(all.filter(isMain))]);
          const values = field?.values.size ?? 0;
          if (isDistinctExact) expect(distinct).toBe(values);
          else expect(Math.abs(distinct / values - 1)).toBeLessThan(0.1);
        }
      }),
      { numRuns: runs(2) },
    );
  });
});
