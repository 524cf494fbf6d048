import { execFileSync } from 'node:child_process';
import fs, { constants, linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { runs, tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LogError } from '../log-error.ts';
import { eventually } from '../testing/eventually.ts';
import { readTail } from '../testing/read-bytes.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';
import { isWithin } from './tree.ts';

const NOT_FOUND = expect.objectContaining({ code: 'LOG_FILE_NOT_FOUND' });

function logDirInRoot(): { root: string; dir: string } {
  const root = tempDir();
  const dir = join(root, 'logs');
  mkdirSync(join(dir, 'sub'), { recursive: true });
  writeFileSync(join(root, 'secret.log'), 'secret\n');
  writeFileSync(join(dir, 'real.log'), 'inside\n');
  writeFileSync(join(dir, 'sub', 'deep.log'), 'deep\n');
  return { root, dir };
}

describe('anything but a regular file of the directory is not found', () => {
  const links: [string, string][] = [
    ['a file outside', '../secret.log'],
    ['a file outside by its absolute path', '/etc/passwd'],
    ['a device that never ends', '/dev/zero'],
    ['a device that is full', '/dev/full'],
    ['a directory inside', 'sub'],
    ['the directory itself', '.'],
    ['nothing', 'nowhere'],
    ['itself', 'link.log'],
    ['a link that leaves', 'leaves.log'],
    ['a link to a link that leaves', 'chain.log'],
    ['a file below a file', 'real.log/x'],
    ['a way out through a directory inside', 'sub/../../secret.log'],
  ];
  test.each(links)('a link to %s', async (_, target) => {
    const { dir } = logDirInRoot();
    symlinkSync('../secret.log', join(dir, 'leaves.log'));
    symlinkSync('leaves.log', join(dir, 'chain.log'));
    symlinkSync(target, join(dir, 'link.log'));
    const logs = openDir(dir);
    await expect(logs.tail('link.log', 100)).rejects.toEqual(NOT_FOUND);
    expect((await logs.list()).map(({ name }) => name)).toEqual(['real.log']);
    expect(logs.usage.openFiles).toBe(0);
  });

  test('a cycle of links', async () => {
    const { dir } = logDirInRoot();
    symlinkSync('two.log', join(dir, 'one.log'));
    symlinkSync('one.log', join(dir, 'two.log'));
    await expect(openDir(dir).tail('one.log', 100)).rejects.toEqual(NOT_FOUND);
  });

  test('a directory', async () => {
    const { dir } = logDirInRoot();
    await expect(openDir(dir).tail('sub', 100)).rejects.toEqual(NOT_FOUND);
  });

  test('a FIFO, without waiting for a writer, and a link to it', async () => {
    const { dir } = logDirInRoot();
    execFileSync('mkfifo', [join(dir, 'pipe.log')]);
    symlinkSync('pipe.log', join(dir, 'link.log'));
    await expect(openDir(dir).tail('pipe.log', 100)).rejects.toEqual(NOT_FOUND);
    await expect(openDir(dir).tail('link.log', 100)).rejects.toEqual(NOT_FOUND);
  });

  test('a FIFO with a writer, which loses none of its data', async () => {
    const { dir } = logDirInRoot();
    const path = join(dir, 'pipe.log');
    execFileSync('mkfifo', [path]);
    const writer = fs.openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => fs.closeSync(writer));
    fs.writeSync(writer, 'for someone else');
    await expect(openDir(dir).tail('pipe.log', 100)).rejects.toEqual(NOT_FOUND);
    const left = Buffer.alloc(100);
    expect(left.toString('utf8', 0, fs.readSync(writer, left))).toBe('for someone else');
  });

  test('a socket', async () => {
    const { dir } = logDirInRoot();
    const server = createServer();
    onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
    await new Promise<void>((done) => server.listen(join(dir, 'x.sock'), done));
    await expect(openDir(dir).tail('x.sock', 100)).rejects.toEqual(NOT_FOUND);
  });
});

describe('a link that stays inside is served', () => {
  const links: [string, string, string][] = [
    ['beside it', 'real.log', 'inside\n'],
    ['in a directory inside', 'sub/deep.log', 'deep\n'],
    ['through a link to a directory inside', 'link/deep.log', 'deep\n'],
    ['through another link', 'first.log', 'inside\n'],
    ['out and in again', '../logs/real.log', 'inside\n'],
  ];
  test.each(links)('to a file %s', async (_, target, text) => {
    const { dir } = logDirInRoot();
    symlinkSync('sub', join(dir, 'link'));
    symlinkSync('real.log', join(dir, 'first.log'));
    symlinkSync(target, join(dir, 'link.log'));
    const logs = openDir(dir);
    expect(String(await readTail(logs, 'link.log', 100))).toBe(text);
    expect(await logs.list()).toContainEqual({ name: 'link.log', size: text.length });
    // Links are verified again for each request: their descriptors are not cached, but closed in the background.
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });

  test('when the directory is itself reached through a link', async () => {
    const { root, dir } = logDirInRoot();
    symlinkSync('real.log', join(dir, 'link.log'));
    symlinkSync('../secret.log', join(dir, 'leaves.log'));
    symlinkSync(dir, join(root, 'current'));
    const logs = openDir(join(root, 'current'));
    expect(String(await readTail(logs, 'real.log', 100))).toBe('inside\n');
    expect(String(await readTail(logs, 'link.log', 100))).toBe('inside\n');
    await expect(logs.tail('leaves.log', 100)).rejects.toEqual(NOT_FOUND);
    expect((await logs.list()).map(({ name }) => name)).toEqual(['link.log', 'real.log']);
  });

  test('when it is a second name of the same file', async () => {
    const { dir } = logDirInRoot();
    linkSync(join(dir, 'real.log'), join(dir, 'second.log'));
    expect(String(await readTail(openDir(dir), 'second.log', 100))).toBe('inside\n');
  });
});

