import fs from 'node:fs';
import { runs, tempDir } from '@porthole/records/testing';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { resumeCursor } from '../../cursor/cursor.ts';
import { eventually } from '../../testing/eventually.ts';
import type { FollowItem, FollowQuery } from '../../types.ts';
import { collectFollow, onlyRecords, openHub, recordTexts } from '../testing/open-hub.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { type RotationKind, SteppedLog } from '../testing/stepped-log.ts';

/** `MORE=20 SEED=1000 ROTATIONS=40` searches for new cases. */
const RUNS = runs(4);
const { SEED = '1' } = process.env;
const FIRST_SEED = SEED === 'random' ? Math.floor(Math.random() * 2 ** 30) : Number(SEED);
const ROTATIONS = Number(process.env.ROTATIONS ?? 12);

afterEach(() => {
  vi.restoreAllMocks();
});

type Callback = (error: unknown, result?: unknown) => void;

/** Calls `step` before and after each of these calls takes effect. Calls take effect in the order they are made. */
function stepAtEachCall(makeStep: () => void): void {
  let isStepping = false;
  const step = () => {
    // Deleting a file makes such a call, too.
    if (isStepping) return;
    isStepping = true;
    makeStep();
    isStepping = false;
  };
  const stepped =
    (call: (...args: never[]) => unknown) =>
    (...args: unknown[]): void => {
      const done = args.pop() as Callback;
      step();
      let result: unknown;
      let failure: unknown = null;
      try {
        result = call(...(args as never[]));
      } catch (error) {
        failure = error;
      }
      step();
      setImmediate(() => done(failure, result));
    };
  const replace = (name: 'lstat' | 'fstat' | 'read', call: (...args: never[]) => unknown) =>
    vi.spyOn(fs, name).mockImplementation(stepped(call) as never);
  const { lstatSync } = fs;
  vi.spyOn(fs, 'lstatSync').mockImplementation(((...args: Parameters<typeof lstatSync>) => {
    step();
    try {
      return lstatSync(...args);
    } finally {
      step();
    }
  }) as never);
  replace('lstat', lstatSync);
  replace('fstat', fs.fstatSync);
  replace('read', fs.readSync);
}

/** What is wrong with the items: each line comes once, in order, and a missing one was reported. */
function findFaults(items: readonly FollowItem[], { last, ends }: SteppedLog, after: number): string[] {
  const faults: string[] = [];
  const whole = new Set(ends);
  let before = after;
  let isExcused = false;
  for (const item of items) {
    if (item.type === 'gap') isExcused = true;
    if (item.type !== 'record') continue;
    for (const [, digits] of (item.raw ?? '').matchAll(/#(\d+)#/g)) {
      const number = Number(digits);
      const isDeleted = whole.has(before) && whole.has(number - 1);
      if (number <= before) faults.push(`${number} after ${before} from ${item.file}`);
      else if (number > before + 1 && !isExcused && !isDeleted) faults.push(`${before + 1} to ${number - 1} missing`);
      before = Math.max(before, number);
      isExcused = false;
    }
  }
  if (before !== last) faults.push(`${before + 1} to ${last} missing at the end`);
  return faults;
}

async function follow(kind: RotationKind, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const dir = tempDir();
  const log = new SteppedLog(dir, { kind, random, rotations: ROTATIONS });
  onTestFinished(() => log.close());
  const [density, burst] = [random(), 10 ** (random() * 3)];
  let isStepped = false;
  stepAtEachCall(() => {
    if (!isStepped) return;
    // Now and then much happens at once, as on a busy machine.
    const steps = random() < 0.03 ? random() * burst : random() < density ? 1 + random() * 3 : 0;
    for (let step = 1; step <= steps; step++) log.step();
  });
  // On a busy machine, too, the rotations end before the tail gives up.
  const hub = openHub(dir, { events: seed % 2 === 0, pollMs: 1, times: { listMs: 60_000 } });
  const followed = collectFollow(hub, { src: ['app.log'] });
  await followed.ready;
  isStepped = true;
  await eventually(() => expect(log.isDone).toBe(true));
  isStepped = false;
  await eventually(() => expect(followed.texts.at(-1)).toContain(`#${log.last}#`));
  await followed.stop();
  await hub.close();
  vi.restoreAllMocks();
  expect(findFaults(followed.items, log, 20), `${kind} with seed ${seed}`).toEqual([]);
  // Every file still exists, so none can be missing.
  const isKept = kind === 'rename' || kind === 'gzip';
  const gaps = followed.items.filter(({ type }) => isKept && type === 'gap');
  expect(gaps, `${kind} with seed ${seed}`).toEqual([]);
}

/** Leaves again and again, and resumes after the last record. Another follow has the reader of the log at work. */
async function resumeOften(kind: RotationKind, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const dir = tempDir();
  const log = new SteppedLog(dir, { kind, random, rotations: ROTATIONS });
  onTestFinished(() => log.close());
  // Polls alone notice changes late: what is searched is often ahead of the reader.
  const bufferBytes = random() < 0.5 ? 2000 : 200_000;
  const hub = openHub(dir, { events: false, pollMs: 1 + random() * 20, bufferBytes, times: { listMs: 60_000 } });
  const other = collectFollow(hub, { src: ['app.log'] });
  await other.ready;
  const writing = setInterval(() => {
    for (let steps = random() ** 2 * 60; steps > 0; steps--) log.step();
  }, 1);
  onTestFinished(() => clearInterval(writing));
  const items: FollowItem[] = [];
  const isComplete = () => log.isDone && recordTexts(items).at(-1)?.includes(`#${log.last}#`);
  for (let start: FollowQuery['start'] = { timeMs: 0 }; !isComplete(); ) {
    const abort = new AbortController();
    let left = 1 + random() * 6;
    for await (const batch of hub.follow({ src: ['app.log'], raw: true, start }, { signal: abort.signal })) {
      items.push(...batch);
      const last = onlyRecords(batch).at(-1);
      if (last) start = { cursor: resumeCursor(last) };
      if (--left <= 0 || isComplete()) abort.abort();
    }
  }
  await other.stop();
  await hub.close();
  expect(findFaults(items, log, 0), `${kind} with seed ${seed}`).toEqual([]);
}

const KINDS = ['rename', 'gzip', 'copy', 'delete'] as const;

test.each(KINDS)('%s: a follow that resumes gets every line once', async (kind) => {
  for (let run = 0; run < RUNS / 2; run++) await resumeOften(kind, FIRST_SEED + run);
});

test.each(KINDS)('%s: no line is lost, none comes twice, whatever happens between two calls', async (kind) => {
  for (let run = 0; run < RUNS; run++) await follow(kind, FIRST_SEED + run);
});
