import { appendFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempDir } from '../../testing/temp-dir.ts';
import { HandleCache } from '../handle-cache.ts';
import { CROWDED_CHUNK_BYTES, KeptTails } from '../shared-reads.ts';

const NAME = 'a.log';
const TEXT = Buffer.from('one\ntwo\n');

async function openLog() {
  const dir = tempDir();
  const path = join(dir, NAME);
  writeFileSync(path, TEXT);
  const handles = new HandleCache(dir);
  onTestFinished(() => handles.close());
  const tails = new KeptTails();
  const keyNow = async ({ size = 4, scrubberId = 'none' } = {}) => {
    const handle = await handles.acquire(NAME);
    handle.release();
    return { handle, size, scrubberId };
  };
  return { path, tails, keyNow };
}

/** Until the clock of the file system has ticked: the rule of file-stamp.ts for files that are at rest. */
function changeLater(path: string, change: () => void): void {
  const { ctimeNs } = statSync(path, { bigint: true });
  const { atime, mtime } = statSync(path);
  while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) utimesSync(path, atime, mtime);
  change();
}

describe('a kept tail', () => {
  it('is found while the file is the same, as a copy', async () => {
    const { tails, keyNow } = await openLog();
    const bytes = Buffer.from('two\n');
    await tails.keep(await keyNow(), bytes);
    bytes.fill('x');
    expect(tails.find(await keyNow())).toEqual(Buffer.from('two\n'));
    expect(tails.find(await keyNow({ size: 5 }))).toBeUndefined();
    expect(tails.find(await keyNow({ scrubberId: 'other secrets' }))).toBeUndefined();
  });

  it.each([
    ['appended to', (path: string) => appendFileSync(path, 'three\n')],
    ['overwritten with as many bytes', (path: string) => writeFileSync(path, 'ONE\nTWO\n')],
    [
      'overwritten, its time set back',
      (path: string) => {
        const { atime, mtime } = statSync(path);
        writeFileSync(path, 'ONE\nTWO\n');
        utimesSync(path, atime, mtime);
      },
    ],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, TEXT);
        renameSync(`${path}.new`, path);
      },
    ],
  ])('is not found once the file was %s', async (_, change) => {
    const { path, tails, keyNow } = await openLog();
    await tails.keep(await keyNow(), Buffer.from('two\n'));
    changeLater(path, () => change(path));
    expect(tails.find(await keyNow())).toBeUndefined();
  });

  it('is not kept if the file changed while it was read, or if it is long', async () => {
    const { path, tails, keyNow } = await openLog();
    const before = await keyNow();
    changeLater(path, () => writeFileSync(path, 'ONE\nTWO\n'));
    await tails.keep(before, Buffer.from('two\n'));
    expect(tails.find(before)).toBeUndefined();
    const now = await keyNow();
    for (const _ of [1, 2, 3]) await tails.keep(now, Buffer.alloc(CROWDED_CHUNK_BYTES + 1));
    expect(tails.find(now)).toBeUndefined();
  });

  it('of some length is kept when it is requested again', async () => {
    const { tails, keyNow } = await openLog();
    const bytes = Buffer.alloc(64 * 1024 + 1, 'x');
    await tails.keep(await keyNow(), bytes);
    expect(tails.find(await keyNow())).toBeUndefined();
    await tails.keep(await keyNow(), bytes);
    expect(tails.find(await keyNow())).toEqual(bytes);
    // Others of the same length take its place: 2 MiB in all.
    for (let size = 100; size < 108; size++)
      for (const _ of [1, 2]) await tails.keep(await keyNow({ size }), Buffer.alloc(CROWDED_CHUNK_BYTES));
    expect(tails.find(await keyNow())).toBeUndefined();
    expect(tails.find(await keyNow({ size: 100 }))).toBeUndefined();
    expect(tails.find(await keyNow({ size: 107 }))).toBeDefined();
  });

  it('makes room for newer ones', async () => {
    const { tails, keyNow } = await openLog();
    for (let size = 1; size <= 17; size++) await tails.keep(await keyNow({ size }), Buffer.from('two\n'));
    expect(tails.find(await keyNow({ size: 1 }))).toBeUndefined();
    expect(tails.find(await keyNow({ size: 2 }))).toBeDefined();
    expect(tails.find(await keyNow({ size: 17 }))).toBeDefined();
  });
});
