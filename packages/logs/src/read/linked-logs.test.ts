import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const line = (message: string) => `2026-06-01 10:00:00.000\tINFO\ta.go:1\t${message}\n`;

/** `app.log` with a rotated file, links to both, and a link to a file that is listed by no other name. */
function linkedDir() {
  const dir = tempDir();
  writeFileSync(join(dir, 'app.log'), line('new'));
  writeFileSync(join(dir, 'app.log.1.gz'), gzipSync(line('old')));
  symlinkSync('app.log', join(dir, 'current'));
  symlinkSync('current', join(dir, 'latest.log'));
  symlinkSync('app.log.1.gz', join(dir, 'previous.log.gz'));
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'sub', 'deep.log'), line('deep'));
  symlinkSync('sub/deep.log', join(dir, 'deep.log'));
  return { dir, logs: openDir(dir) };
}

test('a link to a log of the directory is listed as the file system has it, and is the same log', async () => {
  const { logs } = linkedDir();
  expect((await logs.list()).map(({ name }) => name)).toContain('current');
  const details = await logs.details();
  expect(details.map(({ name, family, state }) => `${name} ${family} ${state}`)).toEqual([
    'app.log app.log live',
    'app.log.1.gz app.log rotated',
    'current app.log live',
    'deep.log deep.log live',
    'latest.log app.log live',
    'previous.log.gz app.log rotated',
  ]);
});

test('records of a log that has links are returned and counted once', async () => {
  const { logs } = linkedDir();
  const { records, end } = await runSearch(logs, {});
  expect(records.map(({ file, message }) => `${file} ${message}`).sort()).toEqual([
    'app.log new',
    'app.log.1.gz old',
    'deep.log deep',
  ]);
  expect(end).toMatchObject({ problems: [], scannedFiles: 3 });
  expect((await logs.histogram({ buckets: 1 })).end.records).toBe(3);
  expect((await logs.digest({ limit: 1 })).groups).toMatchObject([{ count: 3 }]);
});

test('a link is searched by its own name', async () => {
  const { logs } = linkedDir();
  for (const query of [{ src: ['=current'] }, { src: ['current'] }]) {
    expect((await runSearch(logs, query)).records).toMatchObject([{ file: 'current', message: 'new' }]);
  }
});

test.each([
  { query: {}, file: 'app.log' },
  { query: { src: ['current'] }, file: 'current' },
])('new records of a log that has links are followed once ($query)', async ({ query, file }) => {
  const { dir, logs } = linkedDir();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const files: string[] = [];
  let hasBegun = false;
  void (async () => {
    for await (const batch of logs.follow({ ...query, start: 'end' }, { signal: leaving.signal })) {
      hasBegun = true;
      files.push(...batch.flatMap((item) => (item.type === 'record' ? [item.file] : [])));
    }
  })();
  await eventually(() => expect(hasBegun).toBe(true));
  appendFileSync(join(dir, 'app.log'), line('newer') + line('newest') + line('last'));
  await eventually(() => expect(files).toEqual([file, file, file]));
});
