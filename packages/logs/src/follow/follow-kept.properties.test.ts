import { setTimeout as delay } from 'node:timers/promises';
import { runs, tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { resumeCursor } from '../cursor/cursor.ts';
import { listFiles } from '../read/list.ts';
import { eventually } from '../testing/eventually.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { FollowItem, FollowQuery } from '../types.ts';
import type { Search } from './history/search-history.ts';
import { KEPT_KINDS, type KeptKind, KeptLog } from './testing/kept-log.ts';
import { onlyRecords, openHub } from './testing/open-hub.ts';
import { seededRandom } from './testing/seeded-random.ts';

/** `MORE=20 SEED=1000` searches for new cases. */
const RUNS = runs(5);
const FIRST_SEED = Number(process.env.SEED ?? 1);

/** Checks the numbers as they arrive. */
class Ledger {
  last = 0;
  readonly faults: string[] = [];
  readonly missing: number[] = [];
  #isReported = false;

  take(items: readonly FollowItem[]): void {
    for (const item of items) {
      if (item.type === 'gap' || item.type === 'truncated') this.#isReported = true;
      if (item.type !== 'record') continue;
      for (const [, digits] of (item.raw ?? '').matchAll(/#(\d+)#/g)) this.#number(Number(digits));
    }
  }

  #number(number: number): void {
    if (number <= this.last) {
      this.faults.push(`${number} twice, after ${this.last}`);
      return;
    }
    if (number > this.last + 1 && !this.#isReported) this.faults.push(`${this.last + 1}-${number - 1} without a gap`);
    for (let lost = this.last + 1; lost < number; lost++) this.missing.push(lost);
    this.#isReported = false;
    this.last = number;
  }
}

/** Follows, leaves, is away while the log is rotated, and resumes after its last record, perhaps on a restarted node. */
async function resumeAfterRotations(kind: KeptKind, seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const keep = random() < 0.7 ? 1 : 2;
  const dir = tempDir();
  const log = new KeptLog(dir, { kind, keep, random, isUntimed: random() < 0.2 });
  onTestFinished(() => log.close());
  const logs = openDir(dir);
  let mayRotate = 0;
  /** Something happens to the files between two calls of the follow. */
  const happen = () => {
    if (mayRotate <= 0 || random() < 0.5) return;
    mayRotate--;
    if (random() < 0.3) log.write(Math.ceil(random() * 5));
    else log.step();
  };
  const search: Search = async function* (query, options) {
    happen();
    for await (const items of searchItems(logs, query, options)) {
      happen();
      yield items;
      happen();
    }
  };
  const list = async () => {
    happen();
    const files = await listFiles(dir);
    happen();
    return files;
  };
  const open = () =>
    openHub(dir, { search, list, events: random() < 0.5, pollMs: 5, bufferBytes: 20_000, times: { holdMs: 1 } });
  const ledger = new Ledger();
  let start: FollowQuery['start'] = { back: 1000 };
  let hub = open();
  /** Follows until the last line written has come. */
  const follow = async () => {
    const abort = new AbortController();
    const run = async () => {
      for await (const batch of hub.follow({ src: ['app.log'], raw: true, start }, { signal: abort.signal })) {
        ledger.take(batch);
        const last = onlyRecords(batch).at(-1);
        if (last) start = { cursor: resumeCursor(last) };
        happen();
      }
    };
    const running = run();
    // A follow that fails is not waited for.
    const reachLast = () => Promise.race([running, eventually(() => expect(ledger.last).toBe(log.last))]);
    if (mayRotate > 0) await delay(random() * 30); // pause: at any moment of its work
    mayRotate = 0;
    log.settle();
    log.write(1);
    await reachLast();
    // Some records come in two pieces.
    while (random() < 0.5) {
      log.write(1);
      await reachLast();
    }
    abort.abort();
    await running;
  };
  log.write(Math.ceil(random() * 20));
  for (let turn = 0; turn < 3; turn++) {
    await follow();
    if (random() < 0.7) {
      await hub.close();
      hub = open();
    }
    for (let rotations = Math.floor(random() * 4); rotations > 0; rotations--) {
      await log.rotate();
      if (random() < 0.9) log.write(Math.ceil(random() ** 2 * 30));
    }
    mayRotate = random() < 0.7 ? Math.floor(random() * 25) : 0;
  }
  await follow();
  await hub.close();
  const onDisk = log.onDisk();
  const kept = ledger.missing.filter((number) => onDisk.has(number));
  return [...ledger.faults, ...(kept.length > 0 ? [`not emitted although on disk: ${kept.join()}`] : [])];
}

test.each(KEPT_KINDS)(
  '%s: whoever was away gets all that is left on disk once, and a gap for the rest',
  async (kind) => {
    const faults: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      for (const fault of await resumeAfterRotations(kind, seed)) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  },
);
