import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { checkLogDir, checkLogFiles } from './check-log-files.ts';
import { runCheck } from './testing/run-check.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');

/** Checks these files at noon, in UTC. */
function checkFiles(files: Readonly<Record<string, string>>, log: { recursive?: boolean } = {}) {
  const dir = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  const settings = { service: { logDir: dir }, node: { timeZone: 'UTC' }, log };
  return runCheck(checkLogFiles, { settings, system: { nowMs: () => NOW } });
}

const line = (time: string) => `2026-11-15 ${time}\tINFO\ta.go:1\thello\n`;

describe('the files of the log directory', () => {
  test('are counted by logs and files, with the age of the newest record', async () => {
    const files = { 'a.log': line('11:59:00.000'), 'a.log.1': line('11:00:00.000'), 'b.log': line('10:00:00.000') };
    expect(await checkFiles(files)).toEqual([
      { state: 'ok', detail: '2 logs in 3 files, the newest record is 1 minute old' },
    ]);
  });

  test('an empty directory is a warning', async () => {
    expect(await checkFiles({})).toMatchObject([
      { state: 'warning', detail: expect.stringContaining('no log files in') },
    ]);
  });

  test('a record that is in the future by a multiple of 15 minutes has a wrong zone', async () => {
    expect(await checkFiles({ 'a.log': line('14:00:00.500') })).toEqual([
      {
        state: 'problem',
        detail: '1 log in 1 file; the newest record, in a.log, is 2 hours in the future',
        remedy: 'set node.time-zone (--node-time-zone ZONE) to the zone of the log timestamps',
      },
    ]);
  });

  test('a record that is in the future by any other time may be due to a wrong clock', async () => {
    const [outcome] = await checkFiles({ 'a.log': line('12:07:00.000') });
    expect(outcome).toMatchObject({ state: 'problem', remedy: expect.stringContaining('compare the clock') });
  });

  test('a record a few seconds in the future is fine', async () => {
    expect(await checkFiles({ 'a.log': line('12:00:20.000') })).toMatchObject([{ state: 'ok' }]);
  });

  test('no new records for a day is a warning', async () => {
    const [outcome] = await checkFiles({ 'a.log': '2026-11-12 12:00:00.000\tINFO\ta.go:1\thello\n' });
    expect(outcome).toMatchObject({ state: 'warning', detail: '1 log in 1 file, the newest record is 3 days old' });
  });

  test('files of unknown format are listed', async () => {
    const files = { 'a.log': line('11:59:00.000'), core: 'a\0b', 'notes.txt': 'hello\nworld\n' };
    expect(await checkFiles(files)).toMatchObject([
      { state: 'ok' },
      { state: 'warning', detail: '2 files of unknown format: core (binary), notes.txt (text)' },
    ]);
  });

  test('files in directories below are checked if they are served', async () => {
    const files = { 'nginx/access.log': line('11:59:00.000') };
    expect(await checkFiles(files)).toMatchObject([
      { state: 'warning', remedy: expect.stringContaining('turn on log.recursive') },
    ]);
    expect(await checkFiles(files, { recursive: true })).toMatchObject([
      { state: 'ok', detail: expect.stringMatching(/^1 log in 1 file/) },
    ]);
  });

  test('unreadable files are listed with the reason; it is a problem if all are unreadable', async () => {
    const broken = 'this is not gzip';
    expect(await checkFiles({ 'a.log': line('11:59:00.000'), 'a.log.1.gz': broken })).toMatchObject([
      { state: 'ok' },
      { state: 'warning', detail: expect.stringMatching(/^1 file cannot be read: a\.log\.1\.gz \(.+\)$/) },
    ]);
    expect(await checkFiles({ 'a.log.1.gz': broken })).toMatchObject([{ state: 'ok' }, { state: 'problem' }]);
    const packed = await checkFiles({ 'a.log': line('11:59:00.000'), 'a.log.1.lz4': 'lz4' });
    expect(packed).toMatchObject([
      { state: 'ok', detail: expect.stringMatching(/^1 log in 2 files/) },
      { state: 'warning', detail: expect.stringContaining('compressed with lz4, which is not read') },
    ]);
  });
});

test('a directory that can be read is fine', async () => {
  const dir = tempDir();
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: dir } } })).toEqual([
    { state: 'ok', detail: `${dir} is readable` },
  ]);
});

test('a missing directory of a service is a warning, it may be created later', async () => {
  const dir = join(tempDir(), 'absent');
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: dir } } })).toEqual([
    {
      state: 'warning',
      detail: `${dir} does not exist: no logs are shown until it does`,
      remedy: 'create it, or correct service.log-dir (--log-dir DIR)',
    },
  ]);
});

test("the node's own directory is created when it starts", async () => {
  const [outcome] = await runCheck(checkLogDir);
  expect(outcome).toMatchObject({ state: 'ok', detail: expect.stringContaining('does not exist yet') });
});

test('a file where the directory should be is a problem', async () => {
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  expect(await runCheck(checkLogDir, { settings: { service: { logDir: file } } })).toEqual([
    {
      state: 'problem',
      detail: `${file} is not a directory`,
      remedy: 'set service.log-dir (--log-dir DIR) to the directory that holds the logs',
    },
  ]);
});
