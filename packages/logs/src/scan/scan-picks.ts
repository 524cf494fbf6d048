import type { LineHead } from '../parse/format.ts';
import { BlockScanner } from './block-scanner.ts';
import { blockOf, headLookBytes } from './blocks.ts';
import type { RecordsJob, RecordsResult, ScanReport } from './jobs.ts';
import type { RecordMatcher } from './record-matcher.ts';
import type { ScanTools } from './scan-part.ts';
import { RecordShow } from './show-record.ts';
import { openTextReader, type TextReader } from './text-reader.ts';

const NEWLINE = 10;

/** Looks at single records, of which earlier scans have told where they start: a small read for each. */
export function scanPicks(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  const { format } = tools;
  const picker = new RecordPicker(openTextReader(job.file), tools);
  const show = new RecordShow(job, format);
  const report: ScanReport = { scannedBytes: 0, minMs: Infinity, maxMs: -Infinity, summaries: [] };
  let reached: RecordsResult['reached'] = null;
  for (const offset of job.picks) {
    if (tools.isCancelled()) break;
    if (offset < job.startBytes || offset >= job.endBytes) continue;
    const { bytes, start, end, head } = picker.pick(offset);
    report.scannedBytes += end - start;
    const span = { bytes, start, end, offset };
    if (matcher.matchesHead(head) && matcher.matchesText(bytes, start, end, format)) {
      if (show.count >= job.limit) return { ...report, found: show.found(), stopped: true, reached: null };
      show.add(span, { continued: false, headless: false });
    }
    reached = { cursor: show.cursorOf(span), timeMs: head.timeMs };
    if (head.timeMs < report.minMs) report.minMs = head.timeMs;
    if (head.timeMs > report.maxMs) report.maxMs = head.timeMs;
  }
  return { ...report, found: show.found(), stopped: false, reached };
}

interface Picked {
  bytes: Buffer;
  start: number;
  end: number;
  head: LineHead;
}

class RecordPicker {
  readonly #text: TextReader;
  readonly #tools: ScanTools;
  readonly #headLook: number;
  /** Read for one record at first: most are shorter by far. */
  readonly #window: Buffer;
  readonly #head: LineHead = { timeMs: Number.NaN, rank: 0 };
  readonly #next: LineHead = { timeMs: Number.NaN, rank: 0 };

  constructor(text: TextReader, tools: ScanTools) {
    this.#text = text;
    this.#tools = tools;
    this.#headLook = headLookBytes(tools.format.name);
    this.#window = Buffer.allocUnsafe(2 * this.#headLook);
  }

  pick(offset: number): Picked {
    const length = Math.min(this.#window.length, this.#text.sizeBytes - offset);
    const bytes = this.#window.subarray(0, this.#text.read(this.#window, 0, offset, length));
    const end = this.#endIn(bytes, offset + length >= this.#text.sizeBytes);
    return end === undefined ? this.#pickFromBlock(offset) : { bytes, start: 0, end, head: this.#head };
  }

  /** Where the next record starts; `undefined` where that cannot be told from the window. */
  #endIn(bytes: Buffer, reachesEnd: boolean): number | undefined {
    const { format } = this.#tools;
    let line = 0;
    while (line < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, line);
      // A head may be cut by the window's end.
      if (newline < 0 && bytes.length - line < this.#headLook && !reachesEnd) return undefined;
      const lineEnd = newline < 0 ? bytes.length : newline + 1;
      const isHead = format.readHead(
        bytes,
        line,
        Math.min(lineEnd, line + this.#headLook),
        line === 0 ? this.#head : this.#next,
      );
      if (isHead && line > 0) return line;
      line = lineEnd;
    }
    return undefined;
  }

  /** The way all records are cut: long ones may end where the next block begins. */
  #pickFromBlock(offset: number): Picked {
    const scanner = new BlockScanner(this.#tools.kernel, this.#text, this.#tools);
    scanner.load(blockOf(offset));
    const start = scanner.positionOf(offset);
    const end = scanner.recordEnd(start, scanner.recordsEnd());
    return { bytes: scanner.bytes, start, end, head: { ...(scanner.headAt(start) ?? this.#head) } };
  }
}
