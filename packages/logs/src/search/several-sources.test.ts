import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { LogDir } from '../log-dir.ts';
import { createZone } from '../parse/zone.ts';
import { eventually } from '../testing/eventually.ts';
import { runSearch } from '../testing/run-search.ts';
import type { FollowItem, FollowQuery } from '../types.ts';

const line = (second: number, text: string) => `2026-11-15 12:00:0${second}.000 INFO ${text}\n`;

function openLogs() {
  const dir = tempDir();
  const files = {
    'a.log.1': line(0, 'old a'),
    'a.log': line(3, 'new a'),
    'b.log': line(1, 'b'),
    'gc-1.log': line(2, 'gc'),
    'notes.log': 'no time\n',
    'odd*.log': line(4, 'odd'),
    'odd-.log': line(5, 'other'),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const logs = new LogDir(dir, { zone: createZone('UTC'), workers: 1, pollMs: 20 });
  onTestFinished(() => logs.close());
  return { dir, logs };
}

const messages = (records: readonly { message: string }[]) => records.map(({ message }) => message);

test.each([
  [['a.log'], ['old a', 'new a']],
  [['=a.log'], ['new a']],
  [
    ['=a.log', '=a.log.1'],
    ['old a', 'new a'],
  ],
  [
    ['a.log', '=a.log', 'a*'],
    ['old a', 'new a'],
  ],
  [
    ['b.log', 'gc-*'],
    ['b', 'gc'],
  ],
  [
    ['=gc-?.log', 'notes.log'],
    ['no time', 'gc'],
  ],
  [['odd*.log'], ['odd']],
  [['o*'], ['odd', 'other']],
])('%j reads each file once, in the order of time', async (src, expected) => {
  const { logs } = openLogs();
  const { records } = await runSearch(logs, { src, order: 'oldest' });
  expect(messages(records).toSorted()).toEqual(expected.toSorted());
  expect((await logs.histogram({ src, buckets: 10 })).end.records).toBe(expected.length);
});

test('what is not there beside what is, is a notice; if nothing is there, it is an error', async () => {
  const { logs } = openLogs();
  const { records, end } = await runSearch(logs, { src: ['b.log', 'none.log', '=none.1', 'x*'] });
  expect(messages(records)).toEqual(['b']);
  expect(end.problems).toMatchObject([
    { file: 'none.log', code: 'LOG_FAMILY_NOT_FOUND' },
    { file: 'none.1', code: 'LOG_FILE_NOT_FOUND' },
    { file: 'x*', code: 'LOG_FAMILY_NOT_FOUND' },
  ]);
  await expect(runSearch(logs, { src: ['none.log', 'x*'] })).rejects.toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND' });
  await expect(runSearch(logs, { src: ['n/b.log'] })).rejects.toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND' });
  await expect(runSearch(logs, { src: ['b.log', '=../x'] })).rejects.toMatchObject({ code: 'FILE_NAME_INVALID' });
});

test('a page of several logs continues where it stopped', async () => {
  const { logs } = openLogs();
  const src = ['a.log', 'b.log', '=gc-1.log'];
  const first = await runSearch(logs, { src, order: 'oldest', limit: 2 });
  const start = { cursor: first.end.cursor ?? '' };
  const second = await runSearch(logs, { src, order: 'oldest', limit: 10, start });
  expect(messages([...first.records, ...second.records])).toEqual(['old a', 'b', 'gc', 'new a']);
});

test('a follow of several logs follows a selected one that appears later, and no other', async () => {
  const { dir, logs } = openLogs();
  const items: FollowItem[] = [];
  const leaving = new AbortController();
  const query: FollowQuery = { src: ['b.log', 'later.log', 'gc-*'], start: { back: 10 } };
  const done = (async () => {
    for await (const batch of logs.follow(query, { signal: leaving.signal })) items.push(...batch);
  })();
  const shown = () => messages(items.flatMap((item) => (item.type === 'record' ? [item] : [])));
  await eventually(() => expect(shown()).toEqual(['b', 'gc']));
  expect(items).toContainEqual({ type: 'missing', family: 'later.log' });
  for (const name of ['a.log', 'later.log', 'gc-2.log']) appendFileSync(join(dir, name), line(6, name));
  await eventually(() => expect(shown().toSorted()).toEqual(['b', 'gc', 'gc-2.log', 'later.log']));
  leaving.abort();
  await done;
});
