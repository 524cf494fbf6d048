import fs, { appendFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Scrubbing } from '../scrub/scrubber.ts';
import { eventually } from '../testing/eventually.ts';
import { collect, readTail } from '../testing/read-bytes.ts';
import { openDir } from '../testing/temp-dir.ts';

const LINE = '2024-08-16 09:48:23.118\tINFO\tbroker/runtime.go:172\tstarting broker\n';
const TEXT = Buffer.from(LINE.repeat(40_000));
const OTHER = Buffer.alloc(TEXT.length, 'other\n');

/** Starts to read the whole file, changes it after the first chunk, and reads on. */
async function readAcross(name: string, content: Buffer, change: (path: string) => void): Promise<Buffer> {
  const dir = tempDir();
  const path = join(dir, name);
  writeFileSync(path, content);
  const stream = await openDir(dir).tail(name, TEXT.length - LINE.length);
  try {
    const chunks = stream.chunks[Symbol.asyncIterator]();
    const first = await chunks.next();
    const head = Buffer.from(first.value ?? '');
    change(path);
    const rest = await collect({ [Symbol.asyncIterator]: () => chunks });
    return Buffer.concat([head, rest]);
  } finally {
    await stream.close();
  }
}

const harmless: [string, (path: string) => void][] = [
  ['removed', (path) => rmSync(path)],
  ['renamed by rotation', (path) => renameSync(path, `${path}.1`)],
  [
    'renamed and created again',
    (path) => {
      renameSync(path, `${path}.1`);
      writeFileSync(path, 'a new file\n');
    },
  ],
  [
    'replaced by rename',
    (path) => {
      writeFileSync(`${path}.new`, OTHER);
      renameSync(`${path}.new`, path);
    },
  ],
  ['growing', (path) => appendFileSync(path, 'one more line\n'.repeat(100_000))],
];

describe('a response in progress', () => {
  test.each(harmless)('is the file as it was when opened if the file is %s', async (_, change) => {
    const got = await readAcross('a.log', TEXT, change);
    expect(got.equals(TEXT.subarray(LINE.length))).toBe(true);
  });

  test.each(harmless.slice(0, 4))('is the text of an archive as it was if the archive is %s', async (_, change) => {
    const got = await readAcross('a.log.gz', gzipSync(TEXT), change);
    expect(got.equals(TEXT.subarray(LINE.length))).toBe(true);
  });

  test.each([0, 1, 300_000, TEXT.length - 1])('fails if the file is truncated to %d bytes', async (length) => {
    const reading = readAcross('a.log', TEXT, (path) => truncateSync(path, length));
    await expect(reading).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED', message: /^"a\.log" was truncated/ });
  });

  test('fails if the file is truncated and rewritten, shorter, meanwhile', async () => {
    const reading = readAcross('a.log', TEXT, (path) => writeFileSync(path, 'fresh start\n'));
    await expect(reading).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
  });
});

test('a file truncated before the first read is reported by the tail itself', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, TEXT);
  const logs = openDir(dir);
  const held = await logs.open('a.log');
  truncateSync(path, 10);
  await expect(collect(held.read(0, held.sizeBytes))).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
  await held.close();
  expect((await readTail(logs, 'a.log', 100)).toString()).toBe(LINE.slice(0, 10));
});

test('lines appended since the last request are in the next response', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, 'first\n');
  const logs = openDir(dir);
  for (const word of ['second', 'third', 'fourth']) {
    appendFileSync(path, `${word}\n`);
    expect((await readTail(logs, 'a.log', word.length + 1)).toString()).toBe(`${word}\n`);
  }
});

describe('a short tail of a file at rest', () => {
  test('is that of the file as it is now, however often it is requested', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, 'one\ntwo\n');
    const logs = openDir(dir);
    // As if the file had not been written for two minutes.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const text = async () => (await readTail(logs, 'a.log', 4)).toString();
    expect([await text(), await text(), await text()]).toEqual(['two\n', 'two\n', 'two\n']);
    const { ctimeNs } = statSync(path, { bigint: true });
    while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) writeFileSync(path, 'ONE\nTWO\n');
    expect([await text(), await text()]).toEqual(['TWO\n', 'TWO\n']);
    appendFileSync(path, 'six\n');
    expect(await text()).toBe('six\n');
    expect(logs.usage.lentBuffers).toBe(0);
  });

  test('is not read again, also if secrets are masked, until the file becomes UTF-16', async () => {
    const path = join(tempDir(), 'a.log');
    writeFileSync(path, 'user tom\npass hunter22\n');
    const scrubbing = new Scrubbing();
    scrubbing.add(['hunter22']);
    const logs = openDir(dirname(path), { scrubbing });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    const read = vi.spyOn(fs, 'read');
    onTestFinished(() => {
      vi.useRealTimers();
      read.mockRestore();
    });
    const text = async () => (await readTail(logs, 'a.log', 14)).toString();
    expect(await text()).toBe('pass ********\n');
    const reads = read.mock.calls.length;
    expect([await text(), await text()]).toEqual(['pass ********\n', 'pass ********\n']);
    expect(read.mock.calls.length).toBe(reads);
    writeFileSync(path, Buffer.from('\ufeffuser tom\npass hunter22\n', 'utf16le'));
    expect(await text()).toBe('pass ********\n');
  });
});

test('what was written within the last minute is read without a thread of the pool, and always as it is', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, TEXT);
  const logs = openDir(dir);
  const handed = vi.spyOn(fs, 'read');
  onTestFinished(() => handed.mockRestore());
  const handedBy = async (size: number) => {
    const before = handed.mock.calls.length;
    await readTail(logs, 'a.log', size);
    return handed.mock.calls.length - before;
  };
  // When it is known that the directory is on a local disk.
  await eventually(async () => expect(await handedBy(4096)).toBe(0));
  const before = handed.mock.calls.length;
  for (let turn = 0; turn < 50; turn++) {
    const line = `turn ${turn}\n`;
    appendFileSync(path, line);
    expect((await readTail(logs, 'a.log', 4096)).toString().endsWith(line)).toBe(true);
  }
  expect(handed.mock.calls.length).toBe(before);
  expect(await handedBy(128 * 1024)).toBe(1);
});
