import { appendFileSync, mkdirSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { HandleCache, type LogHandle } from '../file/handle-cache.ts';
import { listFiles } from '../read/list.ts';
import { eventually } from '../testing/eventually.ts';
import { followLimit } from './lazy-follow-hub.ts';
import { collectFollow, openHub } from './testing/open-hub.ts';

const LOGS = 1300;
const MOST = 400;
const CLIENTS = 4;

const logName = (number: number) => `log-of-service-${String.fromCharCode(97 + (number % 26))}-${number}x.log`;
const line = (text: string) => `2026-11-15 10:00:00.000\tINFO\ta/b.go:1\t[x]: ${text}\n`;

test('1,300 logs followed by several clients: few listings, bounded descriptors, and a report of what is left out', async () => {
  const dir = join(tempDir(), 'logs');
  mkdirSync(dir);
  for (let number = 0; number < LOGS; number++) {
    const path = join(dir, logName(number));
    writeFileSync(path, line('first'));
    // The later, the newer.
    utimesSync(path, 1_700_000_000 + number, 1_700_000_000 + number);
  }
  let listings = 0;
  const list = () => {
    listings++;
    return listFiles(dir);
  };
  const hub = openHub(dir, { list, pollMs: 60_000, limit: { most: MOST, reason: 'because of the limit' } });
  const follows = Array.from({ length: CLIENTS }, () => collectFollow(hub, {}));
  await Promise.all(follows.map(({ ready }) => ready));
  // One per follow, and one for changes before the watcher existed.
  expect(listings).toBeLessThanOrEqual(CLIENTS + 2);
  await eventually(() => expect(hub.usage).toMatchObject({ readers: MOST, openFiles: MOST }));
  for (const { items } of follows) {
    await eventually(() => expect(items).toMatchObject([{ type: 'skipped', count: LOGS - MOST }]));
    expect(items[0]).toMatchObject({
      detail: expect.stringMatching(/^900 logs are not followed \("log-of.*: because/),
    });
  }

  // An event of one log wakes only its own reader.
  const reads = hub.reads;
  appendFileSync(join(dir, logName(LOGS - 1)), line('second'));
  for (const follow of follows) await eventually(() => expect(follow.texts).toEqual([line('second').trimEnd()]));
  expect(hub.reads - reads).toBeLessThan(MOST / 8);

  // A log that was left out can be followed by name; a new one is left out, too, and reported.
  const named = collectFollow(hub, { src: [logName(0)] });
  await named.ready;
  appendFileSync(join(dir, logName(0)), line('third'));
  await eventually(() => expect(named.texts).toEqual([line('third').trimEnd()]));
  writeFileSync(join(dir, 'new.log'), line('fourth'));
  for (const { items } of follows)
    await eventually(() => expect(items.at(-1)).toMatchObject({ type: 'skipped', count: LOGS - MOST + 1 }));
  expect(listings).toBeLessThanOrEqual(CLIENTS + 8);
  await Promise.all([...follows, named].map((follow) => follow.stop()));
  await eventually(() => expect(hub.usage).toMatchObject({ readers: 0, openFiles: 0 }));
});

test('the limit is the setting, or what the limit on open files leaves room for', () => {
  expect(followLimit({ maxLogs: 100, reservedFiles: 400 }, 1024)).toEqual({
    most: 100,
    reason: 'follow.max-logs = 100 is reached; raise it or follow them by name',
  });
  const { most, reason } = followLimit({ maxLogs: 1000, reservedFiles: 400 }, 1024);
  expect(most).toBe(312);
  expect(reason).toContain('may open 1024 files, enough for 312 logs; raise "ulimit -n"');
  expect(followLimit({ maxLogs: 1000 }, 50).most).toBe(1);
  expect(followLimit({}, Number.POSITIVE_INFINITY).most).toBe(2000);
});

/** Opens nothing until it is let. */
class GatedHandles extends HandleCache {
  open: () => void = () => {};
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  override async acquire(name: string): Promise<LogHandle> {
    await this.#opened;
    return super.acquire(name);
  }
}

/** A directory whose logs take long to be opened. */
function openGatedHub() {
  const dir = tempDir();
  const handles = new GatedHandles(dir);
  onTestFinished(() => {
    handles.open();
    handles.close();
  });
  const write = (name: string, text: string) => appendFileSync(join(dir, name), line(text));
  return { dir, handles, write, open: () => openHub(dir, { handles }) };
}

test('a follow of all logs is accepted before they are open, and has all that was written since', async () => {
  const { dir, handles, write, open } = openGatedHub();
  for (const name of ['appended.log', 'rotated.log', 'truncated.log', 'late.log']) write(name, 'old');
  writeFileSync(join(dir, 'empty.log'), '');
  const hub = open();
  const follows = [collectFollow(hub, {}), collectFollow(hub, {})];
  await Promise.all(follows.map(({ ready }) => ready));
  expect(hub.usage.openFiles).toBe(0);
  for (const name of ['appended.log', 'rotated.log', 'empty.log', 'new.log']) write(name, `1 ${name}`);
  renameSync(join(dir, 'rotated.log'), join(dir, 'rotated.log.1'));
  write('rotated.log.1', '2 rotated.log');
  write('rotated.log', '3 rotated.log');
  truncateSync(join(dir, 'truncated.log'));
  writeFileSync(join(dir, 'truncated.log'), line('1'));
  // One that begins meanwhile, with one log, and one that is accepted later.
  const one = collectFollow(hub, { src: ['late.log'] });
  write('late.log', '1 late.log');
  handles.open();
  await one.ready;
  follows.push(collectFollow(hub, {}));
  await follows.at(-1)?.ready;
  write('late.log', '2 late.log');
  const written = ['1 appended.log', '1 empty.log', '1 late.log', '1 new.log', '1 rotated.log', '2 late.log'];
  const texts = (all: readonly string[]) => all.map((text) => line(text).trimEnd()).sort();
  for (const follow of follows.slice(0, 2))
    await eventually(() =>
      expect(follow.texts.toSorted()).toEqual(texts([...written, '2 rotated.log', '3 rotated.log', '1'])),
    );
  await eventually(() => expect(follows[2]?.texts).toContain(line('2 late.log').trimEnd()));
  expect(one.texts).toContain(line('2 late.log').trimEnd());
});

test('a query that is invalid is refused although the logs take long to be opened', async () => {
  const { write, open } = openGatedHub();
  write('a.log', 'old');
  const hub = open();
  const first = (query: object) => hub.follow({ start: 'end', ...query }).next();
  await expect(first({ start: { cursor: 'nonsense' } })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  await expect(first({ regex: '(' })).rejects.toThrow();
  await expect(first({ src: ['b.log'] })).rejects.toMatchObject({ code: 'LOG_FAMILY_NOT_FOUND' });
});

test('a follow that leaves while its logs are opened leaves nothing behind', async () => {
  const { handles, write, open } = openGatedHub();
  for (let number = 0; number < 100; number++) write(logName(number), 'old');
  const hub = open();
  const follow = collectFollow(hub, {});
  await follow.ready;
  const stopped = follow.stop();
  handles.open();
  await stopped;
  await eventually(() => expect(hub.usage).toEqual({ readers: 0, watchers: 0, openFiles: 0 }));
});
