import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { ThreadLost } from '../log-error.ts';
import { listFiles } from '../read/list.ts';
import { statEntries } from '../read/stat-entries.ts';
import { eventually } from '../testing/eventually.ts';
import type { CountedItem, FollowItem } from '../types.ts';
import { collectFollow, onlyRecords, openHub } from './testing/open-hub.ts';

const line = (number: number, text = 'line') =>
  `2026-11-15 10:00:${String(number % 60).padStart(2, '0')}.000\tINFO\ta/b.go:1\t[x]: ${text} ${number}\n`;
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => line(from + index));
const bare = (text: string) => text.replace(/\n$/, '');

test('emits what is appended, not what existed before', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, line(1));
  const follow = collectFollow(openHub(dir), { src: ['=a.log'] });
  await follow.ready;
  appendFileSync(path, line(2) + line(3));
  await eventually(() => expect(follow.texts).toEqual([line(2), line(3)].map(bare)));
  appendFileSync(path, line(4));
  await eventually(() => expect(follow.texts).toHaveLength(3));
  await follow.stop();
  expect(follow.items.at(-1)).toEqual({ type: 'end', reason: 'cancelled' });
  expect(onlyRecords(follow.items)[0]).toMatchObject({
    file: 'a.log',
    level: 'INFO',
    offset: line(1).length,
    message: 'line 2',
  });
});

test('an unknown file or family is rejected before the first batch', async () => {
  const hub = openHub(tempDir());
  const follow = (query: object) => hub.follow({ start: 'end', ...query }).next();
  await expect(follow({ src: ['=a.log'] })).rejects.toMatchObject({ code: 'LOG_FILE_NOT_FOUND' });
  await expect(follow({ src: ['a.log'] })).rejects.toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND' });
  await expect(follow({ src: ['=../a'] })).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
  expect(hub.usage).toEqual({ readers: 0, watchers: 0, openFiles: 0 });
});

test('closing the hub ends every follow with the reason', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), line(1));
  const hub = openHub(dir);
  const follows = [collectFollow(hub, { src: ['=a.log'] }), collectFollow(hub, {})];
  await Promise.all(follows.map(({ ready }) => ready));
  await hub.close();
  for (const { items } of follows) {
    await eventually(() => expect(items).toEqual([{ type: 'end', reason: 'stopping' }]));
  }
});

test.each([
  ['empty', true],
  ['missing', false],
])('a follow of all logs in a directory that is %s at first emits logs created later', async (_state, exists) => {
  const dir = join(tempDir(), 'logs');
  if (exists) mkdirSync(dir);
  const hub = openHub(dir);
  const follow = collectFollow(hub, {});
  const other = collectFollow(hub, {});
  await Promise.all([follow.ready, other.ready]);
  await other.stop();
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'a.log'), '');
  await eventually(() => expect(hub.usage.readers).toBe(1));
  appendFileSync(join(dir, 'a.log'), line(1));
  await eventually(() => expect(follow.texts).toEqual([bare(line(1))]));
  await follow.stop();
  await eventually(() => expect(hub.usage).toEqual({ readers: 0, watchers: 0, openFiles: 0 }));
});

test('all logs of the directory are followed, those that appear later from their start', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), line(1));
  const follow = collectFollow(openHub(dir), {});
  await follow.ready;
  writeFileSync(join(dir, 'b.log'), line(2) + line(3));
  appendFileSync(join(dir, 'a.log'), line(4));
  await eventually(() => expect(follow.texts.toSorted()).toEqual([line(2), line(3), line(4)].map(bare)));
  appendFileSync(join(dir, 'b.log'), line(5));
  await eventually(() => expect(follow.texts).toHaveLength(4));
  await follow.stop();
});

test('a follow of all logs survives listings whose scanning thread ended', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), line(1));
  const outcomes: string[] = [];
  let losses = 0;
  const statMany = async (names: readonly string[]) => {
    if (losses-- > 0) throw new ThreadLost('a scanning thread ended');
    return statEntries({ kind: 'stat', dir, names }, () => false);
  };
  const list = async () => {
    const listing = listFiles(dir, { statMany, manyFrom: 1 });
    await listing.then(
      () => outcomes.push('listed'),
      ({ code }) => outcomes.push(code),
    );
    return listing;
  };
  const hub = openHub(dir, { list });
  const follow = collectFollow(hub, {});
  await follow.ready;
  losses = 2;
  writeFileSync(join(dir, 'b.log'), line(2));
  await eventually(() => expect(follow.texts).toEqual([bare(line(2))]));
  expect(outcomes.filter((outcome) => outcome === 'LOG_DIR_UNREADABLE').length).toBeGreaterThan(0);
  await follow.stop();
});

test('a log whose live file is named by date continues with the file of the next date', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'app-2026-11-14.log'), line(1));
  const hub = openHub(dir);
  const follow = collectFollow(hub, {});
  await follow.ready;
  appendFileSync(join(dir, 'app-2026-11-14.log'), line(2));
  writeFileSync(join(dir, 'app-2026-11-15.log'), line(3));
  await eventually(() => expect(follow.texts).toEqual([line(2), line(3)].map(bare)));
  expect(follow.items.filter(({ type }) => type === 'rotated')).toHaveLength(1);
  expect(hub.usage.readers).toBe(1);
  await follow.stop();
});

