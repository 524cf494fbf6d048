import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resumeCursor } from '../cursor/cursor.ts';
import type { LogDir } from '../log-dir.ts';
import { eventually } from '../testing/eventually.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FoundRecord, SearchItem, SearchQuery } from '../types.ts';
import { collectFollow, openHub } from './testing/open-hub.ts';

function line(number: number): string {
  const time = new Date(Date.now() + number).toISOString().replace('T', ' ').replace('Z', '');
  return `${time}\tINFO\ta/b.go:1\t[x]: number ${number}\n`;
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index)).join('');

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

function log(content: string): { dir: string; path: string } {
  const dir = tempDir();
  const path = join(dir, 'app.log');
  writeFileSync(path, content);
  return { dir, path };
}

/** The number of each record, or the type of an item. */
const shown = (items: readonly FollowItem[]) =>
  items.map((item) => {
    if (item.type === 'gap') return `gap ${item.reason}`;
    return item.type === 'record'
      ? (/number (\d+)|frame (\d+)/.exec(item.raw ?? '')?.[0].split(' ')[1] ?? '?')
      : item.type;
  });

async function found(
  logs: LogDir,
  query: Partial<SearchQuery>,
): Promise<{ records: FoundRecord[]; end: Extract<SearchItem, { type: 'end' }> | undefined }> {
  const items: SearchItem[] = [];
  const all = { src: ['app.log'], order: 'oldest', limit: 1000, before: 0, after: 0, ...query } as const;
  for await (const batch of searchItems(logs, all)) items.push(...batch);
  return {
    records: items.filter((item) => item.type === 'record'),
    end: items.find((item) => item.type === 'end'),
  };
}

const newest = async (logs: LogDir) => (await found(logs, { order: 'newest', limit: 1 })).records[0] as FoundRecord;

/** Follows from the record until the number has arrived. */
async function resumed(logs: LogDir, record: FoundRecord, last: number): Promise<string[]> {
  const abort = new AbortController();
  const items: FollowItem[] = [];
  const query = { src: ['app.log'], raw: true, start: { cursor: resumeCursor(record) } } as const;
  for await (const batch of logs.follow(query, { signal: abort.signal })) {
    items.push(...batch);
    if (shown(items).includes(String(last))) abort.abort();
  }
  return shown(items).filter((each) => each !== 'end');
}

/** Opens a file without O_APPEND: its writer keeps its position after a truncation. */
function openWriter(path: string): (text: string) => void {
  const fd = openSync(path, 'r+');
  onTestFinished(() => closeSync(fd));
  let position = 0;
  return (text) => {
    position += writeSync(fd, text, position);
  };
}

describe('a reader that was away while the file was rotated', () => {
  const copytruncate = (path: string) => {
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  };

  test.each([
    ['copied and truncated', copytruncate, true],
    [
      'copied, truncated and compressed',
      (path: string) => {
        copytruncate(path);
        writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
        rmSync(`${path}.1`);
      },
      true,
    ],
    [
      'renamed',
      (path: string) => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, '');
      },
      false,
    ],
    [
      'renamed and compressed',
      (path: string) => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, '');
        writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
        rmSync(`${path}.1`);
      },
      false,
    ],
  ])('%s: a gap only where lines may be lost', async (_, rotate, mayLose) => {
    const { dir, path } = log('');
    appendFileSync(path, lines(1, 30));
    const before = openDir(dir);
    const record = await newest(before);
    await before.close();
    appendFileSync(path, lines(31, 40));
    // Timestamps are in the future by one millisecond per line, and the file system's clock is coarse.
    const writtenMs = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(writtenMs + 100));
    rotate(path);
    appendFileSync(path, lines(41, 50));
    const gap = mayLose ? ['gap truncated'] : [];
    expect(await resumed(openDir(dir), record, 50)).toEqual([...upTo(31, 40), ...gap, ...upTo(41, 50)]);
  });

  test('without new lines the gap comes before the first one written later', async () => {
    const { dir, path } = log('');
    appendFileSync(path, lines(1, 30));
    const logs = openDir(dir);
    const record = await newest(logs);
    copytruncate(path);
    const follow = resumed(logs, record, 31);
    await eventually(() => expect(logs.usage.readers).toBe(1));
    appendFileSync(path, line(31));
    expect(await follow).toEqual(['gap truncated', '31']);
  });

  test('if its file is deleted during the search the gap comes before what is left', async () => {
    const { dir, path } = log(lines(1, 30));
    const logs = openDir(dir);
    const record = await newest(logs);
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(31, 40));
    let searches = 0;
    const hub = openHub(dir, {
      search: (query, options) => {
        if (++searches === 1) {
          rmSync(`${path}.1`);
          renameSync(path, `${path}.1`);
          writeFileSync(path, lines(41, 50));
        }
        return searchItems(logs, query, options);
      },
    });
    const follow = collectFollow(hub, { src: ['app.log'], start: { cursor: resumeCursor(record) } });
    await eventually(() => expect(shown(follow.items)).toContain('50'));
    const all = shown(follow.items).filter((each) => each !== 'rotated');
    expect(all.slice(0, 11)).toEqual(['gap gone', ...upTo(31, 40)]);
    await follow.stop();
  });

  test('if the live file is emptied during the search, what the other files have comes after a gap', async () => {
    const { dir, path } = log(lines(1, 20));
    const logs = openDir(dir);
    const record = await newest(logs);
    appendFileSync(path, lines(21, 30));
    renameSync(path, `${path}.1`);
    writeFileSync(path, lines(31, 40));
    let searches = 0;
    const hub = openHub(dir, {
      search: (query, options) => {
        if (++searches === 1) truncateSync(path);
        return searchItems(logs, query, options);
      },
    });
    const follow = collectFollow(hub, { src: ['app.log'], start: { cursor: resumeCursor(record) } });
    await eventually(() => expect(shown(follow.items)).toContain('gap truncated'));
    appendFileSync(path, line(41));
    await eventually(() => expect(shown(follow.items)).toContain('41'));
    const all = shown(follow.items);
    expect(all.filter((each) => /^\d+$/.test(each))).toEqual([...upTo(21, 30), '41']);
    expect(all[0]).toBe('gap gone');
    await follow.stop();
  });
});

