import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createZone, pause } from '@porthole/logs';
import { formatTime } from '../../output/format-units.ts';
import { createRandom, DEMO_LOGS, type DemoLog, type Mood, type RecordSource, type RecordTime } from './demo-logs.ts';

/** How far back the logs reach. */
const HISTORY_MS = 6 * 3_600_000;

/** Frequent enough to look live, rare enough to cost nothing. */
const TICK_MS = 100;

/** After a pause (a suspended laptop) at most this much is caught up. */
const MAX_CATCH_UP_MS = 2000;

const PAST_RECORDS = DEMO_LOGS.reduce((sum, { history }) => sum + history.records, 0);

/** Records per second of a node in its past. Many more of them now would be more unusual than the incident. */
export const PAST_RATE = PAST_RECORDS / (HISTORY_MS / 1000);

/** A log of a demo node that is being written. */
export interface WrittenLog {
  /** Fraction of all records. */
  share: number;
  file: LiveLog;
  next: RecordSource;
}

/** Writes some hours of logs up to now. Returns them for `writeLive`. */
export function writeHistory(
  dir: string,
  { seed, nowMs, ...mood }: Mood & { seed: number; nowMs: number },
): WrittenLog[] {
  return DEMO_LOGS.map(({ stem, history, create }, index) => {
    const next = create(createRandom(seed + index), mood);
    const file = new LiveLog(dir, stem);
    writePast(file, { history, next, nowMs, jitter: createRandom(seed - index - 1).next });
    return { share: history.records / PAST_RECORDS, file, next };
  });
}

interface Past {
  history: DemoLog['history'];
  next: RecordSource;
  nowMs: number;
  /** Returns 0 to 1: varies the distance between records. */
  jitter(): number;
}

function writePast(file: LiveLog, { history: { records, files }, next, nowMs, jitter }: Past): void {
  const time = createRecordTime();
  const stepMs = HISTORY_MS / records;
  const perFile = Math.ceil(records / files);
  let text = '';
  for (let index = 0; index < records; index++) {
    const timeMs = Math.floor(nowMs - HISTORY_MS + (index + jitter()) * stepMs);
    text += next(time(timeMs));
    const isLast = index === records - 1;
    if (!isLast && (index + 1) % perFile !== 0) continue;
    file.append(text, timeMs);
    text = '';
    // The newest rotated file stays uncompressed, like with loggers that compress with a delay.
    if (!isLast) file.rotate(timeMs, { gzip: index + 1 < perFile * (files - 1) });
  }
}

/** Writes `rate` records per second until the signal aborts. */
export async function writeLive(logs: readonly WrittenLog[], rate: number, signal: AbortSignal): Promise<void> {
  const time = createRecordTime();
  // Nodes that are started together do not write at the same moments.
  const owed = logs.map(() => Math.random());
  let lastMs = Date.now();
  while (!signal.aborted) {
    await pause(TICK_MS, signal);
    const nowMs = Date.now();
    const spanMs = Math.min(MAX_CATCH_UP_MS, Math.max(0, nowMs - lastMs));
    lastMs = nowMs;
    for (const [index, { share, file, next }] of logs.entries()) {
      const due = (owed[index] ?? 0) + (rate * share * spanMs) / 1000;
      const count = Math.floor(due);
      owed[index] = due - count;
      let text = '';
      for (let record = 0; record < count; record++)
        text += next(time(Math.floor(nowMs - spanMs + (spanMs * (record + 1)) / count)));
      file.append(text, nowMs);
    }
  }
}

function createRecordTime(): (timeMs: number) => RecordTime {
  const zone = createZone();
  return (timeMs) => ({ timeMs, local: formatTime(timeMs, zone), utc: new Date(timeMs).toISOString() });
}

/** Small, so that rotation happens after minutes, not days. */
const MAX_BYTES = 512 * 1024;

/** Rotated files to retain. */
const KEEP_FILES = 6;

/** Writes and rotates a log like LinDB does (renamed with a UTC timestamp), but compresses rotated files. */
export class LiveLog {
  readonly #dir: string;
  readonly #stem: string;
  #bytes: number;

  constructor(dir: string, stem: string) {
    this.#dir = dir;
    this.#stem = stem;
    this.#bytes = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get path(): string {
    return join(this.#dir, `${this.#stem}.log`);
  }

  append(text: string, nowMs: number): void {
    if (text === '') return;
    appendFileSync(this.path, text);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes >= MAX_BYTES) this.rotate(nowMs, { gzip: true });
  }

  /** Renames the file and starts a new one. */
  rotate(nowMs: number, { gzip }: { gzip: boolean }): void {
    const stamp = new Date(nowMs).toISOString().slice(0, 23).replaceAll(':', '-');
    const rotated = join(this.#dir, `${this.#stem}-${stamp}.log`);
    renameSync(this.path, rotated);
    this.#bytes = 0;
    if (gzip) compress(rotated);
    setTime(gzip ? `${rotated}.gz` : rotated, nowMs);
    this.#removeOldest();
  }

  #removeOldest(): void {
    const rotated = readdirSync(this.#dir).filter((name) => name.startsWith(`${this.#stem}-`));
    for (const name of rotated.sort().slice(0, -KEEP_FILES)) rmSync(join(this.#dir, name));
  }
}

/** Writes a hidden file first, so that readers never see an incomplete one. */
function compress(path: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  writeFileSync(temporary, gzipSync(readFileSync(path)));
  renameSync(temporary, `${path}.gz`);
  rmSync(path);
}

function setTime(path: string, timeMs: number): void {
  utimesSync(path, timeMs / 1000, timeMs / 1000);
}
