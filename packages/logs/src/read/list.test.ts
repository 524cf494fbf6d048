import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EntryStats } from '../file/entry-stats.ts';
import { readTail } from '../testing/read-bytes.ts';
import { runUnprivileged } from '../testing/run-unprivileged.ts';
import { openDir } from '../testing/temp-dir.ts';
import { listFiles } from './list.ts';

async function namesIn(dir: string): Promise<string[]> {
  return (await openDir(dir).list()).map(({ name }) => name);
}

describe('the listing', () => {
  test.each([0, 3000])('is the same whether entries are read by this thread or by the pool (%i more)', async (more) => {
    const dir = tempDir();
    for (let number = 0; number < more; number++) writeFileSync(join(dir, `many-${number}.log`), `${number}`);
    for (const name of ['b.log', 'a.log', 'a.log.1', 'ä.log']) writeFileSync(join(dir, name), name);
    mkdirSync(join(dir, 'below.log'));
    symlinkSync('a.log', join(dir, 'link.log'));
    symlinkSync('nothing', join(dir, 'dangling.log'));
    symlinkSync('/etc/hosts', join(dir, 'outside.log'));
    const entries = new EntryStats(dir);
    const inPool = await listFiles(dir, { entries });
    await entries.check();
    expect(entries.isLocal).toBe(true);
    expect(await listFiles(dir, { entries })).toEqual(inPool);
    const names = inPool.map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith('many'))).toEqual([
      'a.log',
      'a.log.1',
      'b.log',
      'link.log',
      'ä.log',
    ]);
    expect(names.length).toBe(5 + more);
  });

  test('contains each regular file with its size, sorted by code units', async () => {
    const dir = tempDir();
    const names = [
      'b.log',
      'a.log',
      'B.log',
      'a-1.log',
      'a.log.1',
      '_',
      '0',
      'ä.log',
      'z.log',
      '\u{1f600}.log',
      '\uff5e.log',
    ];
    names.forEach((name, index) => {
      writeFileSync(join(dir, name), 'x'.repeat(index));
    });
    const list = await openDir(dir).list();
    expect(list.map(({ name }) => name)).toEqual([...names].sort());
    expect(list).toEqual([...names].sort().map((name) => ({ name, size: names.indexOf(name) })));
  });

  test('leaves out everything that is not a log file', async () => {
    const root = tempDir();
    const dir = join(root, 'logs');
    mkdirSync(join(dir, 'directory.log'), { recursive: true });
    writeFileSync(join(root, 'outside.log'), 'secret');
    writeFileSync(join(dir, 'real.log'), 'text');
    execFileSync('mkfifo', [join(dir, 'pipe.log')]);
    symlinkSync('nowhere', join(dir, 'dangling.log'));
    symlinkSync('loop.log', join(dir, 'loop.log'));
    symlinkSync('../outside.log', join(dir, 'leaves.log'));
    symlinkSync('/dev/zero', join(dir, 'device.log'));
    symlinkSync('pipe.log', join(dir, 'to-pipe.log'));
    symlinkSync('directory.log', join(dir, 'to-directory.log'));
    symlinkSync('real.log', join(dir, 'stays.log'));
    const server = createServer();
    onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
    await new Promise<void>((done) => server.listen(join(dir, 'socket.log'), done));
    expect(await openDir(dir).list()).toEqual([
      { name: 'real.log', size: 4 },
      { name: 'stays.log', size: 4 },
    ]);
  });

  test('contains files with any name', async () => {
    const dir = tempDir();
    const names = [
      'new\nline.log',
      'back\\slash.log',
      '\x01\x1b[31m.log',
      ' ',
      '-',
      '...',
      '.hidden',
      '"',
      '\u202e',
      '__proto__',
    ];
    for (const name of names) writeFileSync(join(dir, name), 'x');
    expect(await namesIn(dir)).toEqual([...names].sort());
  });

  test('contains 5,000 files', async () => {
    const dir = tempDir();
    const names = Array.from({ length: 5000 }, (_, index) => `${String(index).padStart(4, '0')}.log`);
    for (const name of names) writeFileSync(join(dir, name), '');
    expect(await namesIn(dir)).toEqual(names);
  });

  test('skips files deleted in the meantime, and contains all others', async () => {
    const dir = tempDir();
    const stay = Array.from({ length: 50 }, (_, index) => `stay-${String(index).padStart(2, '0')}.log`);
    for (const name of stay) writeFileSync(join(dir, name), 'x');
    const script = `
      const fs = require('node:fs');
      const dir = require('node:worker_threads').workerData;
      for (let turn = 0; ; turn++) {
        for (let file = 0; file < 20; file++) fs.writeFileSync(dir + '/come-' + file, 'x');
        for (let file = 0; file < 20; file++) fs.rmSync(dir + '/come-' + file);
      }`;
    const worker = new Worker(script, { eval: true, workerData: dir });
    onTestFinished(async () => {
      await worker.terminate();
    });
    const counts = new Set<number>();
    // Nothing changes until the thread has started.
    for (let round = 0; round < 150 || counts.size < 2; round++) {
      const names = await namesIn(dir);
      counts.add(names.length);
      expect(names.filter((name) => name.startsWith('stay'))).toEqual(stay);
    }
  });
});