describe('if the directory is unusable, no file is found', () => {
  test('the directory is missing', async () => {
    await expect(openDir(join(tempDir(), 'none')).tail('a.log', 1)).rejects.toEqual(NOT_FOUND);
  });

  test('the directory is a file', async () => {
    const { dir } = logDirInRoot();
    await expect(openDir(join(dir, 'real.log')).tail('a.log', 1)).rejects.toEqual(NOT_FOUND);
  });
});

/** Runs a step in a loop, in another thread, until the test ends. */
function forever(step: string, workerData: unknown): void {
  const script = `
    const fs = require('node:fs');
    const data = require('node:worker_threads').workerData;
    for (let turn = 0; ; turn++) {
      ${step}
    }`;
  const worker = new Worker(script, { eval: true, workerData });
  onTestFinished(async () => {
    await worker.terminate();
  });
}

/** Renames other entries onto the path in a loop. */
function swapForever(path: string, ways: string[]): void {
  const step = `
    const way = data.ways[turn % data.ways.length];
    if (way === 'file') fs.writeFileSync(data.path + '.next', 'inside\\n');
    else fs.symlinkSync(way, data.path + '.next');
    fs.renameSync(data.path + '.next', data.path);`;
  forever(step, { path, ways });
}

describe('while an entry is being swapped, no byte from outside is ever served', () => {
  const swaps: [string, string[]][] = [
    ['between links to inside and outside', ['real.log', '../secret.log']],
    ['between a file and a link to outside', ['file', '../secret.log']],
    [
      'between a file, a link to inside, a link to outside and a device',
      ['file', 'real.log', '../secret.log', '/dev/zero'],
    ],
  ];
  test.each(swaps)('%s', async (_, ways) => {
    const { dir } = logDirInRoot();
    const path = join(dir, 'entry.log');
    symlinkSync('real.log', path);
    const logs = openDir(dir);
    swapForever(path, ways);
    let inside = 0;
    let refused = 0;
    for (let round = 0; round < runs(400) || (Math.min(inside, refused) === 0 && round < 100_000); round += 4) {
      const tries = [1, 2, 3, 4].map(async () => {
        try {
          expect(String(await readTail(logs, 'entry.log', 100))).toBe('inside\n');
          inside++;
        } catch (error) {
          if (!(error instanceof LogError)) throw error;
          expect(error.code).toBe('LOG_FILE_NOT_FOUND');
          refused++;
        }
      });
      await Promise.all(tries);
    }
    expect(inside).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(logs.usage.lentBuffers).toBe(0);
  });

  const onTheWay: [string, (dir: string) => void][] = [
    [
      'a link to a directory, redirected between inside and outside',
      (dir) => {
        renameSync(join(dir, 'sub'), join(dir, 'real'));
        symlinkSync('real', join(dir, 'sub'));
        swapForever(join(dir, 'sub'), ['real', '../out']);
      },
    ],
    [
      'a real directory, swapped with a link to outside',
      (dir) => {
        const step = `
          fs.renameSync(data + '/sub', data + '/moved');
          fs.symlinkSync('../out', data + '/sub');
          fs.unlinkSync(data + '/sub');
          fs.renameSync(data + '/moved', data + '/sub');`;
        forever(step, dir);
      },
    ],
  ];
  test.each(onTheWay)('%s, on the path of a link', async (_, swap) => {
    const { root, dir } = logDirInRoot();
    mkdirSync(join(root, 'out'));
    writeFileSync(join(root, 'out', 'deep.log'), 'secret\n');
    symlinkSync('sub/deep.log', join(dir, 'link.log'));
    const logs = openDir(dir);
    swap(dir);
    let inside = 0;
    for (let round = 0; round < runs(250) || (inside === 0 && round < 100_000); round++) {
      const got = await readTail(logs, 'link.log', 100).catch((error) => {
        if (!(error instanceof LogError)) throw error;
      });
      if (got) expect(String(got)).toBe('deep\n');
      if (got) inside++;
    }
    expect(inside).toBeGreaterThan(0);
    expect(logs.usage).toMatchObject({ openFiles: 0, lentBuffers: 0 });
  });
});

test('a real directory replaced by a link to the outside, behind a link, does not leak a byte', async () => {
  const { root, dir } = logDirInRoot();
  mkdirSync(join(root, 'out'));
  writeFileSync(join(root, 'out', 'deep.log'), 'secret\n');
  symlinkSync('sub/deep.log', join(dir, 'link.log'));
  const logs = openDir(dir);
  expect(String(await readTail(logs, 'link.log', 100))).toBe('deep\n');
  renameSync(join(dir, 'sub'), join(dir, 'moved'));
  symlinkSync('../out', join(dir, 'sub'));
  await expect(logs.tail('link.log', 100)).rejects.toEqual(NOT_FOUND);
  expect(readFileSync(join(dir, 'link.log'), 'utf8')).toBe('secret\n');
});

test.each([
  ['/var/log', '/var/log/a', true],
  ['/var/log', '/var/log', false],
  ['/var/log', '/var/log/', false],
  ['/var/log', '/var/logs/a', false],
  ['/var/log', '/var', false],
  ['/', '/a', true],
  ['/', '/', false],
])('within %s lies %s: %s', (home, target, within) => {
  expect(isWithin(Buffer.from(home), Buffer.from(target))).toBe(within);
});
