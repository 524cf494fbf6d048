import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { expect, test } from 'vitest';
import { Scrubbing } from '../scrub/scrubber.ts';
import { eventually } from '../testing/eventually.ts';
import type { FollowedText, FollowItem, FollowQuery } from '../types.ts';
import { readItemText } from './followed-text.ts';
import { openHub } from './testing/open-hub.ts';

const line = (number: number, text = `number ${number}`) =>
  `2026-11-15 10:00:${String(number % 60).padStart(2, '0')}.000\tINFO\tmain.go:1\t[A]: ${text}\n`;

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index)).join('');

type Options = Parameters<typeof openHub>[1];

/** A follow of the text of all logs, and what it has emitted of each file. */
function followTexts(dir: string, query: Partial<FollowQuery> = {}, options: Options = {}) {
  const hub = openHub(dir, options);
  const items: FollowItem[] = [];
  const stop = new AbortController();
  const done = (async () => {
    const follow = hub.follow({ start: 'end', raw: true, ...query }, { texts: true, signal: stop.signal });
    for await (const batch of follow) items.push(...batch);
  })();
  const textOf = (name: string) =>
    items
      .flatMap((item) => ((item.type === 'text' || item.type === 'record') && item.file === name ? [item] : []))
      .map((item) => readItemText(item)?.text.toString('latin1'))
      .join('');
  const end = async () => {
    stop.abort();
    await done;
  };
  return { hub, items, textOf, end };
}

test('whoever wants text gets the bytes of the files, whatever they are, in few batches', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, lines(0, 40));
  const { hub, items, textOf, end } = followTexts(dir);
  await eventually(() => expect(hub.usage.readers).toBe(1));
  const begun = { reads: hub.reads, bytes: readFileSync(path).length };
  for (let number = 40; number < 400; number++) appendFileSync(path, line(number));
  appendFileSync(path, Buffer.from(`${line(1, 'broken \xff\xfe').slice(0, -1)}\r\n\tat a\n`, 'latin1'));
  const written = () => readFileSync(path).subarray(begun.bytes).toString('latin1');
  await eventually(() => expect(textOf('a.log')).toBe(written()));
  const texts = items.filter((item) => item.type === 'text');
  expect(texts[0]).toMatchObject({ offset: begun.bytes, timeMs: Date.parse('2026-11-15T10:00:40Z') });
  expect(hub.reads - begun.reads).toBeLessThan(100);
  expect(items.length).toBeLessThan(50);
  // A line that is not finished comes for itself, and the rest of it when it is.
  appendFileSync(path, '2026-11-15 10:00:00.000\tINFO\tmain.go:1\t[A]: half');
  await eventually(() => expect(items.at(-1)).toMatchObject({ type: 'record', unfinished: true }));
  appendFileSync(path, ` a line\n${line(2)}`);
  await eventually(() => expect(textOf('a.log')).toBe(written()));
  await end();
});

test('what was written before comes as text, too, and a follow resumes after any of it', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, lines(0, 100));
  const first = followTexts(dir, { start: { timeMs: Date.parse('2026-11-15T10:00:00Z') } });
  await eventually(() => expect(first.textOf('a.log')).toBe(lines(0, 100)));
  expect(first.items.filter(({ type }) => type === 'record')).toEqual([]);
  await first.end();
  const { cursor } = first.items.findLast((item) => item.type === 'text') as FollowedText;
  renameSync(path, join(dir, 'a.log.1'));
  writeFileSync(path, lines(100, 200));
  const second = followTexts(dir, { start: { cursor } });
  await eventually(() => expect(second.textOf('a.log')).toBe(lines(100, 200)));
  expect(second.textOf('a.log.1')).toBe('');
  await second.end();
});

test('nothing is dropped while it gathers, however little is buffered', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, lines(0, 40));
  const { hub, items, textOf, end } = followTexts(dir, {}, { bufferBytes: 20_000 });
  await eventually(() => expect(hub.usage.readers).toBe(1));
  // Another follow makes it read at every write.
  const stop = new AbortController();
  const other = hub.follow({ start: 'end' }, { signal: stop.signal });
  await other.next();
  const pulled = (async () => {
    for await (const _ of other);
  })();
  const begun = readFileSync(path).length;
  for (let number = 0; number < 100; number++) {
    appendFileSync(path, lines(number * 10, number * 10 + 10));
    await new Promise((resolve) => setTimeout(resolve, 3)); // pause: the pace of a writer
  }
  await eventually(() => expect(textOf('a.log')).toBe(readFileSync(path).subarray(begun).toString()));
  expect(items.filter(({ type }) => type === 'gap')).toEqual([]);
  stop.abort();
  await pulled;
  await end();
});

test('secrets are masked in it', async () => {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, lines(0, 40));
  const scrubbing = new Scrubbing();
  scrubbing.add(['hunter2-hunter2-hunter2']);
  const { hub, textOf, end } = followTexts(dir, {}, { scrubbing });
  await eventually(() => expect(hub.usage.readers).toBe(1));
  appendFileSync(path, `${line(41, 'password hunter2-hunter2-hunter2')}${line(42)}`);
  await eventually(() => expect(textOf('a.log')).toContain('number 42'));
  expect(textOf('a.log')).toContain('password ');
  expect(textOf('a.log')).not.toContain('hunter2');
  await end();
});

test('text of another node that is not what it says is not read', () => {
  const item = { type: 'text', file: 'a.log', cursor: 'x', offset: 0 } as const;
  const deflated = (text: string) => deflateRawSync(text).toString('base64');
  expect(readItemText({ ...item, bytes: 4, deflated: deflated('text') })?.text.toString()).toBe('text');
  const bomb = deflated('a'.repeat(50_000_000));
  const wrong = [
    { bytes: 3, deflated: deflated('text') },
    { bytes: 5, deflated: deflated('text') },
    { bytes: 4, deflated: 'none' },
    { bytes: 4, deflated: '' },
    { bytes: 1000, deflated: bomb },
    { bytes: 50_000_000, deflated: bomb },
  ];
  for (const each of wrong) expect(readItemText({ ...item, ...each })).toBeUndefined();
});
