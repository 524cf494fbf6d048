import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const START = Date.parse('2026-06-01T10:00:00Z');
const DAY_MS = 86_400_000;
const LINE = '2026-06-01 10:00:00.000\tINFO\ta.go:1\tline\n';

/** The magic number of lz4, and bytes that would be records if they were read as text. */
const PACKED = Buffer.concat([Buffer.from([0x04, 0x22, 0x4d, 0x18]), Buffer.from(LINE)]);

/** A log with a rotated file of each compression that is not read. */
function packedDir() {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), LINE);
  for (const name of ['a.log.1.lz4', 'a.log.2.zip']) {
    writeFileSync(join(dir, name), PACKED);
    utimesSync(join(dir, name), START / 1000, START / 1000);
  }
  writeFileSync(join(dir, 'a.log.4.lz4'), '');
  return openDir(dir);
}

const problem = (file: string, compression: string) => ({
  file,
  code: 'LOG_FILE_UNSUPPORTED',
  detail: expect.stringMatching(
    new RegExp(`^"${file}" is compressed with ${compression}, which is not read; decompress it with "\\w+( -d)?"`),
  ),
});
const PROBLEMS = [problem('a.log.1.lz4', 'lz4'), problem('a.log.2.zip', 'zip')];

describe('a rotated file of a compression that is not read', () => {
  test('belongs to its log, and is described with the reason', async () => {
    const details = await packedDir().details();
    const membership = details.map(({ name, family, state, compressed }) => [name, family, state, compressed]);
    expect(membership).toEqual([
      ['a.log', 'a.log', 'live', false],
      ['a.log.1.lz4', 'a.log', 'rotated', true],
      ['a.log.2.zip', 'a.log', 'rotated', true],
      ['a.log.4.lz4', 'a.log', 'rotated', true],
    ]);
    expect(details.map(({ format, problem: why }) => [format, why])).toEqual([
      ['contract', null],
      ...PROBLEMS.map(({ detail }) => ['unreadable', detail]),
      ['empty', null],
    ]);
  });

  test.each([{}, { src: ['a.log'] }, { fromMs: START + DAY_MS / 2 }])(
    'is a problem of everything that would have read it (%j)',
    async (query) => {
      const logs = packedDir();
      const byName = <T extends { file: string }>(problems: T[]) => problems.sort((a, b) => (a.file < b.file ? -1 : 1));
      const { records, end } = await runSearch(logs, query);
      expect(records).toHaveLength(query.fromMs === undefined ? 1 : 0);
      expect(byName(end.problems)).toEqual(PROBLEMS);
      expect(byName((await logs.histogram({ ...query, buckets: 1 })).end.problems)).toEqual(PROBLEMS);
      expect(byName((await logs.digest({ ...query, limit: 1 })).end.problems)).toEqual(PROBLEMS);
    },
  );

  test('is no problem of a search of records that are newer than it', async () => {
    const { end } = await runSearch(packedDir(), { src: ['a.log'], fromMs: START + 2 * DAY_MS });
    expect(end.problems).toEqual([]);
  });

  test('is never returned as text, and can be downloaded', async () => {
    const logs = packedDir();
    const refusal = { code: 'LOG_FILE_UNSUPPORTED' };
    const { records, end } = await runSearch(logs, { src: ['=a.log.1.lz4'] });
    expect({ records, problems: end.problems }).toEqual({ records: [], problems: PROBLEMS.slice(0, 1) });
    await expect(logs.tail('a.log.1.lz4', 100)).rejects.toMatchObject(refusal);
    await expect(logs.open('a.log.1.lz4', { text: true })).rejects.toMatchObject(refusal);
    await expect(logs.follow({ src: ['=a.log.1.lz4'], start: 'end' }).next()).rejects.toMatchObject(refusal);
    const raw = await logs.open('a.log.1.lz4');
    expect(raw.sizeBytes).toBe(PACKED.length);
    await raw.close();
  });

  test('does not keep its log from being followed', async () => {
    const leaving = new AbortController();
    const items = packedDir().follow({ src: ['a.log'], start: { back: 5 } }, { signal: leaving.signal });
    for await (const batch of items) {
      if (batch.length > 0) leaving.abort();
      for (const item of batch) expect(item).toMatchObject(item.type === 'end' ? {} : { file: 'a.log' });
    }
  });
});
