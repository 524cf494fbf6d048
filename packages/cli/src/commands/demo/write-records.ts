import { setTimeout as delay } from 'node:timers/promises';
import { createZone } from '@porthole/logs';
import { formatTime } from '../../output/format-time.ts';
import { DEMO_LOGS, type DemoLog } from './demo-logs.ts';
import { LiveLog } from './live-log.ts';
import { createRandom, type Mood, type RecordSource, type RecordTime } from './record-source.ts';

/** How far back the logs reach. */
const HISTORY_MS = 6 * 3_600_000;

/** Frequent enough to look live, rare enough to cost nothing. */
const TICK_MS = 100;

/** After a pause (a suspended laptop) at most this much is caught up. */
const MAX_CATCH_UP_MS = 2000;

/** A log of a demo node that is being written. */
export interface WrittenLog {
  share: number;
  file: LiveLog;
  next: RecordSource;
}

/** Writes some hours of logs up to now. Returns them for `writeLive`. */
export function writeHistory(
  dir: string,
  { seed, nowMs, ...mood }: Mood & { seed: number; nowMs: number },
): WrittenLog[] {
  return DEMO_LOGS.map(({ stem, share, history, create }, index) => {
    const next = create(createRandom(seed + index), mood);
    const file = new LiveLog(dir, stem);
    writePast(file, { history, next, nowMs, jitter: createRandom(seed - index - 1).next });
    return { share, file, next };
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
  const owed = logs.map(() => 0);
  let lastMs = Date.now();
  while (!signal.aborted) {
    await delay(TICK_MS, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
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
  return (timeMs) => ({ local: formatTime(timeMs, zone), utc: new Date(timeMs).toISOString() });
}
