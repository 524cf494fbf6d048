import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CHUNK_BYTES } from './file/shared-reads.ts';
import type { LogDir } from './log-dir.ts';
import { createZone } from './parse/zone.ts';
import { eventually } from './testing/eventually.ts';
import { collect } from './testing/read-bytes.ts';
import { searchItems } from './testing/run-search.ts';
import { openDir } from './testing/temp-dir.ts';

const at = (iso: string) => Date.parse(iso);
const UTC = { zone: createZone('UTC') };

describe('details', () => {
  const line = (time: string, text = 'INFO\ta.go:1\tx') => `2024-08-16 ${time}\t${text}\n`;
  const first = at('2024-08-16T09:00:00.001Z');
  const last = at('2024-08-16T10:00:00.002Z');
  const contract = line('09:00:00.001') + line('09:30:00.000') + line('10:00:00.002');
  const filler = 'a line without a time, as in a stack trace\n'.repeat(3000);

  const files: [string, string, string | Buffer, object][] = [
    ['an empty file', 'a.log', '', { format: 'empty', firstTimeMs: null, lastTimeMs: null }],
    ['the contract’s format', 'a.log', contract, { format: 'contract', firstTimeMs: first, lastTimeMs: last }],
    [
      'one line without newline',
      'a.log',
      contract.slice(0, 40),
      { format: 'contract', firstTimeMs: first, lastTimeMs: first },
    ],
    ['CRLF', 'a.log', contract.replaceAll('\n', '\r\n'), { format: 'contract', firstTimeMs: first, lastTimeMs: last }],
    [
      'times without levels',
      'a.log',
      line('09:00:00.001', '10.8.0.5 GET'),
      { format: 'contract', firstTimeMs: first, lastTimeMs: first },
    ],
    ['text without times', 'a.log', 'select 1\nselect 2\n', { format: 'text', firstTimeMs: null, lastTimeMs: null }],
    ['one newline', 'a.log', '\n', { format: 'text', firstTimeMs: null, lastTimeMs: null }],
    ['a newline first and no time', 'a.log', '\nabc\n', { format: 'text', firstTimeMs: null, lastTimeMs: null }],
    ['newlines alone', 'a.log', '\n'.repeat(200_000), { format: 'text', firstTimeMs: null, lastTimeMs: null }],
    ['binary', 'a.bin', Buffer.from([1, 0, 2, 0, 10, 0]), { format: 'binary', firstTimeMs: null, lastTimeMs: null }],
    [
      'NUL bytes left by copy and truncate',
      'a.log',
      `${'\0'.repeat(5000)}\n${contract}`,
      { format: 'contract', firstTimeMs: first, lastTimeMs: last },
    ],
    [
      'lines around without a time',
      'a.log',
      `\nstarting\n${contract}\ttrace\n\n`,
      { format: 'contract', firstTimeMs: first, lastTimeMs: last },
    ],
    [
      'times too far from the ends',
      'a.log',
      filler + contract + filler,
      { format: 'text', firstTimeMs: null, lastTimeMs: null },
    ],
    [
      'a long file',
      'a.log',
      contract + filler.repeat(5) + contract,
      { format: 'contract', firstTimeMs: first, lastTimeMs: last },
    ],
    [
      'an archive',
      'a.log.gz',
      gzipSync(contract),
      { format: 'contract', firstTimeMs: first, lastTimeMs: null, compressed: true },
    ],
    [
      'a long archive',
      'a.gz',
      gzipSync(contract + filler.repeat(50)),
      { format: 'contract', firstTimeMs: first, lastTimeMs: null, compressed: true },
    ],
    [
      'an archive of nothing',
      'a.gz',
      gzipSync(''),
      { format: 'empty', firstTimeMs: null, lastTimeMs: null, compressed: true },
    ],
    ['an empty archive', 'a.gz', '', { format: 'empty', firstTimeMs: null, lastTimeMs: null, compressed: true }],
  ];
  test.each(files)('describe %s', async (_, name, content, expected) => {
    const dir = tempDir();
    writeFileSync(join(dir, name), content);
    utimesSync(join(dir, name), 1_700_000_000, 1_700_000_000.25);
    const logs = openDir(dir, UTC);
    const size = Buffer.byteLength(content);
    // A compressed file is never live.
    const membership = name.endsWith('.gz')
      ? { family: name.slice(0, -3), state: 'rotated' }
      : { family: name, state: 'live' };
    const facts = { name, size, modifiedMs: 1_700_000_000_250, compressed: false, problem: null, ...membership };
    expect(await logs.details()).toEqual([{ ...facts, ...expected }]);
    expect(logs.usage.lentBuffers).toBe(0);
  });

  test('do not mistake the middle of a cut line for a time', async () => {
    const dir = tempDir();
    const text = `2024-08-16 09:00:00\tINFO\tx\n${'-'.repeat(70_000)}`;
    const inner = '2024-08-16 23:00:00 within a line ';
    writeFileSync(join(dir, 'a.log'), text + inner + '-'.repeat(64 * 1024 - inner.length));
    expect(await openDir(dir, UTC).details()).toMatchObject([{ lastTimeMs: null }]);
  });

  test('count times in the zone of the logs', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), contract);
    const berlin = openDir(dir, { zone: createZone('Europe/Berlin') });
    expect(await berlin.details()).toMatchObject([{ firstTimeMs: first - 7_200_000, lastTimeMs: last - 7_200_000 }]);
  });

  test('report which file cannot be read and why, and describe the others', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), contract);
    writeFileSync(join(dir, 'broken.gz'), 'no archive');
    const problem = '"broken.gz" is not valid gzip data; download it raw to get its bytes unchanged';
    const logs = openDir(dir, UTC);
    expect(await logs.details()).toMatchObject([
      { name: 'a.log', format: 'contract', problem: null },
      { name: 'broken.gz', format: 'unreadable', firstTimeMs: null, problem },
    ]);
    writeFileSync(join(dir, 'broken.gz'), gzipSync(contract));
    expect(await logs.details()).toMatchObject([{ problem: null }, { format: 'contract', problem: null }]);
  });

  test('are correct after a file grew, was replaced, truncated, removed and created again', async () => {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, contract);
    const logs = openDir(dir, UTC);
    const lastTimes = async () => (await logs.details()).map(({ lastTimeMs }) => lastTimeMs);
    expect(await lastTimes()).toEqual([last]);
    expect(await lastTimes()).toEqual([last]);
    appendFileSync(path, line('11:00:00.000'));
    expect(await lastTimes()).toEqual([at('2024-08-16T11:00:00Z')]);
    writeFileSync(`${path}.new`, line('12:00:00.000'));
    renameSync(`${path}.new`, path);
    expect(await lastTimes()).toEqual([at('2024-08-16T12:00:00Z')]);
    truncateSync(path, 0);
    expect(await lastTimes()).toEqual([null]);
    rmSync(path);
    expect(await lastTimes()).toEqual([]);
    writeFileSync(path, contract);
    expect(await lastTimes()).toEqual([last]);
  });

  test('include the last time of a compressed file as soon as it was determined', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log.1.gz'), gzipSync(contract));
    const logs = openDir(dir, UTC);
    await eventually(async () => expect(await logs.details()).toMatchObject([{ lastTimeMs: last }]));
  });

  test('are not determined again while a file is unchanged', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), contract);
    const logs = openDir(dir, UTC);
    // For a file that was written just now, a further change might not show.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000, shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const before = await logs.details();
    await eventually(() => expect(logs.usage.openFiles).toBe(0));
    expect(await logs.details()).toEqual(before);
    expect(logs.usage.openFiles).toBe(0);
  });

  test('stop when aborted', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), contract);
    await expect(openDir(dir).details({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  test('are empty for a missing directory', async () => {
    expect(await openDir(join(tempDir(), 'missing')).details()).toEqual([]);
  });
});

describe('a wrong name', () => {
  test('is rejected with suggestions', async () => {
    const dir = tempDir();
    for (const name of ['lind-broker.log', 'access.log']) writeFileSync(join(dir, name), '');
    const message = 'no log file named "lind-brokre.log"; did you mean "lind-broker.log"?';
    await expect(openDir(dir).tail('lind-brokre.log', 1)).rejects.toMatchObject({
      code: 'LOG_FILE_NOT_FOUND',
      message,
    });
    await expect(openDir(dir).open('zzz')).rejects.toMatchObject({ message: 'no log file named "zzz"' });
  });

  test('never suggests anything but log files', async () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'secrets'));
    await expect(openDir(dir).tail('secret', 1)).rejects.toMatchObject({ message: 'no log file named "secret"' });
  });
});

