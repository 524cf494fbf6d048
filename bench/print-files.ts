import { join } from 'node:path';
import type { BenchContext } from './context.ts';
import { type Counted, countOutput } from './count-lines.ts';
import { busiestSince, threadSeconds } from './process-usage.ts';
import { ensureBrokerLog, showSize } from './search-files.ts';
import { WARM_UP_FILE } from './warm-node.ts';

/** Of the log that is searched: 128 MiB, about the size that one pipes into another program. */
const SHARE = 8;

export interface PrintedLog {
  dir: string;
  file: string;
  path: string;
  /** The same in another file. */
  otherPath: string;
  records: number;
  /** In every record. */
  text: string;
  /** e.g. `128 MiB` */
  size: string;
}

export async function ensurePrintedLog(context: BenchContext): Promise<PrintedLog> {
  const sizeBytes = context.effort.logBytes / SHARE;
  const size = showSize(sizeBytes);
  const dir = context.dataDir('print');
  const file = `broker-${size.replace(' ', '-').toLowerCase()}.log`;
  const path = join(dir, file);
  const otherPath = join(context.dataDir('print-other'), file);
  await ensureBrokerLog(context, path, sizeBytes);
  await ensureBrokerLog(context, otherPath, sizeBytes);
  await ensureBrokerLog(context, join(dir, WARM_UP_FILE), WARM_UP_BYTES);
  // The last line only fills the file up: it belongs to the record before it.
  const { lines } = await countOutput(context, 'mawk', ['/^20/', path]);
  return { dir, file, path, otherPath, records: lines, text: '2026-', size };
}

/** Enough for the threads to compile what they run. */
const WARM_UP_BYTES = 16 * 1024 ** 2;

/** Rounds are enough once they have taken so long. */
const ENOUGH_MS = 20_000;

export interface RateOptions {
  records: number;
  run(): Promise<Counted>;
}

/** Millions of records per second, round by round: by the clock, and by the processor time of one thread. */
export interface StreamRates {
  all: number[];
  perThread: number[];
}

/** The same, and of the busiest thread of a process. */
export async function streamRates(context: BenchContext, options: RateOptions, pid: number): Promise<StreamRates> {
  const perThread: number[] = [];
  const run = async () => {
    const before = threadSeconds(pid);
    const counted = await options.run();
    perThread.push(options.records / busiestSince(pid, before) / 1e6);
    return counted;
  };
  return { all: await recordRates(context, { ...options, run }), perThread };
}

/** Millions of records per second, round by round. */
export async function recordRates({ effort }: BenchContext, { records, run }: RateOptions): Promise<number[]> {
  const rates: number[] = [];
  let leftMs = ENOUGH_MS;
  while (rates.length < effort.rounds && leftMs > 0) {
    const { tookMs, lines } = await run();
    if (lines < records) throw new Error(`only ${lines} of ${records} records arrived`);
    rates.push(records / tookMs / 1000);
    leftMs -= tookMs;
  }
  return rates;
}
