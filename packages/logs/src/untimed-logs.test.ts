import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinCursors } from '@porthole/records';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readItemText } from './follow/followed-text.ts';
import { eventually } from './testing/eventually.ts';
import { searchItems } from './testing/run-search.ts';
import { openDir } from './testing/temp-dir.ts';
import type { FollowItem, FollowQuery, SearchItem, SearchQuery } from './types.ts';

const ALL: SearchQuery = { order: 'newest', limit: 1000, before: 0, after: 0 };

const timed = (first: number, count: number) =>
  Array.from(
    { length: count },
    (_, at) => `2026-06-01T10:00:${String(first + at).padStart(2, '0')}Z INFO line ${first + at}\n`,
  ).join('');

/** A log, next to one without timestamps and a binary file. */
function mixedDir() {
  const path = tempDir();
  writeFileSync(join(path, 'app.log'), timed(0, 10));
  writeFileSync(join(path, 'notes.log'), 'nothing but text\n'.repeat(50));
  writeFileSync(join(path, 'core.log'), Buffer.alloc(5000));
  return { path, dir: openDir(path) };
}

async function search(dir: ReturnType<typeof openDir>, query: Partial<SearchQuery>) {
  const items: SearchItem[] = [];
  for await (const batch of searchItems(dir, { ...ALL, ...query })) items.push(...batch);
  const end = items.at(-1);
  if (end?.type !== 'end') throw new Error('the search has no end');
  return { files: new Set(items.flatMap((item) => (item.type === 'record' ? [item.file] : []))), end };
}

function follow(dir: ReturnType<typeof openDir>, query: Partial<FollowQuery> = {}) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const items: FollowItem[] = [];
  let hasBegun = false;
  void (async () => {
    for await (const batch of dir.follow({ start: 'end', ...query }, { signal: leaving.signal })) {
      hasBegun = true;
      items.push(...batch);
    }
  })();
  const begun = () => eventually(() => expect(hasBegun).toBe(true));
  return { begun, messages: () => items.flatMap((item) => (item.type === 'record' ? [item.message] : [])) };
}

describe('files without timestamps', () => {
  it('are left out of a search of all logs, which reports them', async () => {
    const { dir } = mixedDir();
    const { files, end } = await search(dir, {});
    expect(files).toEqual(new Set(['app.log']));
    expect(end.problems.map(({ file, code, detail }) => `${file} ${code} ${detail.split(':')[0]}`)).toEqual([
      'core.log LEFT_OUT binary',
      'notes.log LEFT_OUT no timestamps',
    ]);
    expect(end.scannedBytes).toBe(timed(0, 10).length);
  });

  it('are not counted among all logs', async () => {
    const { dir } = mixedDir();
    const { untimed, end } = await dir.histogram({ buckets: 10 });
    expect({ untimed, records: end.records }).toEqual({ untimed: 0, records: 10 });
    expect((await dir.digest({ limit: 10 })).end.problems).toHaveLength(2);
  });

  it('are searched when selected by name, including binary ones', async () => {
    const { dir } = mixedDir();
    expect((await search(dir, { src: ['=notes.log'] })).files).toEqual(new Set(['notes.log']));
    expect((await search(dir, { src: ['core.log'] })).files).toEqual(new Set(['core.log']));
    expect((await search(dir, { src: ['=notes.log'] })).end.problems).toEqual([]);
  });

  it('are left out of a follow of all logs, including its history', async () => {
    const { path, dir } = mixedDir();
    const all = follow(dir, { start: { back: 3 } });
    const named = follow(dir, { src: ['notes.log'] });
    await Promise.all([all.begun(), named.begun()]);
    appendFileSync(join(path, 'notes.log'), 'one more text\n');
    await eventually(() => expect(named.messages()).toEqual(['one more text']));
    appendFileSync(join(path, 'app.log'), timed(10, 1));
    await eventually(() => expect(all.messages()).toEqual(['line 7', 'line 8', 'line 9', 'line 10']));
  });

  it('are followed for their text: their last records, or those after one of them, but no binary file', async () => {
    const { path, dir } = mixedDir();
    const texts = (start: FollowQuery['start']) => {
      const leaving = new AbortController();
      onTestFinished(() => leaving.abort());
      const items: FollowItem[] = [];
      void (async () => {
        const query = { start, raw: true };
        for await (const batch of dir.follow(query, { signal: leaving.signal, texts: true, positions: true }))
          items.push(...batch);
      })();
      const textOf = (file: string) =>
        items
          .flatMap((item) => ((item.type === 'text' || item.type === 'record') && item.file === file ? [item] : []))
          .map((item) => readItemText(item)?.text.toString())
          .join('');
      return { items, textOf };
    };
    const first = texts({ timeMs: Date.parse('2026-06-01T10:00:08Z') });
    await eventually(() => expect(first.items.map(({ type }) => type)).toContain('position'));
    expect([first.textOf('app.log'), first.textOf('notes.log')]).toEqual([
      timed(8, 2),
      'nothing but text\n'.repeat(50),
    ]);
    appendFileSync(join(path, 'notes.log'), 'one more text\n');
    await eventually(() => expect(first.textOf('notes.log')).toMatch(/one more text\n$/));
    expect(first.textOf('core.log')).toBe('');
    const cursors = first.items.flatMap((item) => (item.type === 'text' || item.type === 'record' ? [item] : []));
    const lastOf = (file: string) => cursors.findLast((item) => item.file === file)?.cursor ?? '';
    appendFileSync(join(path, 'notes.log'), 'the last text\n');
    const next = texts({ cursor: joinCursors([lastOf('app.log'), lastOf('notes.log')]) });
    await eventually(() => expect(next.textOf('notes.log')).toBe('the last text\n'));
    expect(next.textOf('app.log')).toBe('');
  });

  it('are distinguished from a new log that begins with a banner, which is followed from its start', async () => {
    const { path, dir } = mixedDir();
    const { begun, messages } = follow(dir);
    await begun();
    writeFileSync(join(path, 'new.log'), 'a banner\n');
    appendFileSync(join(path, 'app.log'), timed(10, 1));
    await eventually(() => expect(messages()).toEqual(['line 10']));
    appendFileSync(join(path, 'new.log'), timed(20, 1));
    await eventually(() => expect(messages()).toEqual(['line 10', 'a banner', 'line 20']));
  });

  it('are distinguished from a log whose live file is empty because it was just rotated', async () => {
    const { path, dir } = mixedDir();
    writeFileSync(join(path, 'app.log.1'), timed(0, 10));
    writeFileSync(join(path, 'app.log'), '');
    const { begun, messages } = follow(dir, { start: { back: 2 } });
    await begun();
    await eventually(() => expect(messages()).toEqual(['line 8', 'line 9']));
  });
});
