import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { runs, tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { bundleProgram } from '../testing/bundle-program.ts';
import { eventually } from '../testing/eventually.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FollowQuery } from '../types.ts';
import { readItemText } from './followed-text.ts';

const KINDS = ['rename', 'gzip', 'copy', 'delete'] as const;
const EVERY_MS = 60;

/** Lines that take more than `followBytes`, with what is kept of each. */
const OUTRUN_LINES = 4000;
const POLL_MS = 20;

/** Rotations of each log. MORE runs it longer. */
const ROTATIONS = runs(100);

/** Checks the numbers as they arrive: they increase, and missing ones were reported. */
class Ledger {
  last = 0;
  emitted = 0;
  gaps = 0;
  slowGaps = 0;
  /** Missing ranges that were reported. */
  readonly lost: [from: number, to: number][] = [];
  /** Missing ranges that were not reported. */
  readonly missing: [from: number, to: number][] = [];
  readonly disorder: string[] = [];
  rotations = 0;
  cursor: string | undefined;
  #excused = false;

  excuse(): void {
    this.#excused = true;
    this.gaps++;
  }

  take(items: readonly FollowItem[]): void {
    for (const item of items) {
      if (item.type === 'gap') {
        this.excuse();
        if (item.reason === 'slow') this.slowGaps++;
      }
      if (item.type === 'rotated' || item.type === 'truncated') this.rotations++;
      if (item.type !== 'record' && item.type !== 'text') continue;
      this.cursor = item.cursor;
      const read = item.type === 'text' || item.raw !== undefined ? readItemText(item)?.text.toString() : item.message;
      for (const [, digits] of read?.matchAll(/#(\d+)#/g) ?? []) this.#number(Number(digits), item.file);
    }
  }

  #number(number: number, file: string): void {
    this.emitted++;
    if (number <= this.last) {
      this.disorder.push(`${number} after ${this.last} from ${file}`);
      return;
    }
    if (number > this.last + 1) (this.#excused ? this.lost : this.missing).push([this.last + 1, number - 1]);
    this.#excused = false;
    this.last = number;
  }
}

interface Run {
  logs: LogDir;
  query: FollowQuery;
  ledger: Ledger;
  signal: AbortSignal;
  /** The follower that a slow one is compared with. */
  pacer: Ledger;
}

async function followFast({ logs, query, ledger, signal }: Run): Promise<void> {
  for await (const items of logs.follow(query, { signal })) ledger.take(items);
}

async function followTexts({ logs, query, ledger, signal }: Run): Promise<void> {
  for await (const items of logs.follow({ ...query, raw: true }, { signal, texts: true })) ledger.take(items);
}

/** Takes a batch, then nothing until a fast follower has read more than is buffered. */
async function followSlowly({ logs, query, ledger, signal, pacer }: Run): Promise<void> {
  for await (const items of logs.follow(query, { signal })) {
    ledger.take(items);
    const upTo = ledger.last === 0 ? 0 : pacer.last + OUTRUN_LINES;
    // pause: between two looks
    while (!signal.aborted && pacer.last < upTo) await delay(POLL_MS);
  }
}

/** Leaves after some batches and resumes from the last cursor. */
async function followAgainAndAgain({ logs, query, ledger, signal }: Run): Promise<void> {
  let turn = 0;
  while (!signal.aborted) {
    const abort = new AbortController();
    const start = ledger.cursor === undefined ? query.start : { cursor: ledger.cursor };
    const batches = logs.follow({ ...query, start }, { signal: AbortSignal.any([signal, abort.signal]) });
    let left = 5 + (turn++ % 40);
    try {
      for await (const items of batches) {
        ledger.take(items);
        if (--left === 0) break;
      }
    } catch (error) {
      if ((error as { code?: string }).code !== 'CURSOR_GONE') throw error;
      ledger.excuse();
      ledger.cursor = undefined;
    }
  }
}

function run(script: string, args: readonly string[]) {
  const path = bundleProgram(`import './${script}';`, join(import.meta.dirname, 'testing'));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  // It may end while a number is on its way.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => expect(error.code).toBe('EPIPE'));
  return { child, output: text(child.stdout) };
}

test('no line is lost, none comes twice, whatever the rotation', async () => {
  const dir = tempDir();
  for (const kind of KINDS) {
    mkdirSync(join(dir, kind));
    writeFileSync(join(dir, kind, 'app.log'), '');
  }
  const abort = new AbortController();
  const { signal } = abort;
  setMaxListeners(100, signal);
  const runs = KINDS.flatMap((kind) => {
    const logs = openDir(join(dir, kind), { followBytes: 1024 * 1024, workers: 1 });
    const query = { src: ['app.log'], start: 'end' } as const;
    // Nobody else follows: it is read at intervals.
    const alone = openDir(join(dir, kind), { followBytes: 1024 * 1024, workers: 1 });
    const pacer = new Ledger();
    const made = (name: string, more: FollowQuery = query, from = logs) => ({
      kind,
      name,
      run: { logs: from, query: more, ledger: name === 'fast' ? pacer : new Ledger(), signal, pacer },
    });
    return [
      { ...made('fast'), go: followFast },
      { ...made('fast-file', { src: ['=app.log'], start: query.start }), go: followFast },
      { ...made('slow'), go: followSlowly },
      { ...made('again'), go: followAgainAndAgain },
      { ...made('texts', query, alone), go: followTexts },
    ];
  });
  const followed = runs.map(({ go, run: one }) => go(one));
  const isReading = ({ run: { logs } }: (typeof runs)[number]) => logs.usage.readers > 0 && logs.usage.openFiles > 0;
  await eventually(() => expect(runs.every(isReading)).toBe(true));
  const writer = run('torture-writer.ts', [dir, String(ROTATIONS), String(EVERY_MS - 5)]);
  await eventually(() => expect(runs.every(({ run: { ledger } }) => ledger.last > 0)).toBe(true));
  const rotator = run('torture-rotator.ts', [dir, String(ROTATIONS), String(EVERY_MS)]);
  const fast = runs.filter(({ name }) => name !== 'slow');
  // What is lost when a file is deleted would be waited for in vain.
  const kept = fast.filter(({ kind }) => kind !== 'delete');
  const reporting = setInterval(() => {
    const seen = Math.min(...kept.map(({ run: { ledger } }) => ledger.last));
    for (const { stdin } of [writer.child, rotator.child]) stdin.write(`${seen}\n`);
  }, POLL_MS);
  const done = JSON.parse(await rotator.output) as Record<string, number>;
  writer.child.stdin.end();
  clearInterval(reporting);
  const { last, ends } = JSON.parse(await writer.output) as { last: number; ends: number[] };
  await eventually(() => expect(fast.map(({ run: { ledger } }) => ledger.last)).toEqual(fast.map(() => last)));
  abort.abort();
  await Promise.all(followed);

  const report = runs.map(({ kind, name, run: { ledger } }) => {
    const { emitted, rotations, gaps, slowGaps, lost, missing, disorder } = ledger;
    const count = (ranges: [number, number][]) => ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    return {
      kind,
      name,
      last,
      emitted,
      rotations,
      gaps,
      slowGaps,
      lost: count(lost),
      missing: count(missing),
      disorder: disorder.length,
    };
  });
  console.table(report);
  expect(Math.min(ends.length, ...Object.values(done))).toBeGreaterThanOrEqual(ROTATIONS);
  for (const {
    kind,
    name,
    run: { ledger },
  } of runs) {
    expect(ledger.disorder.slice(0, 3), `${kind} ${name}`).toEqual([]);
    // A file that came and went between two polls leaves no trace but file system events, which may be too late to be
    // reported before the next line: it can only be missing as a whole.
    const whole = new Set(ends);
    const missing = ledger.missing.filter(([from, to]) => kind !== 'delete' || !whole.has(from - 1) || !whole.has(to));
    expect(missing.slice(0, 3), `${kind} ${name}`).toEqual([]);
    if (kind === 'delete') continue;
    // The writer waits for all but the slow ones: only those are outrun.
    expect(ledger.slowGaps > 0, `${kind} ${name} is outrun`).toBe(name === 'slow');
    // Nothing is lost where files are kept for a while.
    if (name !== 'slow' && kind !== 'copy') expect(ledger.lost.slice(0, 3), `${kind} ${name}`).toEqual([]);
  }
});
