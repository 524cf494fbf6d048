import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogDir } from '@porthole/logs';
import { eventually, SHARED_THREADS, searchItems } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { EventLog } from './event-log.ts';
import { LogEvents } from './log-events.ts';

const MINUTE_MS = 60_000;

type Written = Record<string, unknown> & { kind: string; message: string; record: Record<string, unknown> };

/** A directory of logs that a node watches; its clock runs ahead by what is added to it. */
class Watched {
  readonly dir = mkdtempSync(join(tmpdir(), 'porthole-log-events-'));
  readonly path = join(this.dir, 'logs');
  readonly events = join(this.dir, 'events');
  readonly warned: unknown[] = [];
  aheadMs = 0;

  constructor() {
    mkdirSync(this.path);
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  get nowMs(): number {
    return Date.now() + this.aheadMs;
  }

  line(level: string, message: string, timeMs = this.nowMs): string {
    return `${new Date(timeMs).toISOString()} ${level} [main] acme.Service - ${message}\n`;
  }

  append(text: string, file = 'app.log'): void {
    appendFileSync(join(this.path, file), text);
  }

  /** An hour with an error every five minutes. */
  writePast(): void {
    let text = '';
    for (let back = 61 * MINUTE_MS; back > 0; back -= 5000) {
      const isError = back % (5 * MINUTE_MS) === 0;
      text += this.line(isError ? 'ERROR' : 'INFO', isError ? 'timeout of shard 7' : 'ok', this.nowMs - back);
    }
    this.append(text);
  }

  async run({ lookbackMs = 60 * MINUTE_MS, onStart = () => {} } = {}) {
    const logs = new LogDir(this.path, { threads: SHARED_THREADS, pollMs: 50 });
    const log = await EventLog.open({ dir: this.events, maxBytes: 1_000_000, now: () => this.nowMs });
    const ownLog = { warn: (...args: unknown[]) => this.warned.push(args) } as never;
    const watch = new LogEvents({ logs, log, lookbackMs, ownLog, now: () => this.nowMs });
    watch.start();
    onStart();
    const close = async () => {
      await watch.close();
      await logs.close();
      await log.close();
    };
    onTestFinished(close);
    // It follows, and has read the past.
    await eventually(() => expect(logs.usage.readers).toBeGreaterThan(0));
    if (lookbackMs > 0)
      await eventually(() => expect(watch.tallies.patterns.knownSinceMs).toBeLessThan(this.nowMs - 50 * MINUTE_MS));
    await eventually(() => expect(watch.isReading).toBe(false));
    return { watch, log, logs, close };
  }

  written(): Written[] {
    const lines = readFileSync(join(this.events, 'events.log'), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Written);
  }

  /** What is written when everything was counted and judged. */
  async judged({ watch, log }: Awaited<ReturnType<Watched['run']>>, records: number): Promise<Written[]> {
    const counted = () =>
      Array.from(watch.tallies.logs()).reduce(
        (sum, { totals }) => sum + Object.values(totals).reduce((all, count) => all + count, 0),
        0,
      );
    await eventually(() => expect(counted()).toBe(records));
    watch.check();
    await log.flush();
    return this.written();
  }
}

it('a burst, an error that was never seen and a rotation are events, once, also after a restart', async () => {
  const watched = new Watched();
  watched.writePast();
  const run = await watched.run();
  const errors = Array.from({ length: 30 }, (_, shard) => watched.line('ERROR', `timeout of shard ${shard}`)).join('');
  watched.append(errors + watched.line('ERROR', 'disk /data is broken') + watched.line('FATAL', 'giving up'));
  const [burst, first, second, ...others] = await watched.judged(run, 32);
  expect(others).toEqual([]);
  expect(burst).toMatchObject({
    ...{ kind: 'log-burst', level: 'ERROR', log: 'app.log', errors: 32, usualPerMinute: 0.2, mostPerMinute: 1 },
    message: '32 errors in app.log within a minute, usually 0.2, at most 1: timeout of shard 0',
    record: { file: 'app.log', message: 'timeout of shard 0', cursor: expect.any(String) },
  });
  expect(first).toMatchObject({
    kind: 'new-pattern',
    message: expect.stringMatching(
      /^a new error in app\.log, not seen since \d{4}-\d\d-\d\d \d\d:\d\d UTC: disk \/data is broken$/,
    ),
    ...{ log: 'app.log', pattern: { level: 'ERROR', shape: 'disk * is broken' }, count: 1 },
  });
  expect(second).toMatchObject({ kind: 'new-pattern', pattern: { level: 'FATAL', shape: 'giving up' } });
  // The record is found by its cursor.
  const query = {
    order: 'oldest',
    limit: 1,
    before: 0,
    after: 0,
    start: { record: String(first?.record.cursor) },
  } as const;
  const found = [];
  for await (const items of searchItems(run.logs, query)) found.push(...items);
  expect(found[0]).toMatchObject({ type: 'record', message: 'disk /data is broken' });
  renameSync(join(watched.path, 'app.log'), join(watched.path, 'app.log.1'));
  watched.append(watched.line('INFO', 'new file'));
  expect((await watched.judged(run, 33)).at(-1)).toMatchObject({
    ...{ kind: 'log-rotated', level: 'INFO', log: 'app.log', rotatedTo: 'app.log.1' },
  });
  await run.close();

  const next = await watched.run();
  watched.append(errors + watched.line('ERROR', 'disk /mnt is broken') + watched.line('FATAL', 'giving up'));
  expect(await watched.judged(next, 32)).toHaveLength(4);
});

it('a log that goes silent is an event with its usual gap', async () => {
  const watched = new Watched();
  watched.writePast();
  const run = await watched.run();
  watched.append(watched.line('INFO', 'the last one'));
  await watched.judged(run, 1);
  // A clock that jumps is no silence.
  watched.aheadMs += 30 * MINUTE_MS;
  run.watch.check();
  expect(watched.written()).toEqual([]);
  for (let second = 0; second < 600; second += 30) {
    watched.aheadMs += 30_000;
    run.watch.check();
  }
  await run.log.flush();
  expect(watched.written()).toMatchObject([
    {
      ...{ kind: 'log-silent', level: 'WARN', log: 'app.log' },
      message: expect.stringMatching(/^app\.log has written nothing for \d+ min; its longest gap was \d+ s$/),
    },
  ]);
});

it('a new error before the node follows its logs is noticed, and a burst in a log that did not exist', async () => {
  const watched = new Watched();
  watched.writePast();
  const run = await watched.run({ onStart: () => watched.append(watched.line('ERROR', 'disk is broken')) });
  run.watch.check();
  const errors = Array.from({ length: 25 }, (_, shard) => watched.line('ERROR', `timeout of shard ${shard}`)).join('');
  watched.append(errors, 'other.log');
  await eventually(() => expect(run.watch.tallies.log('other.log').totals.ERROR).toBe(25));
  run.watch.check();
  await run.log.flush();
  expect(watched.written()).toMatchObject([
    { kind: 'new-pattern', log: 'app.log', pattern: { shape: 'disk is broken' } },
    { kind: 'log-burst', log: 'other.log', errors: 25, usualPerMinute: 0 },
  ]);
});

it('without a past that is known, no error is new', async () => {
  const watched = new Watched();
  watched.append(watched.line('INFO', 'begun'));
  const run = await watched.run({ lookbackMs: 0 });
  watched.append(watched.line('ERROR', 'disk is broken'));
  await eventually(() => expect(run.watch.tallies.log('app.log').totals.ERROR).toBe(1));
  expect(await watched.judged(run, 1)).toEqual([]);
  watched.aheadMs += 20 * MINUTE_MS;
  watched.append(watched.line('ERROR', 'network is broken'));
  expect(await watched.judged(run, 2)).toMatchObject([{ kind: 'new-pattern' }]);
});

it('more than 20 new errors are counted, and their number is an event', async () => {
  const watched = new Watched();
  watched.writePast();
  const run = await watched.run();
  const words = Array.from({ length: 50 }, (_, index) => 'x'.repeat(index + 1).replaceAll('xx', 'y'));
  for (const [index, word] of words.entries())
    watched.append(
      watched.line(
        'ERROR',
        Array(index + 2)
          .fill(word)
          .join(' '),
      ),
    );
  const written = await watched.judged(run, 50);
  expect(written.filter(({ kind }) => kind === 'new-pattern')).toHaveLength(20);
  watched.aheadMs += 11 * MINUTE_MS;
  run.watch.check();
  await run.log.flush();
  expect(watched.written().at(-1)).toMatchObject({ kind: 'new-pattern', more: 30 });
});

it('a follow that fails is reported once and tried again', async () => {
  const watched = new Watched();
  writeFileSync(join(watched.path, 'app.log'), watched.line('INFO', 'begun'));
  const logs = new LogDir(watched.path, { threads: SHARED_THREADS, pollMs: 50 });
  onTestFinished(() => logs.close());
  const follow = logs.followCounts.bind(logs);
  let failures = 2;
  logs.followCounts = (query, options) => {
    if (failures-- > 0) throw new Error('no');
    return follow(query, options);
  };
  const log = await EventLog.open({ dir: watched.events, maxBytes: 1_000_000 });
  const ownLog = { warn: (...args: unknown[]) => watched.warned.push(args) } as never;
  const watch = new LogEvents({ logs, log, lookbackMs: 0, ownLog });
  onTestFinished(() => watch.close());
  watch.start();
  await eventually(() => expect(watch.problem).toBe('no'));
  await eventually(() => expect([logs.usage.readers, watch.problem]).toEqual([1, undefined]));
  expect(watched.warned).toHaveLength(1);
});