describe('an open file', () => {
  const text = Buffer.alloc(3 * CHUNK_BYTES, 'some text to check the positions, 41 b\n');

  async function openText(): Promise<{ logs: LogDir; dir: string; path: string }> {
    const dir = tempDir();
    const path = join(dir, 'a.log');
    writeFileSync(path, text);
    return { logs: openDir(dir), dir, path };
  }

  test('serves any range, as it is on disk', async () => {
    const { logs, dir } = await openText();
    writeFileSync(join(dir, 'a.gz'), gzipSync(text));
    const file = await logs.open('a.log');
    expect(file).toMatchObject({ name: 'a.log', sizeBytes: text.length });
    expect(await collect(file.read(5, 10))).toEqual(text.subarray(5, 10));
    expect((await collect(file.read(0, text.length))).equals(text)).toBe(true);
    await file.close();
    const packed = await logs.open('a.gz');
    expect((await collect(packed.read(0, packed.sizeBytes))).equals(gzipSync(text))).toBe(true);
    await packed.close();
  });

  test('keeps the size it had when opened, and begins at its start', async () => {
    const { logs, path } = await openText();
    const file = await logs.open('a.log');
    appendFileSync(path, 'more');
    expect((await collect(file.read(text.length - 3, text.length + 100))).equals(text.subarray(-3))).toBe(true);
    expect((await collect(file.read(-5, 3))).equals(text.subarray(0, 3))).toBe(true);
    await file.close();
  });

  test('has a tag that changes when it is written to or replaced, and only then', async () => {
    const { logs, path } = await openText();
    const tagNow = async () => {
      const file = await logs.open('a.log');
      await file.close();
      return file.etag;
    };
    const tags = [await tagNow()];
    expect(await tagNow()).toBe(tags[0]);
    appendFileSync(path, 'x');
    tags.push(await tagNow());
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    tags.push(await tagNow());
    utimesSync(path, 1, 1);
    tags.push(await tagNow());
    expect(new Set(tags).size).toBe(4);
    for (const tag of tags) expect(tag).toMatch(/^"[0-9a-z-]+"$/);
  });

  test('ends its reads when it is closed: none continues with a descriptor that may be another file by then', async () => {
    const { logs } = await openText();
    const file = await logs.open('a.log');
    const reading = file.read(0, text.length)[Symbol.asyncIterator]();
    await reading.next();
    const notBegun = file.read(0, text.length)[Symbol.asyncIterator]();
    await file.close();
    await file.close();
    await logs.close();
    expect(logs.usage).toMatchObject({ openFiles: 0, lentBuffers: 0 });
    expect(await reading.next()).toEqual({ done: true, value: undefined });
    expect(await notBegun.next()).toEqual({ done: true, value: undefined });
    expect(() => file.read(0, 1)).toThrow(TypeError);
  });
});

describe('a missing directory', () => {
  const problem = { file: '.', code: 'LOG_DIR_UNREADABLE', detail: 'the log directory does not exist' };
  const search = async (dir: LogDir) => {
    const items = [];
    for await (const batch of searchItems(dir, { order: 'newest', limit: 10, before: 0, after: 0 }))
      items.push(...batch);
    return items.at(-1);
  };

  test('is reported by every count and search, until it exists', async () => {
    const path = join(tempDir(), 'missing');
    const dir = openDir(path);
    const problems = async () => [
      (await dir.histogram({ buckets: 10 })).end.problems,
      (await dir.digest({ limit: 10 })).end.problems,
    ];
    expect(await search(dir)).toMatchObject({ type: 'end', reason: 'exhausted', records: 0, problems: [problem] });
    expect(await problems()).toEqual([[problem], [problem]]);
    mkdirSync(path);
    expect(await search(dir)).toMatchObject({ type: 'end', reason: 'exhausted', records: 0, problems: [] });
    expect(await problems()).toEqual([[], []]);
  });
});
