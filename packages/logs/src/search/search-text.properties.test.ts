import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { randomDir } from '../testing/random-dir.ts';
import { logSpec } from '../testing/random-logs.ts';
import { filterSpec, toFilter } from '../testing/random-queries.ts';
import { BERLIN } from '../testing/random-record.ts';
import { fillQuery, runSearch } from '../testing/run-search.ts';
import { readFamilyRecords, type SlowRecord } from '../testing/slow-logs.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FoundRecord, SearchEnd, SearchQuery } from '../types.ts';

interface FoundText {
  text: Buffer;
  /** The text of each record. */
  texts: string[];
  times: number[];
  end: SearchEnd;
}

async function runText(logs: LogDir, query: Partial<SearchQuery>, reusesMemory = false): Promise<FoundText> {
  const parts: Buffer[] = [];
  const found: Omit<FoundText, 'text' | 'end'> = { texts: [], times: [] };
  let end: SearchEnd | undefined;
  for await (const item of logs.search(fillQuery(query), { reusesMemory, asText: true })) {
    if (end) throw new Error('an item follows the end');
    if (item.type === 'end') {
      end = item;
      continue;
    }
    const text = Buffer.from(item.bytes);
    parts.push(text);
    expect(item.times.length).toBe(item.ends.length);
    let start = 0;
    for (const recordEnd of item.ends) {
      found.texts.push(text.toString('latin1', start, recordEnd));
      start = recordEnd;
    }
    expect(start).toBe(text.length);
    found.times.push(...item.times);
  }
  if (!end) throw new Error('the response has no end');
  return { ...found, text: Buffer.concat(parts), end };
}

/** What must not depend on how records are returned. */
function comparable({ reason, records, problems, cursor, coveredFromMs, coveredToMs }: SearchEnd): Partial<SearchEnd> {
  return { reason, records, problems, cursor, coveredFromMs, coveredToMs };
}

/** The text of records as it was written, with newlines where one is missing between two of them. */
function expectedTexts(found: readonly FoundRecord[], written: ReadonlyMap<string, SlowRecord>): string[] {
  return found.map(({ file, offset, bytes }, index) => {
    const text = written.get(`${file}:${offset}`)?.bytes.toString('latin1') ?? '';
    const next = found[index + 1];
    const isContinued = next && next.file === file && next.offset === offset + bytes;
    return next && !isContinued && !text.endsWith('\n') ? `${text}\n` : text;
  });
}

const textCase = fc.record({
  filter: filterSpec,
  order: fc.constantFrom('newest', 'oldest'),
  limit: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 100, max: 3000 }), fc.constant(Infinity)),
});

describe('the text of records', () => {
  test('is that of the records a search returns, page by page, whatever the logs and the query', async () => {
    const { logs, write } = randomDir();
    await fc.assert(
      fc.asyncProperty(
        fc.array(logSpec, { minLength: 1, maxLength: 2 }),
        fc.array(textCase, { minLength: 1, maxLength: 4 }),
        async (specs, cases) => {
          const families = write(specs);
          const records = families.flatMap((family) => readFamilyRecords(family, BERLIN));
          const written = new Map(records.map((record) => [`${record.file}:${record.offset}`, record]));
          for (const { filter: wanted, order, limit } of cases) {
            let page: Partial<SearchQuery> = { ...toFilter(wanted, records), order };
            for (let pages = 0; pages < 3; pages++) {
              const lines = await runSearch(logs, { ...page, limit: Math.min(limit, 1_000_000) });
              const { texts, text, times, end } = await runText(logs, { ...page, limit }, pages % 2 === 0);
              expect(texts).toEqual(expectedTexts(lines.records, written));
              expect(text.toString('latin1')).toBe(texts.join(''));
              expect(times).toEqual(lines.records.map(({ timeMs }) => timeMs ?? Number.NaN));
              expect(comparable(end)).toEqual(comparable(lines.end));
              if (end.cursor === null) break;
              page = { ...page, start: { cursor: end.cursor } };
            }
          }
        },
      ),
      { numRuns: runs(2) },
    );
  });

  it('of all records of a file is the file, byte for byte, however long its records are', async () => {
    const dir = tempDir();
    const logs = openDir(dir);
    const bytes = Buffer.concat([
      Buffer.from('no time\r\n2026-11-15 05:00:00.000\tINFO\ta.go:1\tone\r\n\n\n'),
      Buffer.from(`2026-11-15 05:00:01.000\tINFO\ta.go:1\t${'x'.repeat(1_000_000)}\nlast \xff\x00`, 'latin1'),
    ]);
    writeFileSync(join(dir, 'a.log'), bytes);
    const { text, texts, end } = await runText(logs, { src: ['=a.log'], limit: Infinity });
    expect(text.equals(bytes)).toBe(true);
    expect(texts.length).toBe(end.records);
    expect(end.reason).toBe('exhausted');
  });

  it('is returned without context', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), 'x\n');
    await expect(runText(openDir(dir), { before: 1 })).rejects.toThrow(RangeError);
  });
});