test('filters by level, terms and regex, and keeps continuation lines with their record', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, line(1));
  const hub = openHub(dir);
  const byLevel = collectFollow(hub, { src: ['=a.log'], minLevel: 'WARN' });
  const byRegex = collectFollow(hub, { src: ['=a.log'], regex: 'li?ne [37]$' });
  const byTerm = collectFollow(hub, { src: ['=a.log'], terms: ['LINE 5'], excluded: ['line 4'] });
  await Promise.all([byLevel.ready, byRegex.ready, byTerm.ready]);
  const error = line(9).replace('INFO', 'ERROR');
  appendFileSync(path, `${lines(2, 9).join('')}${error}\tat one\n\tat two\n${line(10)}`);
  await eventually(() => expect(byRegex.texts).toEqual([line(3), line(7)].map(bare)));
  await eventually(() => expect(byTerm.texts).toEqual([line(5)].map(bare)));
  await eventually(() => expect(byLevel.texts).toEqual([`${error}\tat one\n\tat two`]));
  await Promise.all([byLevel.stop(), byRegex.stop(), byTerm.stop()]);
});

test('an invalid regex is rejected before the first batch', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), line(1));
  const first = openHub(dir)
    .follow({ src: ['=a.log'], start: 'end', regex: '(' })
    .next();
  await expect(first).rejects.toMatchObject({ code: 'REGEX_INVALID' });
});

test('500 followers of one file cost one read per append and share their records', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, line(1));
  const hub = openHub(dir);
  const follows = Array.from({ length: 500 }, () => collectFollow(hub, { src: ['=a.log'] }));
  await Promise.all(follows.map(({ ready }) => ready));
  expect(hub.usage).toEqual({ readers: 1, watchers: 1, openFiles: 1 });
  appendFileSync(path, line(2));
  const first = follows[0];
  await eventually(() => expect(first?.texts).toHaveLength(1));
  const before = hub.reads;
  const appends = 20;
  for (let turn = 0; turn < appends; turn++) {
    appendFileSync(path, line(3 + turn));
    await eventually(() => expect(first?.texts).toHaveLength(2 + turn));
  }
  await eventually(() => expect(follows.every(({ texts }) => texts.length === 1 + appends)).toBe(true));
  expect(hub.reads - before).toBe(appends);
  const emitted = new Set(follows.map(({ items }) => items[0] as FollowItem));
  expect(emitted.size).toBe(1);
  await Promise.all(follows.map(({ stop }) => stop()));
});

test('without events, polling alone finds what was appended', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.log'), line(1));
  const hub = openHub(dir, { events: false });
  const follow = collectFollow(hub, { src: ['=a.log'] });
  await follow.ready;
  expect(hub.usage.watchers).toBe(0);
  appendFileSync(join(dir, 'a.log'), line(2));
  await eventually(() => expect(follow.texts).toEqual([bare(line(2))]));
  await follow.stop();
});

test('whoever counts gets the records that match and the numbers of the others, by log, minute and level', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, line(1));
  const hub = openHub(dir);
  const items: CountedItem[] = [];
  const stop = new AbortController();
  const done = (async () => {
    const options = { counts: true, signal: stop.signal };
    for await (const batch of hub.follow({ start: 'end', minLevel: 'ERROR' }, options)) items.push(...batch);
  })();
  await eventually(() => expect(hub.usage.readers).toBe(1));
  const begun = hub.reads;
  for (let second = 2; second < 60; second++) appendFileSync(path, line(second));
  appendFileSync(path, line(61).replace('10:00', '10:01'));
  appendFileSync(path, `${line(59, 'broken').replace('INFO', 'ERROR')}\tat a\n`);
  writeFileSync(join(dir, 'b.log'), line(1).replace('INFO', 'WARN'));
  const startMs = Math.floor(Date.parse('2026-11-15T10:00:00Z') / 60_000) * 60_000;
  await eventually(() => expect(onlyRecords(items as FollowItem[])).toMatchObject([{ level: 'ERROR', file: 'a.log' }]));
  const counts = new Map<string, number>();
  await eventually(() => {
    counts.clear();
    for (const item of items)
      for (const { startMs: minute, counts: byLevel } of item.type === 'counted' ? item.minutes : [])
        for (const [level, count] of Object.entries(byLevel)) {
          const key = `${(item as { family: string }).family} +${(minute - startMs) / 60_000} ${level}`;
          counts.set(key, (counts.get(key) ?? 0) + count);
        }
    expect(Object.fromEntries(counts)).toEqual({ 'a.log +0 INFO': 58, 'a.log +1 INFO': 1, 'b.log +0 WARN': 1 });
  });
  // Not one for each of the writes.
  expect(hub.reads - begun).toBeLessThan(20);
  stop.abort();
  await done;
  await eventually(() => expect(hub.usage.readers).toBe(0));
});
