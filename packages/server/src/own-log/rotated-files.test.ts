import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { compressRotated } from './rotated-files.ts';
import { familyLines, logNames, NOON_MS, numbered, openTestLog, parseMessage, testClock } from './testing/temp-log.ts';

const OLD = 'porthole-2026-11-14T00-00-00.000.log';
const DAY_MS = 86_400_000;

test('rotated files are compressed and together with the live one hold every record in order', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxFileBytes: 4096, gzip: true });
  for (let from = 0; from < 1000; from += 100) {
    for (const message of numbered(from, from + 100)) log.component('x').info('n', message);
    await log.flush();
  }
  await log.close();
  const names = await logNames(dir);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => name.endsWith('.log'))).toEqual(['porthole.log']);
  expect(await readdir(dir)).toHaveLength(names.length);
  expect((await familyLines(dir)).map(parseMessage)).toEqual(numbered(0, 1000));
  expect((await stat(join(dir, names[0] ?? ''))).mode & 0o777).toBe(0o640);
  expect(log.stats()).toMatchObject({ errors: 0 });
});

test('a compressed file keeps the time of its last record', async () => {
  const dir = tempDir();
  await writeFile(join(dir, OLD), 'old\n');
  await utimes(join(dir, OLD), 1000, 2000);
  await compressRotated(dir, OLD);
  expect((await stat(join(dir, `${OLD}.gz`))).mtimeMs).toBe(2_000_000);
});

test('a file fresh from rotation is left alone, as another process may still write into it', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxFileBytes: 100, gzip: true, gzipDelayMs: 60_000 });
  for (const message of numbered(0, 3)) log.component('x').info('n', message);
  await log.close();
  expect((await logNames(dir)).every((name) => name.endsWith('.log'))).toBe(true);
});

test('what a crash left over is compressed or cleaned at the next start', async () => {
  const dir = tempDir();
  const done = 'porthole-2026-11-14T00-00-01.000.log';
  await writeFile(join(dir, OLD), 'not yet compressed\n');
  await writeFile(join(dir, done), 'compressed, not yet removed\n');
  await writeFile(join(dir, `${done}.gz`), gzipSync('compressed, not yet removed\n', { level: 1 }));
  // 4194304 is above the highest process id of Linux: nobody lives there.
  await writeFile(join(dir, `.${OLD}.gz.4194304-0a1b2c3d.tmp`), 'half');
  // A container gives each process the same id.
  await writeFile(join(dir, `.${OLD}.gz.${process.pid}-0a1b2c3d.tmp`), 'half');
  await utimes(join(dir, `.${OLD}.gz.${process.pid}-0a1b2c3d.tmp`), 1, 1);
  await writeFile(join(dir, `.${OLD}.gz.${process.ppid}-0a1b2c3d.tmp`), 'another process is at work');
  await writeFile(join(dir, '.other.tmp'), 'not ours');
  const log = await openTestLog({ dir, gzip: true });
  await log.close();
  expect((await readdir(dir)).sort()).toEqual(
    ['.other.tmp', `.${OLD}.gz.${process.ppid}-0a1b2c3d.tmp`, `${OLD}.gz`, `${done}.gz`, 'porthole.log'].sort(),
  );
  expect(gunzipSync(await readFile(join(dir, `${OLD}.gz`))).toString()).toBe('not yet compressed\n');
});

test('a compressed file of other content is not replaced, and its plain one stays', async () => {
  const dir = tempDir();
  await writeFile(join(dir, OLD), 'plain\n');
  await writeFile(join(dir, `${OLD}.gz`), 'not even gzip');
  const log = await openTestLog({ dir, gzip: true });
  await log.close();
  expect(await readFile(join(dir, OLD), 'utf8')).toBe('plain\n');
  expect(await readFile(join(dir, `${OLD}.gz`), 'utf8')).toBe('not even gzip');
});

test('a file that cannot be compressed stays, is counted, and does not hold up the others', async () => {
  const dir = tempDir();
  // The name fits, the temporary's longer one does not.
  const fileName = `${'n'.repeat(225)}.log`;
  const rotated = `${'n'.repeat(225)}-2026-11-14T00-00-00.000.log`;
  await writeFile(join(dir, rotated), 'kept\n');
  const log = await openTestLog({ dir, fileName, gzip: true });
  await log.close();
  expect(await readFile(join(dir, rotated), 'utf8')).toBe('kept\n');
  expect(log.stats()).toMatchObject({ errors: 1, lastError: expect.stringContaining('ENAMETOOLONG') });
});

test('only the newest files are kept, both forms of one counting once', async () => {
  const dir = tempDir();
  for (const day of [10, 11, 12, 13]) await writeFile(join(dir, `porthole-2026-11-${day}T00-00-00.000.log.gz`), '');
  await writeFile(join(dir, 'porthole-2026-11-13T00-00-00.000.log'), '');
  const log = await openTestLog({ dir, keepFiles: 2 });
  await log.close();
  expect(await logNames(dir)).toEqual([
    'porthole-2026-11-12T00-00-00.000.log.gz',
    'porthole-2026-11-13T00-00-00.000.log',
    'porthole-2026-11-13T00-00-00.000.log.gz',
    'porthole.log',
  ]);
});

test('files are removed when their rotation is too long ago', async () => {
  const dir = tempDir();
  for (const day of [12, 13, 14]) await writeFile(join(dir, `porthole-2026-11-${day}T12-00-00.000.log`), '');
  const log = await openTestLog({ dir, keepAgeMs: 2 * DAY_MS, now: testClock(NOON_MS).now });
  await log.close();
  expect(await logNames(dir)).toEqual([
    'porthole-2026-11-13T12-00-00.000.log',
    'porthole-2026-11-14T12-00-00.000.log',
    'porthole.log',
  ]);
});

test('rotation itself keeps the number of files', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxFileBytes: 100, keepFiles: 3 });
  for (const message of numbered(0, 10)) {
    log.component('x').info('n', message);
    await log.flush();
  }
  await log.close();
  expect((await familyLines(dir)).map(parseMessage)).toEqual(numbered(6, 10));
});

test('nothing but our own rotated files is ever removed', async () => {
  const dir = tempDir();
  const foreign = [
    'lind-broker-2020-01-01T00-00-00.000.log',
    'porthole-2020-01-01.log',
    'porthole-2020-01-01T00-00-00.000.log.bak',
    'porthole-2020-02-30T00-00-00.000.log',
    'porthole-audit-2020-01-01T00-00-00.000.log',
    'porthole.log.1',
  ];
  for (const name of foreign) await writeFile(join(dir, name), 'foreign');
  await mkdir(join(dir, 'porthole-2020-01-01T00-00-00.000.log'));
  await symlink('porthole.log.1', join(dir, 'porthole-2020-01-02T00-00-00.000.log'));
  await writeFile(join(dir, 'porthole-2020-01-03T00-00-00.000.log'), 'ours');
  await chmod(join(dir, 'porthole-2020-01-03T00-00-00.000.log'), 0o400);
  const log = await openTestLog({ dir, keepFiles: 1, keepAgeMs: 1, gzip: true });
  await log.close();
  const links = ['porthole-2020-01-01T00-00-00.000.log', 'porthole-2020-01-02T00-00-00.000.log'];
  expect((await readdir(dir)).sort()).toEqual([...foreign, ...links, 'porthole.log'].sort());
});
