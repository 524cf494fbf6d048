import { readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createZone } from '@porthole/logs';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import {
  familyLines,
  logNames,
  messagesIn,
  numbered,
  openTestLog,
  parseMessage,
  testClock,
} from './testing/temp-log.ts';

test('a node logs through its components and finds the records in the file', async () => {
  const dir = join(tempDir(), 'not', 'there');
  const clock = testClock(Date.parse('2026-11-15T00:21:26.600Z'));
  const log = await openTestLog({ dir, level: 'info', zone: createZone('Europe/Berlin'), now: clock.now });
  const http = log.component('http');
  http.debug('access', 'too detailed');
  http.info('start', 'listening', { port: 9000 });
  clock.ms += 1;
  log.component('grpc').error('bind', 'address in use');
  await log.flush();

  expect(await readFile(log.place, 'utf8')).toMatch(
    new RegExp(
      '^2026-11-15 01:21:26\\.600\tINFO\town-log/own-log\\.test\\.ts:\\d+\t\\[http\\] \\[start\\]: listening\t\\{"port":9000\\}\n' +
        '2026-11-15 01:21:26\\.601\tERROR\town-log/own-log\\.test\\.ts:\\d+\t\\[grpc\\] \\[bind\\]: address in use\n$',
    ),
  );
  expect([http.isEnabled('debug'), http.isEnabled('info'), http.isEnabled('error')]).toEqual([false, true, true]);
  expect(log.stats()).toEqual({
    written: 2,
    dropped: 0,
    errors: 0,
    queuedBytes: 0,
    lastError: undefined,
    isFailing: false,
  });
  expect((await stat(log.place)).mode & 0o777).toBe(0o640);
  expect((await stat(dir)).mode & 0o777).toBe(0o750);
});

test('a zone or file name that can never work is refused at once', async () => {
  const dir = tempDir();
  await expect(openTestLog({ dir, fileName: '../porthole.log' })).rejects.toThrow('not a plain file name');
});

test('logging never throws, whatever it is given', async () => {
  const log = await openTestLog({ dir: tempDir(), now: () => Number.NaN });
  log.component('x').info('tag', 'the clock is broken');
  expect(log.stats()).toMatchObject({ written: 0, errors: 1 });
});

test('tens of thousands of records arrive whole and in order', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxQueueBytes: 64 * 1024 * 1024 });
  const logger = log.component('bulk');
  for (const message of numbered(0, 30_000)) logger.info('n', message);
  await log.close();
  expect(await messagesIn(log.place)).toEqual(numbered(0, 30_000));
});

test('rotation by size loses, splits and reorders nothing, and keeps every file within the limit', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxFileBytes: 4096 });
  const logger = log.component('bulk');
  for (let from = 0; from < 2000; from += 100) {
    for (const message of numbered(from, from + 100)) logger.info('n', message, { pad: 'é'.repeat(from % 70) });
    if (from % 300 === 0) await log.flush();
  }
  await log.close();
  const names = await logNames(dir);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) expect((await stat(join(dir, name))).size).toBeLessThanOrEqual(4096);
  expect((await familyLines(dir)).map(parseMessage)).toEqual(numbered(0, 2000));
});

test('a record larger than the limit has a file of its own', async () => {
  const dir = tempDir();
  const log = await openTestLog({ dir, maxFileBytes: 300 });
  for (const message of ['a', 'b'.repeat(1000), 'c']) log.component('x').info('n', message);
  await log.close();
  expect(await logNames(dir)).toHaveLength(3);
  expect((await familyLines(dir)).map(parseMessage)).toEqual(['a', 'b'.repeat(1000), 'c']);
});

