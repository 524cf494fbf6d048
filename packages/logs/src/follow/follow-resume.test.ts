import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { resumeCursor } from '../cursor/cursor.ts';
import type { LogDir } from '../log-dir.ts';
import { LogError } from '../log-error.ts';
import { createZone } from '../parse/zone.ts';
import { eventually } from '../testing/eventually.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { fileSearch } from './testing/file-search.ts';
import { collectFollow, openHub } from './testing/open-hub.ts';

const FIRST_MS = Date.UTC(2026, 10, 15, 10);

function line(number: number): string {
  const time = new Date(FIRST_MS + number * 1000).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\ta/b.go:1\t[x]: number ${number}\n`;
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index)).join('');

function log(content: string): { dir: string; path: string } {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(path, content);
  return { dir, path };
}

/** The first `count` items of a follow. */
async function take(logs: LogDir, query: Partial<FollowQuery>, count: number): Promise<FollowItem[]> {
  const abort = new AbortController();
  const items: FollowItem[] = [];
  const all = { src: ['app.log'], raw: true, start: 'end', ...query } as const;
  for await (const batch of logs.follow(all, { signal: abort.signal })) {
    items.push(...batch);
    if (items.length >= count) abort.abort();
  }
  return items.filter(({ type }) => type !== 'end');
}

/** All up to this text. Files created in one moment look as if they had been truncated, which does not matter here. */
async function textsUpTo(last: string, logs: LogDir, query: Partial<FollowQuery>): Promise<(string | undefined)[]> {
  const abort = new AbortController();
  const items: FollowItem[] = [];
  const all = { src: ['app.log'], raw: true, start: 'end', ...query } as const;
  for await (const batch of logs.follow(all, { signal: abort.signal })) {
    items.push(...batch.filter((item) => item.type !== 'end' && !(item.type === 'gap' && item.reason === 'truncated')));
    if (itemTexts(items).includes(last)) abort.abort();
  }
  return itemTexts(items);
}

const itemTexts = (items: readonly FollowItem[]) =>
  items.map((item) => (item.type === 'record' ? item.raw : item.type));

const resumed = (record: FoundRecord) => ({ cursor: resumeCursor(record) });

async function newestRecord(dir: string): Promise<FoundRecord> {
  const logs = openDir(dir);
  const [record] = await take(logs, { start: { back: 1 } }, 1);
  await logs.close();
  return record as FoundRecord;
}

test('lines added to the last record before a resume come as a continued record', async () => {
  const { dir, path } = log(lines(1, 3));
  const record = await newestRecord(dir);
  appendFileSync(path, `\tat one\n\tat two\n${line(4)}`);
  const items = await take(openDir(dir), { start: { cursor: resumeCursor(record) } }, 2);
  expect(itemTexts(items)).toEqual(['\tat one\n\tat two', line(4).trimEnd()]);
  expect(items[0]).toMatchObject({ continued: true, offset: record.offset + record.bytes });
});

test('lines added before a resume come as a continued record after compression, too, if the record matches', async () => {
  const { dir, path } = log(lines(1, 3));
  const record = await newestRecord(dir);
  writeFileSync(`${path}.1.gz`, gzipSync(`${lines(1, 3)}\tat one\n`));
  writeFileSync(path, line(4));
  const cursor = resumeCursor(record);
  expect(itemTexts(await take(openDir(dir), { start: { cursor } }, 2))).toEqual(['\tat one', line(4).trimEnd()]);
  const filtered = await take(openDir(dir), { start: { cursor }, terms: ['number 4'] }, 1);
  expect(itemTexts(filtered)).toEqual([line(4).trimEnd()]);
});

test('a record that has grown in the ring since is not sent again from its start', async () => {
  const { dir, path } = log('');
  const logs = openDir(dir);
  const other = logs.follow({ src: ['app.log'], raw: true, start: 'end' })[Symbol.asyncIterator]();
  await other.next();
  appendFileSync(path, `${line(1)}\tat one\n`);
  const { value: [whole] = [] } = await other.next();
  const delivered = { ...(whole as FoundRecord), bytes: line(1).length };
  expect(itemTexts(await take(logs, { start: { cursor: resumeCursor(delivered) } }, 1))).toEqual(['\tat one']);
  await other.return?.();
});

test('records before the cursor are not sent again if the follow that shares the reader has not reached them yet', async () => {
  const { dir, path } = log(lines(1, 2));
  // Only polls, and seldom: on a busy machine rotations are noticed late.
  const hub = openHub(dir, { events: false, pollMs: 500 });
  const other = collectFollow(hub, { src: ['app.log'] });
  await other.ready;
  const rotate = (number: number) => renameSync(path, `${path}.${number}`);
  appendFileSync(path, lines(3, 40));
  rotate(3);
  writeFileSync(path, lines(41, 80));
  rotate(2);
  writeFileSync(path, lines(81, 120));
  rotate(1);
  writeFileSync(path, lines(121, 130));
  const query = { src: ['app.log'], order: 'newest', limit: 1, before: 0, after: 0 } as const;
  const { value: [record] = [] } = await fileSearch(dir, createZone('UTC'))(query, {}).next();
  const cursor = resumeCursor(record as FoundRecord);
  const follow = collectFollow(hub, { src: ['app.log'], start: { cursor } });
  await follow.ready;
  appendFileSync(path, line(131));
  for (const each of [other, follow]) await eventually(() => expect(each.texts.at(-1)).toBe(line(131).trimEnd()));
  expect(follow.texts).toEqual([line(131).trimEnd()]);
  expect(other.texts).toEqual(lines(3, 131).trimEnd().split('\n'));
});

test('after a deleted record: a gap, then what is left and not older', async () => {
  const { dir, path } = log(lines(1, 3));
  const cursor = resumeCursor(await newestRecord(dir));
  renameSync(path, `${path}.1`);
  writeFileSync(path, lines(4, 6));
  rmSync(`${path}.1`);
  const items = await take(openDir(dir), { start: { cursor } }, 4);
  expect(itemTexts(items)).toEqual(['gap', ...lines(4, 6).trimEnd().split('\n')]);
  expect(items[0]).toMatchObject({ reason: 'gone' });
});

test('after a deleted record: older records are not sent again', async () => {
  const { dir, path } = log(lines(4, 6));
  writeFileSync(`${path}.1`, lines(1, 3));
  const cursor = resumeCursor(await newestRecord(dir));
  truncateSync(path, 0);
  appendFileSync(path, line(7));
  expect(itemTexts(await take(openDir(dir), { start: { cursor } }, 2))).toEqual(['gap', line(7).trimEnd()]);
});

test('the gap of a slow follower covers all it missed, including continuation lines', async () => {
  const { dir, path } = log(lines(1, 2));
  const logs = openDir(dir, { followBytes: 4000 });
  const fast: FollowItem[] = [];
  const stop = new AbortController();
  const following = (async () => {
    const query = { src: ['app.log'], raw: true, start: 'end' } as const;
    for await (const batch of logs.follow(query, { signal: stop.signal })) fast.push(...batch);
  })();
  const slow = logs.follow({ src: ['app.log'], raw: true, start: { back: 1 } })[Symbol.asyncIterator]();
  await slow.next();
  const items: FollowItem[] = [...((await slow.next()).value ?? [])];
  let written = '';
  for (let number = 3; number < 120; number++) {
    const text = number % 3 === 0 ? `\tat ${number}\n` : line(number);
    appendFileSync(path, text);
    written += text;
    if (number % 10 === 0) await eventually(() => expect(itemBytes(fast)).toBe(written.length));
  }
  await eventually(() => expect(itemBytes(fast)).toBe(written.length));
  appendFileSync(path, line(120));
  for (let isLast = false; !isLast; ) {
    for (const item of (await slow.next()).value ?? []) {
      if (item.type === 'gap') items.push(...(await loaded(logs, item)));
      else items.push(item);
      isLast = item.type === 'record' && item.raw === line(120).trimEnd();
    }
  }
  const texts = items.flatMap((item) => (item.type === 'record' ? [item.raw] : []));
  expect(`${texts.join('\n')}\n`).toBe(line(2) + written + line(120));
  stop.abort();
  await Promise.all([following, slow.return?.()]);
});

const itemBytes = (items: readonly FollowItem[]) =>
  items.reduce((sum, item) => sum + (item.type === 'record' ? item.bytes : 0), 0);

async function loaded(logs: LogDir, gap: Extract<FollowItem, { type: 'gap' }>): Promise<FoundRecord[]> {
  const { family, after, until } = gap;
  if (after === null || until === null) throw new Error('a gap that cannot be loaded');
  const range = { family, start: { cursor: after }, until, order: 'oldest', limit: 1000, before: 0, after: 0 } as const;
  const records: FoundRecord[] = [];
  for await (const items of searchItems(logs, { ...range, raw: true }))
    for (const item of items) if (item.type === 'record') records.push(item);
  return records;
}

type Position = Extract<FollowItem, { type: 'position' }>;
const isPosition = (item: FollowItem) => item.type === 'position';

/** Where a follow of all logs stands. */
async function positionOf(dir: string): Promise<string> {
  const logs = openDir(dir);
  for await (const items of logs.follow({ start: 'end' }, { positions: true }))
    for (const item of items) if (item.type === 'position') return logs.close().then(() => item.cursor);
  throw new Error('no position');
}

test.each([
  ['deleted', (path: string) => rmSync(path)],
  ['deleted with its directory', (path: string) => rmSync(dirname(path), { recursive: true })],
  ['empty', (path: string) => writeFileSync(path, '')],
  ['shorter, with other text', (path: string) => writeFileSync(path, line(7))],
])('a follow of all logs says that lines may be missing of one that is %s when it resumes, once', async (_, lose) => {
  const { dir, path } = log(lines(1, 3));
  const cursor = await positionOf(dir);
  lose(path);
  mkdirSync(dir, { recursive: true });
  const hub = openHub(dir, { isTimed: async () => existsSync(path) && statSync(path).size > 0 });
  const follow = collectFollow(hub, { start: { cursor } }, { positions: true });
  await eventually(() => expect(follow.items.at(-1)).toMatchObject({ type: 'position' }));
  const gap = { type: 'gap', family: 'app.log', reason: 'gone', bytes: null, after: null, until: null };
  expect(follow.items.filter(({ type }) => type !== 'record' && type !== 'position')).toEqual([gap]);
  appendFileSync(path, line(8));
  await eventually(() => expect(follow.texts.at(-1)).toBe(line(8).trimEnd()));
  const again = collectFollow(hub, { start: { cursor: (follow.items.find(isPosition) as Position).cursor } });
  await again.ready;
  appendFileSync(path, line(9));
  await eventually(() => expect(again.texts.at(-1)).toBe(line(9).trimEnd()));
  for (const each of [follow, again]) await each.stop();
  expect(again.items.filter(({ type }) => type === 'gap')).toEqual([]);
});

test.each([
  ['as it was delivered', resumeCursor],
  ['alone, as clients of a cluster know it', ({ cursor }: FoundRecord) => cursor],
])('a log that was new in a follow of all logs is missed, too, if it is gone: its record %s', async (_, toCursor) => {
  const { dir, path } = log(lines(1, 3));
  const position = await positionOf(dir);
  const late = join(dir, 'late.log');
  writeFileSync(late, line(4));
  const [record] = await take(openDir(dir), { src: ['late.log'], start: { back: 1 } }, 1);
  rmSync(late);
  const cursor = `${position}~${toCursor(record as FoundRecord)}`;
  const follow = collectFollow(openHub(dir), { start: { cursor, sinceMs: FIRST_MS } });
  appendFileSync(path, line(5));
  await eventually(() => expect(itemTexts(follow.items)).toEqual(['gap', line(5).trimEnd()]));
  expect(follow.items[0]).toMatchObject({ family: 'late.log', reason: 'gone' });
  await follow.stop();
});

test('after a deleted record: a continuation line at the start of what is left is sent', async () => {
  const { dir, path } = log(lines(1, 3));
  const record = await newestRecord(dir);
  rmSync(path);
  writeFileSync(path, `\tat one\n${line(4)}`);
  const items = await take(openDir(dir), { start: { cursor: resumeCursor(record) } }, 3);
  expect(itemTexts(items)).toEqual(['gap', '\tat one', line(4).trimEnd()]);
});

test('what is written after a follow began is sent even if its file was deleted before the history reached it', async () => {
  const { dir, path } = log(line(1));
  const logs = openDir(dir);
  let remove = () => {};
  const removed = new Promise<void>((resolve) => {
    remove = resolve;
  });
  const hub = openHub(dir, {
    search: async function* (query, options) {
      await removed;
      yield* searchItems(logs, query, options);
    },
  });
  const abort = new AbortController();
  const batches = hub.follow({ src: ['app.log'], start: { timeMs: 0 }, raw: true }, { signal: abort.signal });
  const first = batches.next();
  // A second follower shows when it was read.
  const other = collectFollow(hub, { src: ['app.log'] });
  await other.ready;
  appendFileSync(path, line(2));
  await eventually(() => expect(other.texts).toEqual([line(2).trimEnd()]));
  rmSync(path);
  writeFileSync(path, line(3));
  remove();
  await first;
  const items: FollowItem[] = [];
  for await (const batch of batches) {
    items.push(...batch);
    if (itemTexts(items).includes(line(3).trimEnd())) abort.abort();
  }
  const texts = [...new Set(itemTexts(items))].filter((text) => text !== 'gap');
  expect(texts).toEqual([line(2).trimEnd(), 'rotated', line(3).trimEnd(), 'end']);
});

test.each([false, true])(
  'resumes after a file that starts with a hole because its writer does not append (compressed: %s)',
  async (isPacked) => {
    const { dir, path } = log('');
    const fd = openSync(path, 'r+');
    onTestFinished(() => closeSync(fd));
    let position = 0;
    const write = (text: string) => {
      position += writeSync(fd, text, position);
    };
    const rotate = () => {
      if (existsSync(`${path}.1`)) renameSync(`${path}.1`, `${path}.2`);
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    };
    write(lines(1, 30));
    rotate();
    write(lines(31, 60));
    const record = await newestRecord(dir);
    write(lines(61, 90));
    rotate();
    write(lines(91, 120));
    if (isPacked) {
      writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
      rmSync(`${path}.1`);
    }
    const items = await take(openDir(dir), { start: { cursor: resumeCursor(record) } }, 60);
    const numbers = itemTexts(items).map((text) => Number(/number (\d+)$/.exec(text ?? '')?.[1]));
    const wanted = Array.from({ length: 60 }, (_, index) => 61 + index);
    // An archive is always younger than the live file: only its timestamps could reveal that it was made from a copy.
    expect(numbers).toEqual(isPacked ? wanted : wanted.toSpliced(30, 0, Number.NaN));
    if (!isPacked) expect(items[30]).toMatchObject({ type: 'gap', reason: 'truncated' });
  },
);

test('what is left after a deleted record is sent even if its end is not found at first, as in the middle of a rename', async () => {
  const { dir, path } = log(lines(1, 3));
  const record = await newestRecord(dir);
  rmSync(path);
  writeFileSync(path, lines(4, 9));
  const logs = openDir(dir);
  let searches = 0;
  const hub = openHub(dir, {
    search: (query, options) => {
      // The first three searches look for the record, the others read what is left.
      if ([4, 5, 6].includes(++searches)) throw new LogError('CURSOR_GONE', 'renamed at this moment');
      return searchItems(logs, query, options);
    },
  });
  const follow = collectFollow(hub, { src: ['app.log'], start: { cursor: resumeCursor(record) } });
  await follow.ready;
  appendFileSync(path, line(10));
  await eventually(() => expect(follow.texts.at(-1)).toBe(line(10).trimEnd()));
  await follow.stop();
  expect(itemTexts(follow.items)).toEqual(['gap', ...lines(4, 10).trimEnd().split('\n'), 'end']);
});

test('a file replaced while the history is read does not end the follow: a gap, then what is written since', async () => {
  const { dir, path } = log(lines(1, 2));
  const record = await newestRecord(dir);
  rmSync(path);
  writeFileSync(path, lines(3, 4));
  const logs = openDir(dir);
  let searches = 0;
  const hub = openHub(dir, {
    search: (query, options) => {
      // The first three searches look for the record, the fourth reads what is left.
      if (++searches === 4) {
        rmSync(path);
        writeFileSync(path, `\tat one\n${line(5)}`);
      }
      return searchItems(logs, query, options);
    },
  });
  const follow = collectFollow(hub, { src: ['app.log'], start: { cursor: resumeCursor(record) } });
  await follow.ready;
  await eventually(() => expect(follow.texts.at(-1)).toBe(line(5).trimEnd()));
  await follow.stop();
  expect(itemTexts(follow.items)).toEqual(['gap', '\tat one', line(5).trimEnd(), 'end']);
});

test.each([true, false])(
  'after a deleted continuation line (read as it was written: %s): a gap, then what is left and not older',
  async (isLive) => {
    const { dir, path } = log(lines(1, 3));
    writeFileSync(`${path}.1`, line(0));
    const logs = openDir(dir);
    const follow = logs.follow({ src: ['app.log'], raw: true, start: 'end' })[Symbol.asyncIterator]();
    await follow.next();
    let cursor = resumeCursor(await newestRecord(dir));
    appendFileSync(path, '\tat one\n');
    const { value: [piece] = [] } = await follow.next();
    expect(piece).toMatchObject({ continued: true });
    await follow.return?.();
    await logs.close();
    const [rest] = isLive ? [piece] : await take(openDir(dir), { start: { cursor } }, 1);
    expect(rest).toMatchObject({ continued: true, raw: '\tat one' });
    cursor = resumeCursor(rest as FoundRecord);
    rmSync(path);
    writeFileSync(path, lines(4, 6));
    const items = await take(openDir(dir), { start: { cursor } }, 4);
    expect(itemTexts(items)).toEqual(['gap', ...lines(4, 6).trimEnd().split('\n')]);
  },
);

test.each([true, false])(
  'after a deleted record of one of several logs: a gap, then all that is left and not older (time known: %s)',
  async (isTimed) => {
    const { dir, path } = log(lines(1, 3));
    const { cursor } = isTimed ? resumed(await newestRecord(dir)) : await newestRecord(dir);
    rmSync(path);
    writeFileSync(path, lines(4, 6));
    writeFileSync(join(dir, 'other.log'), line(1));
    const other = await take(openDir(dir), { src: ['other.log'], start: { back: 1 } }, 1);
    const marks = [cursor, (other[0] as FoundRecord).cursor].join('~');
    const start = { cursor: marks, sinceMs: FIRST_MS + 5000 };
    const follow = collectFollow(openHub(dir), { start });
    const left = lines(isTimed ? 4 : 5, 6)
      .trimEnd()
      .split('\n');
    await eventually(() => expect(itemTexts(follow.items)).toEqual(['gap', ...left]));
    await follow.stop();
  },
);

test.each([1, 2])(
  'a part that is gone is reported once if the file goes, too, before the next page is read (in %i of the rounds)',
  async (rounds) => {
    const { dir, path } = log(lines(1, 3));
    // Without what was delivered of it, a deleted record is an error; a follow of several logs makes a gap of it.
    const { cursor } = await newestRecord(dir);
    writeFileSync(join(dir, 'other.log'), line(1));
    const [other] = await take(openDir(dir), { src: ['other.log'], start: { back: 1 } }, 1);
    appendFileSync(path, lines(4, 6));
    const logs = openDir(dir);
    let pages = 0;
    const hub = openHub(dir, {
      async *search(query, options) {
        const isPage = query.src?.[0] === 'app.log' && query.start && 'cursor' in query.start;
        if (!isPage || ++pages > rounds * 2) return yield* searchItems(logs, query, options);
        if (pages % 2 === 0) throw new LogError('CURSOR_GONE', 'its file was deleted');
        rmSync(path, { force: true });
        const problems = [{ file: 'app.log', code: 'CURSOR_GONE', detail: 'its file was deleted' }];
        for await (const items of searchItems(logs, { order: 'oldest', limit: 1, before: 0, after: 0 }, options))
          for (const item of items)
            if (item.type === 'end') yield [{ ...item, reason: 'time budget', problems, cursor }];
      },
    });
    const start = { cursor: `${cursor}~${resumeCursor(other as FoundRecord)}`, sinceMs: FIRST_MS };
    const follow = collectFollow(hub, { start }, { positions: true });
    // Until everything was emitted that had been written before.
    await eventually(() => expect(follow.items.some(isPosition)).toBe(true));
    await follow.stop();
    expect(itemTexts(follow.items).slice(0, 2)).toEqual(['gap', 'position']);
    expect(follow.items[0]).toMatchObject({ family: 'app.log', reason: 'gone' });
  },
);

test('after a deleted record of a log without timestamps: a gap, then all that is left', async () => {
  const { dir, path } = log('one\ntwo\n');
  const record = await newestRecord(dir);
  rmSync(path);
  writeFileSync(`${path}.1`, 'three\nfour\n');
  writeFileSync(path, 'five\n');
  const cursor = resumeCursor(record);
  expect(await textsUpTo('five', openDir(dir), { start: { cursor } })).toEqual(['gap', 'three', 'four', 'five']);
});

test.each([false, true])(
  'after a deleted record: files without timestamps are sent, too (compressed: %s)',
  async (isPacked) => {
    const { dir, path } = log(lines(1, 3));
    const record = await newestRecord(dir);
    rmSync(path);
    const rotated = '\tat one\n\tat two\n';
    writeFileSync(`${path}.2`, lines(4, 5));
    writeFileSync(isPacked ? `${path}.1.gz` : `${path}.1`, isPacked ? gzipSync(rotated) : rotated);
    writeFileSync(path, '\tat three\n');
    const start = { cursor: resumeCursor(record) };
    const untimed = ['\tat one\n\tat two', '\tat three'];
    const timed = [line(4).trimEnd(), line(5).trimEnd()];
    expect(await textsUpTo('\tat three', openDir(dir), { start })).toEqual(['gap', ...timed, ...untimed]);
    rmSync(`${path}.2`);
    expect(await textsUpTo('\tat three', openDir(dir), { start })).toEqual(['gap', ...untimed]);
  },
);

test.each([false, true])(
  'what a writer still appends to a file renamed before the follow began is sent (new file: %s)',
  async (isCreated) => {
    const { dir, path } = log(lines(1, 3));
    const writer = openSync(path, 'a');
    onTestFinished(() => closeSync(writer));
    const cursor = resumeCursor(await newestRecord(dir));
    writeSync(writer, line(4));
    renameSync(path, `${path}.1`);
    if (isCreated) writeFileSync(path, '');
    const follow = collectFollow(openHub(dir), { src: ['app.log'], start: { cursor } });
    await eventually(() => expect(follow.texts).toEqual([line(4).trimEnd()]));
    writeSync(writer, line(5));
    appendFileSync(path, line(6));
    await eventually(() => expect(follow.texts).toEqual(lines(4, 6).trimEnd().split('\n')));
    await follow.stop();
  },
);

test('what is copied and truncated before any of it was read is sent', async () => {
  const { dir, path } = log('');
  const hub = openHub(dir, { events: false, pollMs: 50 });
  const follow = collectFollow(hub, { src: ['app.log'] });
  await follow.ready;
  appendFileSync(path, lines(1, 3));
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
  appendFileSync(path, line(4));
  await eventually(() => expect(follow.texts).toEqual(lines(1, 4).trimEnd().split('\n')));
  await follow.stop();
});