describe('a file truncated under a writer that does not append', () => {
  test('the first line after the hole is a record with its timestamp, in a search and in a follow', async () => {
    const { dir, path } = log('');
    const write = openWriter(path);
    const logs = openDir(dir);
    const hub = openHub(dir);
    const follow = collectFollow(hub, { src: ['app.log'] });
    await follow.ready;
    write(lines(1, 20));
    await eventually(() => expect(shown(follow.items).at(-1)).toBe('20'));
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
    write(`${line(21)}\tat frame 22\n`);
    await eventually(() => expect(shown(follow.items).at(-1)).toBe('21'));
    const followed = follow.items.at(-1) as FoundRecord;
    const searched = await newest(logs);
    for (const record of [followed, searched]) {
      expect(record.timeMs).toBeDefined();
      expect(record.message).toBe('number 21\n\tat frame 22');
    }
    expect(searched.offset).toBe(followed.offset);
    expect(searched.cursor).toBe(followed.cursor);
    await follow.stop();
  });

  test.each([100, 256 * 1024, 600 * 1024])(
    'continuation lines after a hole of %i bytes, before the first record',
    async (hole) => {
      const { dir, path } = log('');
      truncateSync(path, hole);
      appendFileSync(path, `\tat frame 1\n\tat frame 2\n${line(3)}`);
      const logs = openDir(dir);
      for (const order of ['oldest', 'newest'] as const) {
        const { records, end } = await found(logs, { order });
        const messages = records.map(({ message }) => message);
        expect(order === 'newest' ? messages.reverse() : messages).toEqual(['\tat frame 1\n\tat frame 2', 'number 3']);
        expect(end?.problems).toMatchObject([{ code: 'NUL_BYTES' }]);
      }
      expect(await logs.histogram({ src: ['app.log'], buckets: 10 })).toMatchObject({ untimed: 1 });
    },
  );

  test.each([false, true])(
    'while it is searched: a problem is reported, and no NULs are returned (appends: %s)',
    async (appends) => {
      const { dir, path } = log('');
      const write = appends ? (text: string) => appendFileSync(path, text) : openWriter(path);
      write(lines(1, 200));
      const search = searchItems(openDir(dir), {
        src: ['app.log'],
        order: 'oldest',
        limit: 1000,
        before: 0,
        after: 0,
      });
      await search.next();
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
      write(lines(201, 600));
      const items: SearchItem[] = [];
      for await (const batch of search) items.push(...batch);
      expect(items).toMatchObject([{ type: 'end', problems: [{ file: 'app.log', code: 'LOG_FILE_TRUNCATED' }] }]);
    },
  );
});

test('a range that ends after what the copy of a truncated file has returns what is left and reports the loss', async () => {
  const { dir, path } = log(lines(1, 30));
  const logs = openDir(dir);
  const { records } = await found(logs, {});
  copyFileSync(path, `${path}.1`);
  appendFileSync(path, lines(31, 40));
  const lost = await newest(logs);
  truncateSync(path);
  appendFileSync(path, lines(41, 50));
  const range = { start: { cursor: resumeCursor(records[9] as FoundRecord) }, until: lost.cursor };
  const { records: left, end } = await found(logs, range);
  expect(left.map(({ message }) => message.split(' ')[1])).toEqual(upTo(11, 30));
  expect(end?.problems).toMatchObject([{ code: 'CURSOR_GONE' }]);
});