test('the age counts from the first record, also when that was written before a restart', async () => {
  const dir = tempDir();
  const clock = testClock();
  const options = { dir, maxFileAgeMs: 60_000, zone: createZone('America/New_York'), now: clock.now };
  const first = await openTestLog(options);
  first.component('x').info('n', 'record 0');
  await first.close();

  clock.ms += 59_999;
  const second = await openTestLog(options);
  second.component('x').info('n', 'record 1');
  await second.flush();
  expect(await logNames(dir)).toEqual(['porthole.log']);
  clock.ms += 1;
  second.component('x').info('n', 'record 2');
  await second.flush();
  expect(await logNames(dir)).toEqual(['porthole-2026-11-15T12-01-00.000.log', 'porthole.log']);
  expect(await messagesIn(join(dir, 'porthole-2026-11-15T12-01-00.000.log'))).toEqual(['record 0', 'record 1']);
  expect(await messagesIn(second.place)).toEqual(['record 2']);
});

test('a taken name is never overwritten', async () => {
  const dir = tempDir();
  const clock = testClock();
  await writeFile(join(dir, 'porthole-2026-11-15T12-00-00.000.log'), 'kept\n');
  await writeFile(join(dir, 'porthole-2026-11-15T12-00-00.001.log.gz'), 'kept too\n');
  const log = await openTestLog({ dir, maxFileBytes: 100, now: clock.now });
  for (const message of numbered(0, 3)) log.component('x').info('n', message);
  await log.close();
  expect(await logNames(dir)).toEqual([
    'porthole-2026-11-15T12-00-00.000.log',
    'porthole-2026-11-15T12-00-00.001.log.gz',
    'porthole-2026-11-15T12-00-00.002.log',
    'porthole-2026-11-15T12-00-00.003.log',
    'porthole.log',
  ]);
  expect(await readFile(join(dir, 'porthole-2026-11-15T12-00-00.000.log'), 'utf8')).toBe('kept\n');
});

test.each([
  ['renamed by logrotate', (file: string) => rename(file, `${file}.1`)],
  ['deleted', (file: string) => rm(file)],
  ['gone with its directory', (file: string) => rm(join(file, '..'), { recursive: true })],
])('a file that is %s is made anew within a second', async (_, strike) => {
  const dir = join(tempDir(), 'log');
  const clock = testClock();
  const log = await openTestLog({ dir, now: clock.now });
  log.component('x').info('n', 'before');
  await log.flush();
  await strike(log.place);
  clock.ms += 1000;
  log.component('x').info('n', 'after');
  await log.flush();
  expect(await messagesIn(log.place)).toEqual(['after']);
  expect(log.stats()).toMatchObject({ written: 2, errors: 0 });
});

test('a file truncated in place continues from its new start', async () => {
  const clock = testClock();
  const log = await openTestLog({ dir: tempDir(), maxFileAgeMs: 60_000, now: clock.now });
  log.component('x').info('n', 'before');
  await log.flush();
  await truncate(log.place);
  clock.ms += 60_000;
  log.component('x').info('n', 'after');
  await log.flush();
  expect(await messagesIn(log.place)).toEqual(['after']);
});

test('two logs on one file rotate it without losing or mixing records', async () => {
  const dir = tempDir();
  const clock = testClock();
  const options = { dir, maxFileBytes: 2000, now: clock.now };
  const logs = [await openTestLog(options), await openTestLog(options)];
  for (let round = 0; round < 50; round += 1) {
    for (const [index, log] of logs.entries()) log.component(`log${index}`).info('n', `record ${round}`);
    await Promise.all(logs.map((log) => log.flush()));
    clock.ms += 400;
  }
  await Promise.all(logs.map((log) => log.close()));
  const lines = await familyLines(dir);
  for (const index of [0, 1]) {
    const own = lines.filter((line) => line.includes(`[log${index}]`)).map(parseMessage);
    expect(new Set(own)).toEqual(new Set(numbered(0, 50)));
    expect(own).toHaveLength(50);
  }
});

test('a line cut by a crash is ended before the next record', async () => {
  const dir = tempDir();
  await writeFile(join(dir, 'porthole.log'), '2026-11-15 11:59:59.000\tINFO\tx.js:1\t[x]: cut he');
  const log = await openTestLog({ dir });
  expect(await readFile(log.place, 'utf8')).toMatch(/cut he$/);
  log.component('x').info('n', 'next');
  await log.flush();
  expect((await messagesIn(log.place)).slice(0, 2)).toEqual(['cut he', 'next']);
});
