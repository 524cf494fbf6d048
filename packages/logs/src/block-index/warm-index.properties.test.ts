import { appendFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { expectSame, randomDir } from '../testing/random-dir.ts';
import { logSpec } from '../testing/random-logs.ts';
import { filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { slowDigest, slowHistogram } from '../testing/slow-counts.ts';
import { readFamilyRecords, slowSearch } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { DigestGroup } from '../types.ts';

const LINE = '2026-06-01 10:00:00.000\tINFO\ta.go:1\ta line of usual length\n';

/** Samples included, in an order of its own. */
function byCount(groups: readonly (Omit<DigestGroup, 'sample'> & { sample: object })[]): unknown[] {
  const toKey = ({ level, source, shape }: Omit<DigestGroup, 'sample'>) => JSON.stringify([level, source, shape]);
  const sorted = [...groups].sort((a, b) => (toKey(a) < toKey(b) ? -1 : 1));
  return sorted.map(({ sample, ...group }) => ({ ...group, sample: { ...sample, cursor: undefined } }));
}

describe('what was learned from earlier scans', () => {
  test('changes no result, whatever the order of queries and however the file grows', async () => {
    const { dir, logs, write } = randomDir();
    const order = fc.constantFrom('newest' as const, 'oldest' as const);
    const queryList = fc.array(fc.tuple(filterSpec, order, fc.constantFrom(3, 100_000)), {
      minLength: 2,
      maxLength: 4,
    });
    const steps = fc.array(fc.oneof(fc.nat(400), fc.nat(3 * BLOCK_BYTES)), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(logSpec, queryList, steps, async (spec, queries, cuts) => {
        const [family] = write([{ ...spec, files: spec.files.slice(0, 1) }]);
        const [whole] = family.files;
        if (!whole) return;
        const path = join(dir, whole.name);
        // Some bytes before its end the file starts being written in pieces, split anywhere.
        const { text } = whole;
        const lengths = [...new Set(cuts.map((cut) => Math.max(1, text.length - cut)))].sort((a, b) => a - b);
        writeFileSync(path, text.subarray(0, lengths[0] ?? text.length));
        let written = lengths[0] ?? text.length;
        for (const length of [...lengths, text.length]) {
          appendFileSync(path, text.subarray(written, length));
          written = length;
          const writtenMs = Number(statSync(path, { bigint: true }).mtimeNs / 1_000_000n);
          const files = [{ name: whole.name, text: text.subarray(0, length), writtenMs }];
          const records = readFamilyRecords({ name: '', files }, BERLIN);
          for (const [wanted, direction, limit] of queries) {
            const filter = toFilter(wanted, records);
            const { records: found } = await runSearch(logs, {
              src: [`=${whole.name}`],
              ...filter,
              order: direction,
              limit,
            });
            expectSame(found, slowSearch(records, { ...filter, order: direction }).slice(0, limit));
            const { bucketMs, buckets, untimed } = await logs.histogram({
              src: [`=${whole.name}`],
              ...filter,
              buckets: 5,
            });
            expect({ buckets, untimed }).toEqual(slowHistogram(records, filter, bucketMs));
            for (const each of [filter, { minLevel: 'ERROR' as const }, { minLevel: 'WARN' as const }, {}]) {
              const { groups } = await logs.digest({ src: [`=${whole.name}`], ...each, limit: 1000 });
              expect(byCount(groups)).toEqual(byCount(slowDigest(records, each)));
            }
          }
        }
      }),
      { numRuns: runs(2) },
    );
  });

  test('does not apply to a block whose last line was incomplete in its head when it was scanned', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    const before = LINE.repeat(Math.floor((BLOCK_BYTES - 5) / LINE.length));
    const lead = `${before.slice(0, -1)}${'-'.repeat(BLOCK_BYTES - 5 - before.length)}\n`;
    const error = '2026-06-01 10:00:01.000\tERROR\ta.go:1\tacross the border\n';
    writeFileSync(path, lead + error.slice(0, 9));
    const logs = openDir(dir, { zone: BERLIN });
    expect((await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' })).records).toEqual([]);
    appendFileSync(path, error.slice(9) + LINE.repeat(10_000));
    const { records } = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    expect(records).toMatchObject([{ offset: BLOCK_BYTES - 5, message: 'across the border' }]);
  });

  test('lets a level query skip blocks without that level', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), LINE.repeat(30_000));
    const logs = openDir(dir, { zone: BERLIN });
    const cold = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    const warm = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
    expect(warm.records).toEqual(cold.records);
    expect(warm.end.scannedBytes).toBeLessThanOrEqual(2 * BLOCK_BYTES);
    expect(warm.end.skippedBytes + warm.end.scannedBytes).toBeGreaterThanOrEqual(30_000 * LINE.length);
  });

  test('answers a digest without a scan, also of some levels or of a time range', async () => {
    const dir = tempDir();
    const warning = LINE.replace('INFO', 'WARN').replace('10:00:00', '10:00:09');
    writeFileSync(join(dir, 'a.log'), LINE.repeat(20_000) + warning.repeat(20_000));
    const logs = openDir(dir, { zone: BERLIN });
    const cold = await logs.digest({ src: ['=a.log'], limit: 9 });
    expect(cold.end.scannedBytes).toBe(40_000 * LINE.length);
    expect(cold.groups.map(({ level, count }) => [level, count]).sort()).toEqual([
      ['INFO', 20_000],
      ['WARN', 20_000],
    ]);
    const fromMs = cold.groups.find(({ level }) => level === 'WARN')?.firstMs ?? 0;
    const filters = [{}, { minLevel: 'WARN' as const }, { fromMs }];
    for (const filter of filters) {
      const warm = await logs.digest({ src: ['=a.log'], limit: 9, ...filter });
      expect(warm.groups).toEqual(cold.groups.filter(({ level }) => filter === filters[0] || level === 'WARN'));
      // The last block, and one that has records of both times.
      expect(warm.end.scannedBytes).toBeLessThanOrEqual(2 * BLOCK_BYTES);
    }
  });

  test('answers a digest of a level without a scan, also of a time range, if an earlier one was of that level or a lower one', async () => {
    const dir = tempDir();
    const error = LINE.replace('INFO', 'ERROR').replace('10:00:00', '10:00:09');
    writeFileSync(join(dir, 'a.log'), (LINE.repeat(500) + error).repeat(40) + error.repeat(10_000));
    const logs = openDir(dir, { zone: BERLIN });
    const cold = await logs.digest({ src: ['=a.log'], limit: 9, minLevel: 'ERROR', fromMs: 0 });
    expect(cold.groups.map(({ level, count }) => [level, count])).toEqual([['ERROR', 10_040]]);
    for (const filter of [{ fromMs: 0 }, { toMs: Number.MAX_SAFE_INTEGER }, {}]) {
      const warm = await logs.digest({ src: ['=a.log'], limit: 9, minLevel: 'ERROR', ...filter });
      expect(warm.groups).toEqual(cold.groups);
      expect(warm.end.scannedBytes).toBeLessThanOrEqual(BLOCK_BYTES);
    }
    // Lower levels are not known by that, and those above are by those below.
    const all = await logs.digest({ src: ['=a.log'], limit: 9 });
    expect(all.groups.map(({ count }) => count).sort()).toEqual([10_040, 20_000]);
    const fatal = await logs.digest({ src: ['=a.log'], limit: 9, minLevel: 'FATAL' });
    expect(fatal.groups).toEqual([]);
    const again = await logs.digest({ src: ['=a.log'], limit: 9 });
    expect(again.groups).toEqual(all.groups);
    expect(again.end.scannedBytes).toBeLessThanOrEqual(BLOCK_BYTES);
  });

  test('does not show in a digest what is masked since', async () => {
    const dir = tempDir();
    const secret = 'hunter2-and-more';
    writeFileSync(join(dir, 'a.log'), LINE.replace('a.go', secret).repeat(20_000));
    const scrubbing = new Scrubbing();
    const logs = openDir(dir, { zone: BERLIN, scrubbing });
    const digest = async () => (await logs.digest({ src: ['=a.log'], limit: 9 })).groups.map(({ source }) => source);
    expect(await digest()).toEqual([`${secret}:1`]);
    scrubbing.add([secret]);
    const [masked] = await digest();
    expect(masked).not.toContain(secret);
    expect(await digest()).toEqual([masked]);
  });

  test('stays within its memory limit, and results are the same without it', async () => {
    const dir = join(tempDir(), 'logs');
    mkdirSync(dir);
    for (let index = 0; index < 5; index++)
      writeFileSync(join(dir, `f${index}.log`), `${index} ${LINE}`.repeat(10_000));
    const logs = openDir(dir, { zone: BERLIN, maxIndexBytes: 2000 });
    const first = await logs.histogram({ buckets: 5 });
    const again = await logs.histogram({ buckets: 5 });
    expect(again.buckets).toEqual(first.buckets);
    const { groups } = await logs.digest({ src: ['=f0.log'], limit: 9 });
    expect((await logs.digest({ src: ['=f0.log'], limit: 9 })).groups).toEqual(groups);
    expect(logs.usage.indexBytes).toBeLessThanOrEqual(2000);
  });
});
