import { type LineHead, MAX_HEAD_BYTES } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import { BlockScanner } from '../block/block-scanner.ts';
import { BLOCK_BYTES, blockAt, blockCount } from '../block/blocks.ts';
import { type FileText, openFileText } from '../block/file-text.ts';
import type { ScanFile } from '../block/scan-file.ts';
import type { FirstAtResult, SeekResult } from '../jobs.ts';
import type { ScanTools } from '../match/scan-part.ts';

/**
 * How much older a record may be than an earlier one in the file. Threads write milliseconds apart, buffered writers
 * seconds. A file with more disorder is scanned instead of seeking in it.
 */
export const DISORDER_MS = 60_000;

/**
 * A text that is no longer is scanned whole instead of seeking in it: that takes milliseconds and finds every record, in
 * whatever order they are. In real logs 21 of 1,266 time ranges missed records that were more than a minute late.
 */
export const SMALL_BYTES = 4 * BLOCK_BYTES;

/** Where bisection ends: reading on from there is as fast as another probe. */
const NEAR_BYTES = 64 * 1024;

/** Size of a probe. Most records are shorter, so it also contains the first line that starts in it. */
const PROBE_BYTES = 16 * 1024;

const NEWLINE = 10;

/**
 * When the clock is set back, the wall clock repeats an hour: times near that may be out of order by as much. So may
 * times in the hour that is skipped when it is set forward, if written by a host that does not follow the zone.
 */
export function disorderNear(zone: Zone, timeMs: number): number {
  if (!Number.isFinite(timeMs)) return DISORDER_MS;
  const before = zone.offsetMsAt(timeMs - 4 * 3_600_000);
  const after = zone.offsetMsAt(timeMs + 4 * 3_600_000);
  return DISORDER_MS + Math.abs(before - after);
}

/** In addition to those of the bisection: positions probed to see whether the file is in time order at all. */
const ORDER_PROBES = 32;

/** Smaller files are scanned in no time: probing their order is not worth the reads. */
const MIN_PROBED_BYTES = 16 * BLOCK_BYTES;

/**
 * Bisects: a few dozen small reads in a file of any size. In a file whose records are at most `DISORDER_MS` out of
 * order no match is outside the result; if the probed times show more disorder, it is the whole text.
 */
export function seekTime(
  file: ScanFile,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  tools: ScanTools,
): SeekResult {
  const probe = new TimeProbe(openFileText(file, tools), tools);
  const startBytes = lowerBound(probe, tools.zone, fromMs);
  const endBytes = upperBound(probe, tools.zone, toMs);
  probe.spread();
  return probe.isInOrder ? { startBytes, endBytes } : { startBytes: 0, endBytes: probe.sizeBytes };
}

/** Everything before it is older than `fromMs`. */
function lowerBound(probe: TimeProbe, zone: Zone, fromMs: number): number {
  if (fromMs === -Infinity) return 0;
  const edge = fromMs - disorderNear(zone, fromMs);
  let low = 0;
  let high = probe.sizeBytes;
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const seen = probe.firstTimeFrom(middle, high);
    if (seen && seen.timeMs < edge) low = seen.offset;
    else high = middle;
  }
  return low;
}

/** Nothing from it on is older than `toMs`. */
function upperBound(probe: TimeProbe, zone: Zone, toMs: number): number {
  if (toMs === Infinity) return probe.sizeBytes;
  const edge = toMs + disorderNear(zone, toMs);
  let low = 0;
  let high = probe.sizeBytes;
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const seen = probe.firstTimeFrom(middle, high);
    if (seen && seen.timeMs > edge) high = seen.offset;
    else low = middle;
  }
  return high;
}

/** The first record, in file order, that is not older than `timeMs`. */
export function firstAt(
  file: ScanFile,
  { timeMs, scanFrom }: { timeMs: number; scanFrom?: number | undefined },
  tools: ScanTools,
): FirstAtResult {
  const text = openFileText(file, tools);
  const firstBlock = blockAt(scanFrom ?? seekFirst(text, timeMs, tools));
  const scannedFrom = firstBlock * BLOCK_BYTES;
  const scanner = new BlockScanner(tools.kernel, text, tools);
  for (let block = firstBlock; block < blockCount(text.sizeBytes); block++) {
    if (tools.isCancelled()) break;
    scanner.load(block);
    const { count, starts, times } = scanner.records();
    for (let index = 0; index < count; index++) {
      if ((times[index] ?? Number.NaN) >= timeMs) return { offset: scanner.toOffset(starts[index] ?? 0), scannedFrom };
    }
  }
  return { offset: text.sizeBytes, scannedFrom };
}

