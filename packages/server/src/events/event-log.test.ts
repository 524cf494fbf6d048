import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toEvent } from '@porthole/contract';
import { LogDir } from '@porthole/logs';
import { eventually, SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { EventLog } from './event-log.ts';

const NOW_MS = Date.parse('2026-11-17T03:12:00Z');

function eventsDir(): string {
  return join(tempDir(), 'events');
}

async function openLog(dir: string, { maxBytes = 1_000_000 } = {}): Promise<EventLog> {
  const log = await EventLog.open({ dir, maxBytes, now: () => NOW_MS });
  onTestFinished(() => log.close());
  return log;
}

it('an event is a record that the engine reads back with everything it has', async () => {
  const dir = eventsDir();
  const log = await openLog(dir);
  log.write({
    kind: 'killed',
    message: 'it ended',
    timeMs: NOW_MS - 5,
    cause: 'x',
    fields: { pid: 7, deep: { a: [1] } },
  });
  log.write({ kind: 'started', message: 'it "started"\nagain' });
  await log.flush();
  const logs = new LogDir(dir, { threads: SHARED_THREADS });
  onTestFinished(() => logs.close());
  const found = [];
  for await (const items of searchItems(logs, { order: 'oldest', limit: 9, before: 0, after: 0 }))
    for (const item of items) if (item.type === 'record') found.push(toEvent(item));
  expect(found).toMatchObject([
    { kind: 'killed', timeMs: NOW_MS - 5, level: 'ERROR', message: 'it ended', fields: { pid: 7, deep: { a: [1] } } },
    { kind: 'started', timeMs: NOW_MS, level: 'INFO', message: 'it "started"\nagain', fields: {} },
  ]);
});

it('one cause is reported once, also by the next run', async () => {
  const dir = eventsDir();
  const log = await openLog(dir);
  const soon = { kind: 'certificate-expiring', message: 'soon', cause: 'b 5' } as const;
  for (const event of [soon, soon, { ...soon, cause: 'b 6' }]) log.write(event);
  await log.close();
  const next = await openLog(dir);
  next.write(soon);
  await next.close();
  expect(readFileSync(join(dir, 'events.log'), 'utf8').match(/certificate-expiring/g)).toHaveLength(2);
  expect((await openLog(dir)).past.map(({ fields }) => fields.cause)).toEqual(['b 5', 'b 6']);
});

it('a line that a crash has cut, and what others write, is not an event, and the next one is whole', async () => {
  const dir = eventsDir();
  const log = await openLog(dir);
  log.write({ kind: 'started', message: 'a' });
  await log.close();
  const file = join(dir, 'events.log');
  appendFileSync(
    file,
    'null\n7\n{"kind":"started"}\n{"time":"x","kind":"started"}\n{"time":"2026-11-17T03:12:00Z","kind":"odd"}\n',
  );
  appendFileSync(file, '{"time":"2026-11-17T03:12:00.000Z","level":"INFO","message":"b","ki');
  const next = await openLog(dir);
  expect(next.past).toHaveLength(1);
  next.write({ kind: 'stopped', message: 'c' });
  await next.close();
  expect((await openLog(dir)).past.map(({ kind }) => kind)).toEqual(['started', 'stopped']);
});

it('is bounded, and only for its user', async () => {
  const dir = eventsDir();
  const log = await openLog(dir, { maxBytes: 40_000 });
  for (let index = 0; index < 300; index++) {
    log.write({ kind: 'clock-stepped', message: 'x'.repeat(1000) });
    await log.flush();
  }
  await log.close();
  const sizes = readdirSync(dir).map((name) => statSync(join(dir, name)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(45_000);
  expect(sizes.length).toBeGreaterThan(1);
  expect((statSync(dir).mode & 0o777).toString(8)).toBe('700');
});

it('a directory that is a file is a problem of the log, until it can be made', async () => {
  const dir = eventsDir();
  writeFileSync(dir, '');
  const log = await EventLog.open({ dir, maxBytes: 1_000_000 });
  onTestFinished(() => log.close());
  await eventually(async () => {
    log.write({ kind: 'started', message: 'a' });
    expect(log.problem).toMatch(/EEXIST|ENOTDIR/);
  });
  rmSync(dir);
  await eventually(async () => {
    log.write({ kind: 'started', message: 'a' });
    expect(log.problem).toBeUndefined();
  });
});

it('says why events cannot be written, and no more when they can', async () => {
  const dir = eventsDir();
  const log = await EventLog.open({ dir, maxBytes: 1_000_000 });
  onTestFinished(() => log.close());
  expect(log.problem).toBeUndefined();
  rmSync(dir, { recursive: true });
  writeFileSync(dir, '');
  // An open file goes on being written until its name is looked up again.
  await eventually(async () => {
    log.write({ kind: 'started', message: 'a' });
    await log.flush();
    expect(log.problem).toBeDefined();
  });
  rmSync(dir);
  await eventually(async () => {
    await log.flush();
    expect(log.problem).toBeUndefined();
  });
});
