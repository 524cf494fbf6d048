import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { filterToQuery } from '../../query/filter-to-query.ts';
import { FILTER_CASES, FILTERED_FILES, recordSecond } from '../../testing/filter-cases.ts';
import { randomDir } from '../../testing/random-dir.ts';
import { logSpec } from '../../testing/random-logs.ts';
import { filterSpec, toFilter } from '../../testing/random-queries.ts';
import { runSearch } from '../../testing/run-search.ts';
import { openDir } from '../../testing/temp-dir.ts';
import type { FoundRecord, LogSelection, RecordFilter } from '../../types.ts';
import { createRecordFilter } from './record-matcher.ts';

const inOrder = (records: readonly FoundRecord[]) => records.map(recordSecond).sort((a, b) => a - b);

/** Records of a snapshot that match. */
async function filterRecords(
  records: readonly FoundRecord[],
  query: LogSelection & RecordFilter,
): Promise<FoundRecord[]> {
  const files = records.map(({ file }) => file);
  return records.filter(await createRecordFilter(query, files));
}

describe('a filter', () => {
  const open = () => {
    const dir = tempDir();
    for (const [name, text] of Object.entries(FILTERED_FILES)) writeFileSync(join(dir, name), text);
    return openDir(dir);
  };

  it('finds the same in files and in a snapshot of them', async () => {
    const logs = open();
    const { records } = await runSearch(logs, { raw: true });
    for (const [query, seconds] of FILTER_CASES) {
      expect({ query, found: inOrder((await runSearch(logs, query)).records) }).toEqual({ query, found: seconds });
      expect({ query, kept: inOrder(await filterRecords(records, query)) }).toEqual({ query, kept: seconds });
    }
  });

  it('gives the same response as the query it compiles to', async () => {
    const logs = open();
    for (const [{ src, fromMs, toMs, ...conditions }] of FILTER_CASES) {
      const outside = JSON.parse(JSON.stringify({ src, fromMs, toMs })) as LogSelection & RecordFilter;
      const query = filterToQuery(conditions);
      const asQuery = await runSearch(logs, { ...outside, ...(query && { query }), raw: true, fields: ['*'] });
      const asFilter = await runSearch(logs, { ...outside, ...conditions, raw: true, fields: ['*'] });
      const withoutTime = { elapsedMs: 0 };
      expect({ ...asQuery, end: { ...asQuery.end, ...withoutTime } }).toEqual({
        ...asFilter,
        end: { ...asFilter.end, ...withoutTime },
      });
    }
  });

  it('finds the same while following', async () => {
    const logs = open();
    for (const [query, seconds] of FILTER_CASES) {
      const leaving = new AbortController();
      const found: FoundRecord[] = [];
      // A follow without matches has no end to wait for; a follow of a file includes its rotated files, too.
      if (seconds.length === 0 || query.src?.[0]?.startsWith('=') === true) continue;
      const start = { timeMs: Date.UTC(2026, 10, 15) } as const;
      for await (const items of logs.follow({ ...query, start }, { signal: leaving.signal })) {
        for (const item of items) if (item.type === 'record') found.push(item);
        if (found.length >= seconds.length) leaving.abort();
      }
      expect({ query, found: inOrder(found) }).toEqual({ query, found: seconds });
    }
  });

  it('a record stored without its text is filtered by its columns', async () => {
    const [record] = (await runSearch(open(), { terms: ['timeout'] })).records;
    expect(record?.raw).toBeUndefined();
    const records = record ? [record] : [];
    for (const query of [{ terms: ['client', '3.50'] }, { regex: 'new timeout' }, { component: 'leaf' }])
      expect(await filterRecords(records, query)).toHaveLength(1);
    expect(await filterRecords(records, { excluded: ['[leaf]'] })).toEqual([]);
  });

  it('rejects an invalid regex', async () => {
    await expect(createRecordFilter({ regex: '(' }, [])).rejects.toMatchObject({ code: 'REGEX_INVALID' });
  });

  test('finds the same in files and in a snapshot, whatever the log and the filter', async () => {
    const { logs, write } = randomDir();
    await fc.assert(
      fc.asyncProperty(logSpec, fc.array(filterSpec, { minLength: 1, maxLength: 5 }), async (spec, wanted) => {
        write([spec]);
        const { records } = await runSearch(logs, { raw: true });
        // A snapshot does not have the whole text of a cut or continued record.
        const whole = (those: readonly FoundRecord[]) =>
          those.filter(({ cut, continued }) => !cut && !continued).map(({ file, offset }) => `${file} ${offset}`);
        for (const each of wanted) {
          const filter = toFilter(each, records.map((record) => ({ ...record, whole: record })) as never);
          const found = (await runSearch(logs, filter)).records;
          expect({ filter, kept: whole(await filterRecords(records, filter)) }).toEqual({ filter, kept: whole(found) });
        }
      }),
      { seed: 7, numRuns: runs(4) },
    );
  });
});

test('a source or component is found however it is written in the file', async () => {
  const dir = tempDir();
  const line = 'time=2026-06-01T10:00:00Z level=info source="C:\\\\a\\\\b.go:7" component="a\\"b" msg=hi\n';
  writeFileSync(join(dir, 'a.log'), line.repeat(3));
  const logs = openDir(dir);
  const [record] = (await runSearch(logs, {})).records;
  expect(record).toMatchObject({ source: 'C:\\a\\b.go:7', tags: ['a"b'] });
  expect((await runSearch(logs, { source: record?.source ?? '' })).records).toHaveLength(3);
  expect((await runSearch(logs, { component: 'A"B' })).records).toHaveLength(3);
});

test('a literal on a continuation line finds its record', async () => {
  const dir = tempDir();
  const head = '2026-06-01 10:00:00.000\tERROR\ta.go:1\tfailed\n';
  writeFileSync(join(dir, 'a.log'), `${head}\tat one()\n\n\tat needle()\n\tat two()\n${head}`);
  expect((await runSearch(openDir(dir), { terms: ['NEEDLE'] })).records).toMatchObject([{ offset: 0, level: 'ERROR' }]);
});