function seekFirst(text: FileText, timeMs: number, tools: ScanTools): number {
  const probe = new TimeProbe(text, tools);
  const low = lowerBound(probe, tools.zone, timeMs);
  probe.spread();
  return probe.isInOrder ? low : 0;
}

/** The start of the record around the offset; the size of the text if the offset is beyond it. */
export function alignToRecord(file: ScanFile, offset: number, tools: ScanTools): number {
  const text = openFileText(file, tools);
  if (offset >= text.sizeBytes) return text.sizeBytes;
  const scanner = new BlockScanner(tools.kernel, text, tools);
  for (let block = blockAt(offset); block >= 0; block--) {
    scanner.load(block);
    const first = scanner.firstRecord();
    if (first && scanner.toOffset(first.start) <= offset)
      return scanner.toOffset(scanner.recordAround(scanner.toPosition(offset), first.start).start);
  }
  return 0;
}

interface SeenTime {
  offset: number;
  timeMs: number;
}

/** Probes times in a text. */
class TimeProbe {
  readonly sizeBytes: number;
  readonly #text: FileText;
  readonly #tools: ScanTools;
  readonly #buffer = Buffer.allocUnsafe(2 * MAX_HEAD_BYTES);
  readonly #head: LineHead = { timeMs: Number.NaN, rank: 0 };
  readonly #seen: SeenTime[] = [];

  constructor(text: FileText, tools: ScanTools) {
    this.#text = text;
    this.#tools = tools;
    this.sizeBytes = text.sizeBytes;
  }

  /** Probes times all over the text: a record that is late need not be the first of a probe. */
  spread(): void {
    if (this.sizeBytes < MIN_PROBED_BYTES) return;
    for (let probe = 0; probe < ORDER_PROBES; probe++) {
      this.#probe(Math.floor((this.sizeBytes * probe) / ORDER_PROBES), this.sizeBytes, (seen) => this.#note(seen));
    }
  }

  /** Whether all probed times are in order, within the usual disorder. */
  get isInOrder(): boolean {
    let latestMs = -Infinity;
    return this.#seen
      .sort((a, b) => a.offset - b.offset)
      .every(({ timeMs }) => {
        latestMs = Math.max(latestMs, timeMs);
        return latestMs - timeMs <= DISORDER_MS || latestMs - timeMs <= disorderNear(this.#tools.zone, timeMs);
      });
  }

  /**
   * The first time on a line that starts at or after `offset`, before `end`, if a few probes find one: through garbage
   * the steps double, so the result need not be the very first one.
   */
  firstTimeFrom(offset: number, end: number): SeenTime | undefined {
    let step = 0;
    for (let at = offset; at < end; at += step) {
      const seen = this.#probe(at, end);
      if (seen) {
        this.#note(seen);
        return seen;
      }
      step = step === 0 ? PROBE_BYTES : Math.min(step * 2, MAX_STEP_BYTES);
    }
    return undefined;
  }

  #note(seen: SeenTime): void {
    this.#seen.push(seen);
  }

  /** The first time found, unless `each` takes all of them. */
  #probe(offset: number, end: number, each?: (seen: SeenTime) => void, mostBytes = PROBE_BYTES): SeenTime | undefined {
    // Few lines are long: more is only read for one that is.
    const retry = (at: number) =>
      mostBytes < this.#buffer.length ? this.#probe(at, end, each, this.#buffer.length) : undefined;
    const from = Math.max(0, offset - 1);
    const length = Math.min(mostBytes, this.#text.sizeBytes - from);
    const bytes = this.#buffer.subarray(0, this.#text.read(this.#buffer, 0, from, length));
    let line = offset === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
    const reachesEnd = from + length >= this.#text.sizeBytes;
    if (line === 0 && offset > 0) return reachesEnd ? undefined : retry(offset);
    const stopAt = each ? Math.min(bytes.length, PROBE_BYTES) : bytes.length;
    while (line < stopAt && from + line < end) {
      const newline = bytes.indexOf(NEWLINE, line);
      const lineEnd = newline < 0 ? bytes.length : newline + 1;
      // An incomplete head might be parsed as another time.
      if (newline < 0 && !reachesEnd && lineEnd - line < MAX_HEAD_BYTES) return retry(from + line);
      const stop = Math.min(lineEnd, line + MAX_HEAD_BYTES);
      if (this.#tools.format.readHead(bytes, line, stop, this.#head) && !Number.isNaN(this.#head.timeMs)) {
        const seen = { offset: from + line, timeMs: this.#head.timeMs };
        if (!each) return seen;
        each(seen);
      }
      line = lineEnd;
    }
    return undefined;
  }
}

/** Limits the steps, so that a whole day between two holes is not skipped. */
const MAX_STEP_BYTES = 64 * BLOCK_BYTES;
