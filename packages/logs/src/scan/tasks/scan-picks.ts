import type { LineHead } from '../../parse/format.ts';
import { toEpochTimes } from '../../parse/zone.ts';
import { BlockScanner } from '../block/block-scanner.ts';
import { BLOCK_BYTES, blockAt, headScanBytes } from '../block/blocks.ts';
import { createCollector } from '../block/create-collector.ts';
import { type FileText, openFileText } from '../block/file-text.ts';
import type { RecordsJob } from '../block/found-lines.ts';
import { MAX_RESULT_BYTES } from '../block/found-lines.ts';
import type { ScanReport } from '../block/scan-file.ts';
import type { RecordsResult } from '../jobs.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import type { ScanTools } from '../match/scan-part.ts';

const NEWLINE = 10;

/** Scans single records whose offsets are known from earlier scans: a small read for each. */
export function scanPicks(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  const { format } = tools;
  const show = createCollector(job, tools);
  const picker = new RecordPicker(openFileText(job.file, tools), tools, () => show.endBlock());
  const report: ScanReport = { blocks: [], pickedBytes: 0, minMs: Infinity, maxMs: -Infinity, summaries: [] };
  let last: number | undefined;
  /** Up to the last record returned: a scan that continues there reads the rest again, and counts it. */
  let shownBytes = 0;
  for (const offset of job.picks) {
    if (tools.isCancelled()) break;
    if (offset < job.startBytes || offset >= job.endBytes) continue;
    if (last !== undefined && tools.isDue()) {
      report.pausedAt = job.newestFirst ? offset + 1 : offset;
      break;
    }
    const { bytes, start, end, head } = picker.pick(offset);
    // What extends into the next block counts there, if that is scanned.
    const ownBytes = Math.min(end - start, (blockAt(offset) + 1) * BLOCK_BYTES - offset);
    const span = { bytes, start, end, offset };
    if (matcher.matchesHead(head) && matcher.matchesText(bytes, start, end, format)) {
      if (show.count >= job.limit || show.resultBytes >= MAX_RESULT_BYTES)
        return { ...report, pickedBytes: shownBytes, found: show.found(), stopped: true, reached: null };
      show.add(span, { continued: false, headless: false, ...head });
      shownBytes = report.pickedBytes + ownBytes;
    }
    report.pickedBytes += ownBytes;
    last = offset;
    if (head.timeMs < report.minMs) report.minMs = head.timeMs;
    if (head.timeMs > report.maxMs) report.maxMs = head.timeMs;
  }
  return { ...report, found: show.found(), stopped: false, reached: last === undefined ? null : reachedAt(last) };

  function reachedAt(offset: number): RecordsResult['reached'] {
    const { head, ...span } = picker.pick(offset);
    return { cursor: show.cursorFor({ ...span, offset }), offset, timeMs: head.timeMs };
  }
}

interface Picked {
  bytes: Buffer;
  start: number;
  end: number;
  head: LineHead;
}

class RecordPicker {
  readonly #text: FileText;
  readonly #tools: ScanTools;
  readonly #headScanBytes: number;
  /**
   * Text kept because errors come in bursts: those near the last one are already in it. In the memory of the kernel,
   * which renders from there.
   */
  readonly #window: Buffer;
  readonly #beforeRead: () => void;
  #windowAt = 0;
  /** What was read of it. */
  #bytes: Buffer;
  readonly #head: LineHead = { timeMs: Number.NaN, rank: 0 };
  readonly #next: LineHead = { timeMs: Number.NaN, rank: 0 };
  /** How many records of the window are in the tables of the kernel. */
  #tableCount = 0;

  /** `beforeRead` is called before the memory of records returned so far is reused. */
  constructor(text: FileText, tools: ScanTools, beforeRead: () => void) {
    this.#text = text;
    this.#tools = tools;
    this.#beforeRead = beforeRead;
    this.#headScanBytes = headScanBytes(tools.format.name);
    this.#window = tools.kernel.text.subarray(0, 8 * this.#headScanBytes);
    this.#bytes = this.#window.subarray(0, 0);
  }

