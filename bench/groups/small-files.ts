import { readdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { startPorthole } from '../porthole.ts';
import { cpuSeconds, residentBytes } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';
import { searchNode } from '../send-request.ts';

const FILES = 2000;
const LINES = 1000;
const MB = 1_000_000;

const MOST_SEARCH_SECONDS = 0.5;
const MOST_MB = 150;

/** Processor time, by which a node that is still reading is told from one that has settled. */
const QUIET_SECONDS = 0.03;
const QUIET_MS = 500;
const QUIET_TIMES = 3;
const MOST_WAIT_MS = 60_000;

/** A node that rests collects its garbage within this long. */
const REST_MS = 20_000;

/** A file that was written since counts as being written, and what is known of its text is not relied on. */
const YOUNG_MS = 61_000;

/** What a node costs beside which 2,000 small logs are written. */
export const smallFilesGroup: Group = {
  name: 'small-files',
  needs: [],
  async run(context) {
    const dir = await ensureSmallFiles(context);
    const searches: number[] = [];
    const again: number[] = [];
    const followed: number[] = [];
    for (let round = 0; round < context.effort.rounds; round++) {
      context.log(`  a directory of ${FILES} small logs, round ${round + 1}`);
      const { url, pid, stop } = await startPorthole(context, dir);
      await settled(pid);
      searches.push(await searchSeconds(url, pid, 'a text that no log has'));
      again.push(await searchSeconds(url, pid, 'another text that no log has'));
      const abort = new AbortController();
      const following = get(`${url}/api/v1/log/follow`, { signal: abort.signal }, (response) => response.resume());
      following.on('error', () => {}); // it is aborted below
      await settled(pid);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      followed.push(residentBytes(pid) / MB);
      abort.abort();
      await stop();
    }
    const row = (figure: string, values: readonly number[], most: number): Row => ({
      figure,
      porthole: showNumber(median(values)),
      rounds: values.map(showNumber).join(', '),
      bar: atMost(median(values), most),
    });
    return [
      row(`first search of ${FILES} small logs, s of processor time`, searches, MOST_SEARCH_SECONDS),
      row(`another search of ${FILES} small logs, s of processor time`, again, MOST_SEARCH_SECONDS),
      row(`resident memory while ${FILES} small logs are followed and rest, MB`, followed, MOST_MB),
    ];
  },
};

async function searchSeconds(url: string, pid: number, q: string): Promise<number> {
  const before = cpuSeconds(pid);
  await searchNode(url, { q });
  return cpuSeconds(pid) - before;
}

/** Until the node has read what it reads by itself, or a minute has passed. */
async function settled(pid: number): Promise<void> {
  let before = cpuSeconds(pid);
  const endMs = performance.now() + MOST_WAIT_MS;
  for (let quiet = 0; quiet < QUIET_TIMES && performance.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const now = cpuSeconds(pid);
    quiet = now - before <= QUIET_SECONDS ? quiet + 1 : 0;
    before = now;
  }
}

/** Kept for the next run. */
async function ensureSmallFiles(context: BenchContext): Promise<string> {
  const dir = context.dataDir('small-files');
  if (readdirSync(dir).length === FILES) return dir;
  for (let number = 0; number < FILES; number++) {
    const time = (line: number) => new Date(Date.UTC(2026, 10, 15, 5, number % 60, 0, line)).toISOString();
    const lines = Array.from(
      { length: LINES },
      (_, line) => `${time(line).replace('T', ' ').slice(0, -1)}\tINFO\ta.go:1\tline ${line} of ${number}\n`,
    );
    writeFileSync(join(dir, `service-${number}.log`), lines.join(''));
  }
  await new Promise((resolve) => setTimeout(resolve, YOUNG_MS));
  return dir;
}
