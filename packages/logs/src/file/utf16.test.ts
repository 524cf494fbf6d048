import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readTail } from '../testing/read-bytes.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir, tempDir } from '../testing/temp-dir.ts';

const LINE = '2026-06-01 10:00:00.00 Server      Microsoft SQL Server 2022\r\n';
const LITTLE = Buffer.from(`\ufeff${LINE}`, 'utf16le');
const BIG = Buffer.from(LITTLE).swap16();

test.each([
  ['ERRORLOG', LITTLE],
  ['ERRORLOG', BIG],
  ['ERRORLOG.1.gz', gzipSync(LITTLE)],
])('a UTF-16 file is named as one, and never read as garbage (%s)', async (file, bytes) => {
  const dir = tempDir();
  writeFileSync(join(dir, file), bytes);
  writeFileSync(join(dir, 'other.log'), LINE);
  const logs = openDir(dir);
  const detail = `"${file}" is encoded in UTF-16, which is not read; convert it with "iconv -f UTF-16 -t UTF-8"`;
  const problems = [{ file, code: 'LOG_FILE_UNSUPPORTED', detail }];
  expect((await logs.details())[0]).toMatchObject({
    ...{ name: file, family: 'ERRORLOG', format: 'utf-16', problem: detail, firstTimeMs: null, lastTimeMs: null },
  });
  for (const query of [{}, { file }, { family: 'ERRORLOG' }]) {
    const { records, end } = await runSearch(logs, query);
    expect({ files: records.map((record) => record.file), problems: end.problems }).toEqual({
      files: 'file' in query || 'family' in query ? [] : ['other.log'],
      problems,
    });
  }
  expect((await logs.histogram({ buckets: 1 })).end).toMatchObject({ records: 1, problems });
  expect((await logs.digest({ limit: 1 })).end).toMatchObject({ records: 1, problems });
});

test('the bytes of a UTF-16 file are returned as they are, and following it is refused', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'ERRORLOG'), LITTLE);
  const logs = openDir(dir);
  expect(await readTail(logs, 'ERRORLOG', 10_000)).toEqual(LITTLE);
  for (const query of [{ file: 'ERRORLOG' }, { family: 'ERRORLOG' }]) {
    const refusal = { code: 'LOG_FILE_UNSUPPORTED' };
    await expect(logs.follow({ ...query, start: 'end' }).next()).rejects.toMatchObject(refusal);
  }
});