describe('a name that is not UTF-8', () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

  test('is shown with U+FFFD, and the file opens by the name shown', async () => {
    const dir = tempDir();
    writeFileSync(bytes(`${dir}/caf`, 0xe9, '.log'), 'from a latin-1 system\n');
    writeFileSync(join(dir, 'plain.log'), 'x');
    const logs = openDir(dir);
    expect(await logs.list()).toEqual([
      { name: 'caf\ufffd.log', size: 22 },
      { name: 'plain.log', size: 1 },
    ]);
    for (let turn = 0; turn < 3; turn++) {
      expect(String(await readTail(logs, 'caf\ufffd.log', 100))).toBe('from a latin-1 system\n');
    }
    expect(logs.usage.openFiles).toBe(1);
    expect((await logs.details()).map(({ problem }) => problem)).toEqual([null, null]);
  });

  test('is listed even if another is shown alike, but then neither can be opened', async () => {
    const dir = tempDir();
    writeFileSync(bytes(`${dir}/caf`, 0xe9, '.log'), 'one');
    writeFileSync(bytes(`${dir}/caf`, 0xe8, '.log'), 'other');
    const logs = openDir(dir);
    expect((await logs.list()).map(({ size }) => size).sort()).toEqual([3, 5]);
    await expect(logs.tail('caf\ufffd.log', 10)).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  });

  test('yields to a file that really has U+FFFD in its name', async () => {
    const dir = tempDir();
    writeFileSync(bytes(`${dir}/`, 0xff), 'bytes');
    writeFileSync(join(dir, '\ufffd'), 'really');
    expect(String(await readTail(openDir(dir), '\ufffd', 10))).toBe('really');
  });

  test('does not lead out of the directory', async () => {
    const root = tempDir();
    const dir = join(root, 'logs');
    mkdirSync(dir);
    writeFileSync(join(root, 'outside'), 'secret');
    writeFileSync(bytes(`${dir}/`, 0xfe), 'inside');
    symlinkSync('../outside', bytes(`${dir}/out`, 0xff));
    symlinkSync(bytes(0xfe), bytes(`${dir}/in`, 0xff));
    const logs = openDir(dir);
    expect((await logs.list()).map(({ name }) => name)).toEqual(['in\ufffd', '\ufffd']);
    expect(String(await readTail(logs, 'in\ufffd', 10))).toBe('inside');
    await expect(logs.tail('out\ufffd', 10)).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  });
});

describe('a missing or unreadable directory', () => {
  test('is empty when it is missing, empty or removed later', async () => {
    const dir = tempDir();
    expect(await namesIn(join(dir, 'missing'))).toEqual([]);
    expect(await namesIn(dir)).toEqual([]);
    const logs = openDir(join(dir, 'later'));
    mkdirSync(join(dir, 'later'));
    writeFileSync(join(dir, 'later', 'a.log'), '');
    expect(await logs.list()).toHaveLength(1);
    rmSync(join(dir, 'later'), { recursive: true });
    expect(await logs.list()).toEqual([]);
  });

  test('is an error when it is a file', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'file'), '');
    const message = 'the log directory cannot be read: ENOTDIR';
    await expect(openDir(join(dir, 'file')).list()).rejects.toMatchObject({ code: 'LOG_DIR_UNREADABLE', message });
  });
});

/** What an ordinary user sees. */
function viewUnprivileged(dir: string, name: string): { list: unknown; details: unknown; tail: unknown } {
  return JSON.parse(runUnprivileged(join(import.meta.dirname, '../testing/view-unprivileged.mjs'), dir, name));
}

describe('without read permission', () => {
  function dirWithFiles(): string {
    const dir = tempDir();
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'a.log'), 'x');
    writeFileSync(join(dir, 'closed.log'), 'x');
    chmodSync(join(dir, 'closed.log'), 0o000);
    onTestFinished(() => chmodSync(dir, 0o755));
    return dir;
  }

  test('a file is listed, with the reason why it cannot be read', () => {
    const { list, details, tail } = viewUnprivileged(dirWithFiles(), 'closed.log');
    expect(list).toEqual([
      { name: 'a.log', size: 1 },
      { name: 'closed.log', size: 1 },
    ]);
    const message = '"closed.log" cannot be read: EACCES';
    expect(details).toMatchObject([
      { name: 'a.log', format: 'text', problem: null },
      { name: 'closed.log', format: 'unreadable', problem: message },
    ]);
    expect(tail).toEqual({ code: 'LOG_FILE_UNREADABLE', message });
  });

  const modes: [string, number][] = [
    ['neither list nor enter it', 0o000],
    ['list but not enter it', 0o444],
    ['enter but not list it', 0o311],
  ];
  test.each(modes)('a directory with permission to %s is an error, not an empty list', (_, mode) => {
    const dir = dirWithFiles();
    chmodSync(dir, mode);
    const error = { code: 'LOG_DIR_UNREADABLE', message: 'the log directory cannot be read: EACCES' };
    expect(viewUnprivileged(dir, 'a.log')).toMatchObject({ list: error, details: error });
  });
});
