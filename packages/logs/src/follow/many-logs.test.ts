import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../read/list.ts';
import { eventually } from '../testing/eventually.ts';
import { tempDir } from '../testing/temp-dir.ts';
import { followLimit } from './follow-limit.ts';
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
  expect(hub.usage).toMatchObject({ readers: MOST, openFiles: MOST });
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
  const named = collectFollow(hub, { family: logName(0) });
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
