import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSearch } from '../../testing/run-search.ts';
import { openDir, tempDir } from '../../testing/temp-dir.ts';

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