  pick(offset: number): Picked {
    this.#slideTo(offset);
    const bytes = this.#bytes;
    const start = offset - this.#windowAt;
    const end = this.#tableEnd(start) ?? this.#recordEnd(bytes, start);
    return end === undefined ? this.#pickFromBlock(offset) : { bytes, start, end, head: this.#head };
  }

  /** Reads around the offset, unless the window extends well beyond it. */
  #slideTo(offset: number): void {
    const { sizeBytes } = this.#text;
    const needed = Math.min(offset + 2 * this.#headScanBytes, sizeBytes);
    if (offset >= this.#windowAt && needed <= this.#windowAt + this.#bytes.length) return;
    this.#beforeRead();
    this.#windowAt = Math.max(0, offset - this.#window.length / 2);
    const length = Math.min(this.#window.length, sizeBytes - this.#windowAt);
    this.#clear(); // until it has been read
    const got = this.#text.read(this.#window, 0, this.#windowAt, length);
    this.#bytes = this.#window.subarray(0, got);
    this.#tableCount = this.#fillTable(offset);
  }

  /** Has the kernel find all records in the window whose heads it shows; only in the native format. */
  #fillTable(offset: number): number {
    const { kernel, format, zone } = this.#tools;
    if (format.name !== 'contract') return 0;
    const bytes = this.#bytes;
    // If no line ends before it, with the record itself.
    const first = Math.min(bytes.indexOf(NEWLINE) + 1 || Infinity, offset - this.#windowAt);
    const to = bytes.length - this.#headScanBytes;
    if (first >= to) return 0;
    const count = kernel.heads(first, to, bytes.length);
    toEpochTimes(zone, kernel.times, count);
    return count;
  }

  /** Where the next record starts, if that is in the tables, by bisection; leaves the head of this one. */
  #tableEnd(start: number): number | undefined {
    const { positions, times, ranks } = this.#tools.kernel;
    let [low, high] = [0, this.#tableCount - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[middle] ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    // The end of the last one is not known.
    if (low >= this.#tableCount - 1 || positions[low] !== start) return undefined;
    this.#head.timeMs = times[low] ?? Number.NaN;
    this.#head.rank = ranks[low] ?? 0;
    return positions[low + 1];
  }

  #clear(): void {
    this.#bytes = this.#window.subarray(0, 0);
    this.#tableCount = 0;
  }

  /** Where the next record starts; `undefined` if the window does not show it. */
  #recordEnd(bytes: Buffer, start: number): number | undefined {
    const { format } = this.#tools;
    const reachesEnd = this.#windowAt + bytes.length >= this.#text.sizeBytes;
    let line = start;
    while (line < bytes.length) {
      while (line > start && bytes[line] === NEWLINE) line++;
      const newline = bytes.indexOf(NEWLINE, line);
      // A head may be cut by the end of the window.
      if (newline < 0 && bytes.length - line < this.#headScanBytes && !reachesEnd) return undefined;
      const lineEnd = newline < 0 ? bytes.length : newline + 1;
      const headEnd = Math.min(lineEnd, line + this.#headScanBytes);
      const isHead = format.readHead(bytes, line, headEnd, line === start ? this.#head : this.#next);
      // Beyond the next block's start the record may be split differently: the block decides.
      if (line - start > BLOCK_BYTES) return undefined;
      if (isHead && line > start) return line;
      line = lineEnd;
    }
    return undefined;
  }

  /** Splits records like all other scans: long ones may end where the next block begins. */
  #pickFromBlock(offset: number): Picked {
    const scanner = new BlockScanner(this.#tools.kernel, this.#text, this.#tools);
    this.#beforeRead();
    this.#clear(); // the same memory
    scanner.load(blockAt(offset));
    const start = scanner.toPosition(offset);
    const end = scanner.recordEnd(start, scanner.recordsEnd());
    return { bytes: scanner.bytes, start, end, head: { ...(scanner.headAt(start) ?? this.#head) } };
  }
}
