import { appendFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, test, vi } from 'vitest';
import { createZone } from '../parse/zone.ts';
import { eventually } from '../testing/eventually.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { fileSearch } from './testing/file-search.ts';
import { type Collected, collectFollow, onlyRecords, openHub } from './testing/open-hub.ts';

const FIRST_MS = Date.UTC(2026, 10, 15, 10);
const line = (number: number) => {
  const time = new Date(FIRST_MS + number * 1000).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\ta/b.go:1\t[x]: number ${number}\n`;
};
const lines = (from: number, to: number) => upTo(from, to).map(line).join('');
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const recordNumbers = (items: readonly FollowItem[]) =>
  onlyRecords(items).map(({ message }) => Number(/number (\d+)/.exec(message)?.[1]));
const expectNumbers = (follow: Collected, numbers: number[]) =>
  eventually(() => expect(recordNumbers(follow.items)).toEqual(numbers));

/** A family of an archive, a rotated file and a live one, of ten records each. */
function family(): { dir: string; path: string } {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(`${path}.2.gz`, gzipSync(lines(1, 10)));
  writeFileSync(`${path}.1`, lines(11, 20));
  writeFileSync(path, lines(21, 30));
  return { dir, path };
}

test.each([0, 1, 5, 15, 30, 100])('starts %d records back, then continues live', async (back) => {
  const { dir, path } = family();
  const follow = collectFollow(openHub(dir), { src: ['app.log'], start: { back } });
  await follow.ready;
  appendFileSync(path, lines(31, 33));
  await expectNumbers(follow, upTo(Math.max(1, 31 - back), 33));
  await follow.stop();
});

test('starts at a time, through rotated and compressed files, then continues live', async () => {
  const { dir, path } = family();
  const follow = collectFollow(openHub(dir), { src: ['app.log'], start: { timeMs: FIRST_MS + 7000 } });
  await follow.ready;
  appendFileSync(path, lines(31, 33));
  await expectNumbers(follow, upTo(7, 33));
  await follow.stop();
});

test('resumes after a record that only the files still have', async () => {
  const { dir, path } = family();
  const first = collectFollow(openHub(dir), { src: ['app.log'], start: { back: 25 } });
  await expectNumbers(first, upTo(6, 30));
  await first.stop();
  const { cursor } = onlyRecords(first.items)[2] as FoundRecord;
  renameSync(`${path}.2.gz`, `${path}.3.gz`);
  writeFileSync(`${path}.2.gz`, gzipSync(lines(11, 20)));
  rmSync(`${path}.1`);
  const hub = openHub(dir);
  const follow = collectFollow(hub, { src: ['app.log'], start: { cursor } });
  await follow.ready;
  appendFileSync(path, lines(31, 33));
  await expectNumbers(follow, upTo(9, 33));
  await follow.stop();
});

test('resumes after a record that the ring still has without a search', async () => {
  const { dir, path } = family();
  const search = vi.fn(fileSearch(dir, createZone('UTC')));
  const hub = openHub(dir, { search });
  const first = collectFollow(hub, { src: ['=app.log'] });
  await first.ready;
  appendFileSync(path, lines(31, 40));
  await expectNumbers(first, upTo(31, 40));
  for (const [index, record] of onlyRecords(first.items).entries()) {
    const again = collectFollow(hub, { src: ['=app.log'], start: { cursor: record.cursor } });
    await again.ready;
    await expectNumbers(again, upTo(32 + index, 40));
    await again.stop();
  }
  expect(search).not.toHaveBeenCalled();
  await first.stop();
});

test('a cursor whose record was deleted is rejected before the first batch', async () => {
  const { dir, path } = family();
  const hub = openHub(dir);
  const first = collectFollow(hub, { src: ['=app.log'], start: { back: 1 } });
  await expectNumbers(first, [30]);
  await first.stop();
  await hub.close();
  truncateSync(path, 0);
  const { cursor } = onlyRecords(first.items)[0] as FoundRecord;
  const again = openHub(dir).follow({ src: ['=app.log'], start: { cursor } });
  await expect(again.next()).rejects.toMatchObject({ code: 'CURSOR_GONE' });
  const invalid = openHub(dir).follow({ src: ['=app.log'], start: { cursor: 'x' } });
  await expect(invalid.next()).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
});

test('a history so long that the ring moves on is continued with more history', async () => {
  const { dir, path } = family();
  const hub = openHub(dir, { bufferBytes: 2000 });
  // Keeps the tail running, whatever the other follow does.
  const other = collectFollow(hub, { src: ['=app.log'] });
  await other.ready;
  const batches = hub.follow({ src: ['app.log'], start: { timeMs: 0 } });
  const items: FollowItem[] = [];
  let next = 31;
  while (recordNumbers(items).length < 330) {
    const { value } = await batches.next();
    items.push(...(value ?? []));
    if (next > 330) continue;
    appendFileSync(path, lines(next, next + 99));
    next += 100;
    await eventually(() => expect(recordNumbers(other.items).at(-1)).toBe(next - 1));
  }
  expect(recordNumbers(items)).toEqual(upTo(1, 330));
  await batches.return();
  await other.stop();
});

test('a slow follower gets a gap that a search can load, and other followers get everything', async () => {
  const { dir, path } = family();
  const hub = openHub(dir, { bufferBytes: 5000 });
  const fast = collectFollow(hub, { src: ['=app.log'] });
  await fast.ready;
  const slow = hub.follow({ src: ['=app.log'], start: 'end' });
  await slow.next();
  for (let start = 31; start < 331; start += 10) {
    appendFileSync(path, lines(start, start + 9));
    await eventually(() => expect(recordNumbers(fast.items).at(-1)).toBe(start + 9));
  }
  const { value: items = [] } = await slow.next();
  const [gap] = items;
  if (gap?.type !== 'gap' || gap.until === null || gap.after === null) throw new Error('no gap that can be loaded');
  expect(gap).toMatchObject({ reason: 'slow', family: 'app.log' });
  const query = { src: ['app.log'], order: 'oldest', limit: 1000, before: 0, after: 0, until: gap.until } as const;
  const loaded: FollowItem[] = [];
  for await (const found of fileSearch(dir, createZone('UTC'))({ ...query, start: { cursor: gap.after } }, {})) {
    for (const item of found) if (item.type === 'record') loaded.push(item);
  }
  const bytes = onlyRecords(loaded).reduce((sum, record) => sum + record.bytes, 0);
  expect(gap.bytes).toBe(bytes);
  expect([...recordNumbers(loaded), ...recordNumbers(items)]).toEqual(upTo(31, 330));
  expect(recordNumbers(fast.items)).toEqual(upTo(31, 330));
  await slow.return();
  await fast.stop();
});

test('resumes each of several logs from its own record', async () => {
  const { dir } = family();
  writeFileSync(join(dir, 'other.log'), lines(101, 105));
  const first = collectFollow(openHub(dir), { start: { timeMs: 0 } });
  await eventually(() => expect(onlyRecords(first.items)).toHaveLength(35));
  await first.stop();
  const cursorAt = (number: number) =>
    onlyRecords(first.items)[recordNumbers(first.items).indexOf(number)]?.cursor ?? '';
  const cursor = `${cursorAt(28)}~${cursorAt(103)}`;
  const again = collectFollow(openHub(dir), { start: { cursor } });
  await again.ready;
  await eventually(() => expect(recordNumbers(again.items).toSorted((a, b) => a - b)).toEqual([29, 30, 104, 105]));
  await again.stop();
});

test('if a cursor names several records of one log the last one counts, whatever files they are in', async () => {
  const { dir } = family();
  writeFileSync(join(dir, 'other.log'), lines(101, 105));
  const first = collectFollow(openHub(dir), { start: { timeMs: 0 } });
  await eventually(() => expect(onlyRecords(first.items)).toHaveLength(35));
  await first.stop();
  const cursorAt = (number: number) =>
    onlyRecords(first.items)[recordNumbers(first.items).indexOf(number)]?.cursor ?? '';
  const joined = (...numbers: number[]) => numbers.map(cursorAt).join('~');
  const all = collectFollow(openHub(dir), { start: { cursor: joined(5, 15, 102, 28, 104) } });
  await eventually(() => expect(recordNumbers(all.items).toSorted((a, b) => a - b)).toEqual([29, 30, 105]));
  await all.stop();
  const one = collectFollow(openHub(dir), { src: ['app.log'], start: { cursor: joined(5, 104, 15, 28) } });
  await expectNumbers(one, [29, 30]);
  await one.stop();
});

test('logs that the cursor does not name start at its time, or at `sinceMs` if that is earlier', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), lines(1, 30));
  writeFileSync(join(dir, 'b.log'), lines(10, 40));
  const first = collectFollow(openHub(dir), { src: ['a.log'], start: { timeMs: 0 } });
  await expectNumbers(first, upTo(1, 30));
  await first.stop();
  const cursor = onlyRecords(first.items)[27]?.cursor ?? '';
  const fromB = async (start: FollowQuery['start']) => {
    const follow = collectFollow(openHub(dir), { start });
    await eventually(() => expect(recordNumbers(follow.items)).toContain(40));
    await follow.stop();
    return recordNumbers(follow.items.filter((item) => item.type === 'record' && item.file === 'b.log'));
  };
  expect(await fromB({ cursor })).toEqual(upTo(28, 40));
  expect(await fromB({ cursor, sinceMs: FIRST_MS + 20_000 })).toEqual(upTo(20, 40));
  expect(await fromB({ cursor, sinceMs: FIRST_MS + 35_000 })).toEqual(upTo(28, 40));
});

test.each<[string, Partial<FollowQuery>]>([
  ['family', { src: ['app.log'] }],
  ['file', { src: ['=app.log'] }],
])('a %s that is followed can be joined between its deletion and its next file', async (_, selection) => {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(path, lines(1, 3));
  const hub = openHub(dir);
  const first = collectFollow(hub, { ...selection, start: { back: 3 } });
  await expectNumbers(first, [1, 2, 3]);
  const { cursor } = onlyRecords(first.items)[0] as FoundRecord;
  rmSync(path);
  const second = collectFollow(hub, { ...selection, start: 'end' });
  const third = collectFollow(hub, { ...selection, start: { back: 5 } });
  await Promise.all([second.ready, third.ready]);
  await expect(collectFollow(hub, { ...selection, start: { cursor } }).ready).rejects.toMatchObject({
    code: 'CURSOR_GONE',
  });
  writeFileSync(path, lines(4, 5));
  await expectNumbers(first, upTo(1, 5));
  await expectNumbers(second, [4, 5]);
  await expectNumbers(third, [4, 5]);
  await Promise.all([first.stop(), second.stop(), third.stop()]);
});
