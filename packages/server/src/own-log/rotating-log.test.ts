import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { messagesIn, numbered, openTestLog, splitLines, testClock } from './testing/temp-log.ts';

/** Linux has a device that answers every write as a full disk does. */
const testFullDisk = test.skipIf(!existsSync('/dev/full'));

test('a full queue drops, counts, and reports how many as soon as there is room', async () => {
  const log = await openTestLog({ dir: tempDir(), level: 'error', maxQueueBytes: 1000 });
  const logger = log.component('x');
  for (const message of numbered(0, 50)) logger.error('n', message);
  const { dropped } = log.stats();
  expect(log.stats().queuedBytes).toBeLessThanOrEqual(1000);
  expect(dropped).toBeGreaterThan(30);
  await log.flush();
  logger.error('n', 'record 50');
  await log.close();
  const kept = numbered(0, 50 - dropped);
  expect(await messagesIn(log.place)).toEqual([
    ...kept,
    expect.stringContaining(`${dropped} records dropped`),
    'record 50',
  ]);
  const notice = splitLines(await readFile(log.place, 'utf8'))[kept.length];
  expect(notice).toMatch(
    new RegExp(`\tWARN\town-log/record-queue\\.ts:\\d+\t\\[own-log\\] \\[queue\\]: .*\t\\{"dropped":${dropped}\\}$`),
  );
  expect(log.stats()).toMatchObject({ dropped, written: 50 - dropped + 2 });
});

testFullDisk('records wait while the disk refuses them and are written once it takes them', async () => {
  const dir = tempDir();
  await symlink('/dev/full', join(dir, 'porthole.log'));
  const log = await openTestLog({ dir });
  const logger = log.component('x');
  for (const message of numbered(0, 10)) logger.info('n', message);
  await log.flush();
  await log.flush();
  expect(log.stats()).toMatchObject({
    written: 0,
    dropped: 0,
    isFailing: true,
    lastError: expect.stringContaining('ENOSPC'),
  });
  expect(log.stats().errors).toBeGreaterThanOrEqual(2);

  await rm(join(dir, 'porthole.log'));
  logger.info('n', 'record 10');
  await log.flush();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 11));
  expect(log.stats()).toMatchObject({
    written: 11,
    queuedBytes: 0,
    isFailing: false,
    lastError: expect.stringContaining('ENOSPC'),
  });
});

test('a directory that cannot be made does not stop the node, and is tried again', async () => {
  const parent = join(tempDir(), 'log');
  await writeFile(parent, 'a file in the way');
  const log = await openTestLog({ dir: join(parent, 'node') });
  expect(log.stats()).toMatchObject({ errors: 1, lastError: expect.stringContaining('ENOTDIR') });
  log.component('x').info('n', 'waiting');
  await log.flush();
  await rm(parent);
  await log.flush();
  expect(await messagesIn(log.place)).toEqual(['waiting']);
});

testFullDisk('without any call the retry comes by itself', async () => {
  const dir = tempDir();
  await symlink('/dev/full', join(dir, 'porthole.log'));
  const log = await openTestLog({ dir });
  log.component('x').info('n', 'patient');
  await eventually(() => expect(log.stats().errors).toBeGreaterThan(0));
  await rm(join(dir, 'porthole.log'));
  await eventually(() => expect(log.stats().written).toBe(1));
});

test('a rename that fails leaves the log in its file and is counted', async () => {
  const dir = tempDir();
  const clock = testClock();
  const log = await openTestLog({
    dir,
    // One byte more than a name may have, once the stamp is added.
    fileName: `${'n'.repeat(240)}.log`,
    maxFileBytes: 100,
    now: clock.now,
  });
  for (const message of numbered(0, 5)) log.component('x').info('n', message);
  await log.close();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 5));
  expect(log.stats()).toMatchObject({ written: 5, errors: 1, lastError: expect.stringContaining('ENAMETOOLONG') });
});

testFullDisk('closing gives up what the disk refuses, and later records count as dropped', async () => {
  const dir = tempDir();
  await symlink('/dev/full', join(dir, 'porthole.log'));
  const log = await openTestLog({ dir });
  const logger = log.component('x');
  for (const message of numbered(0, 3)) logger.info('n', message);
  await log.close();
  await log.close();
  logger.info('n', 'too late');
  await log.flush();
  log.flushSync();
  expect(log.stats()).toMatchObject({ written: 0, dropped: 4, queuedBytes: 0 });
});

test('flushSync puts everything into the file before it returns, after the running write', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir });
  const logger = log.component('x');
  for (const message of numbered(0, 5000)) logger.info('n', message);
  // One turn of the event loop: the first batch is on its way.
  await new Promise((resolve) => setImmediate(resolve));
  for (const message of numbered(5000, 5010)) logger.info('n', message);
  log.flushSync();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 5010));
  logger.info('n', 'record 5010');
  await log.close();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 5011));
  expect(log.stats()).toMatchObject({ written: 5011, dropped: 0, errors: 0 });
});

testFullDisk('flushSync on a disk that refuses keeps the records for later', async () => {
  const dir = tempDir();
  await symlink('/dev/full', join(dir, 'porthole.log'));
  const log = await openTestLog({ dir });
  for (const message of numbered(0, 3)) log.component('x').info('n', message);
  log.flushSync();
  expect(log.stats()).toMatchObject({ written: 0, errors: 1 });
  await rm(join(dir, 'porthole.log'));
  await log.flush();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 3));
});

test('flushSync ends a line that somebody left open', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir });
  await appendFile(log.place, 'cut');
  log.component('x').info('n', 'next');
  log.flushSync();
  expect((await readFile(log.place, 'utf8')).split('\n').map((line) => line.slice(-4))).toEqual(['cut', 'next', '']);
});
