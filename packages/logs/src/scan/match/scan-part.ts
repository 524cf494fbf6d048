import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format } from '../../parse/format.ts';
import type { Zone } from '../../parse/zone.ts';
import { BlockScanner } from '../block/block-scanner.ts';
import { BLOCK_BYTES, type BlockSummary, ERROR_RANK, type RecordsSummary, type RecordTable } from '../block/blocks.ts';
import { openFileText, type ScrubberSource } from '../block/file-text.ts';
import type { ScanPart, ScanReport } from '../block/scan-file.ts';
import type { Spans } from './find-matches.ts';
import { createQuickTest } from './quick-test.ts';
import type { RecordMatcher } from './record-matcher.ts';

/** What a scan works with, besides its job. */
export interface ScanTools extends ScrubberSource {
  kernel: ScanKernel;
  format: Format;
  zone: Zone;
  /** Polled before every block, and every record a regex is tested on: a cancelled scan ends within milliseconds. */
  isCancelled(): boolean;
  /** Polled at the same points: whether the scan has used up its time slice and must pause so that others can run. */
  isDue(): boolean;
}

/** Blocks of a part in which errors are looked for before it counts how many have some. */
const MOST_IN_VAIN = 4;

/** Loads the blocks of a part one after the other, in the given order, and counts them. */
export class PartScan {
  readonly scanner: BlockScanner;
  readonly report: ScanReport = { blocks: [], minMs: Infinity, maxMs: -Infinity, summaries: [] };
  /** The last record of the loaded block whose text was tested. */
  tested: { start: number; end: number } | undefined;
  readonly #part: ScanPart;
  #quickTest: ReturnType<typeof createQuickTest> | null = null;
  readonly #tools: ScanTools;
  #blocksWithErrors = 0;

  constructor(part: ScanPart, tools: ScanTools) {
    this.#part = part;
    this.#tools = tools;
    const onHole = (offset: number) => {
      if (offset >= part.file.textStart) this.report.holeAt = Math.min(offset, this.report.holeAt ?? offset);
    };
    this.scanner = new BlockScanner(tools.kernel, openFileText(part.file, { ...tools, onHole }), tools);
  }

  /** `unscrubbed`: see `BlockScanner.load`. */
  *blocks({ newestFirst = false, unscrubbed = false } = {}): Generator<number, void, undefined> {
    const { runs } = this.#part;
    for (let pair = 0; pair + 1 < runs.length; pair += 2) {
      const [first = 0, end = 0] = [runs[pair], runs[pair + 1]];
      for (let step = 0; step < end - first; step++) {
        if (this.#tools.isCancelled()) return;
        const block = newestFirst ? end - 1 - step : first + step;
        if (this.report.blocks.length > 0 && this.#tools.isDue()) {
          this.report.pausedAt = (newestFirst ? block + 1 : block) * BLOCK_BYTES;
          return;
        }
        this.tested = undefined;
        this.scanner.load(block, { unscrubbed });
        this.report.blocks.push(block);
        yield block;
      }
    }
  }

  /**
   * The indices of the spans in the loaded block whose text matches, in scan order. Ends early if the scan was
   * cancelled or must pause: then `report.pausedAt` is where a later one continues, and the block is not counted as
   * scanned.
   */
  *matching(spans: Spans, matcher: RecordMatcher, { newestFirst = false } = {}): Generator<number, void, undefined> {
    const { starts, ends } = spans;
    const { format } = this.#tools;
    if (this.#quickTest === null) this.#quickTest = createQuickTest(matcher, this.#tools);
    const quickTest = this.#quickTest;
    for (let step = 0; step < starts.length; step++) {
      const index = newestFirst ? starts.length - 1 - step : step;
      const [start = 0, end = 0] = [starts[index], ends[index]];
      if (!this.isInside(start)) continue;
      if (matcher.hasRegex && this.#mustPause()) {
        this.report.pausedAt = this.scanner.toOffset(start) + (newestFirst ? 1 : 0);
        this.report.blocks.pop();
        return;
      }
      const isHeadless = index === 0 && this.isHeadless(spans);
      const { bytes } = this.scanner;
      const known = isHeadless ? undefined : quickTest?.(bytes, start, end);
      if (known ?? matcher.matchesText(bytes, start, end, isHeadless ? undefined : format)) yield index;
      this.tested = { start, end };
    }
  }

  /** Whether the first of the spans has no columns: what precedes the first head of a file, whatever it looks like. */
  isHeadless({ starts: [start = 0], firstContinues }: Pick<Spans, 'starts' | 'firstContinues'>): boolean {
    return firstContinues || (this.scanner.isFirst && !this.scanner.headAt(start));
  }

  /** At least one record is tested: a search that is continued again and again must make progress. */
  #mustPause(): boolean {
    const hasProgress = this.tested !== undefined || this.report.blocks.length > 1;
    return hasProgress && (this.#tools.isCancelled() || this.#tools.isDue());
  }

  /** All records of the loaded block, added to the index unless the block can still change. */
  records(block: number): RecordTable {
    const table = this.scanner.records();
    const all = this.#tools.kernel.summarise(table.count);
    this.see(all.minMs, all.maxMs);
    const isNoted = this.#note({ block, all, hasErrors: hasErrors(all) }, table.end);
    if (!isNoted) this.report.tail = { block, all };
    return table;
  }

  /**
   * The same while secrets may not be masked yet: only whether there are errors is added to the index. `counts`: how many
   * records have each rank.
   */
  unscrubbedRecords(block: number): { table: RecordTable; counts: readonly number[] } {
    const table = this.scanner.records();
    const all = this.#tools.kernel.summarise(table.count);
    this.#note({ block, all: null, hasErrors: hasErrors(all) }, table.end);
    return { table, counts: all.counts };
  }

  /** Whether the loaded block surely has no record of level ERROR or above, which is added to the index. */
  hasNoErrors(block: number): boolean {
    // Where most blocks have errors, looking for them is one more pass.
    if (this.#blocksWithErrors > MOST_IN_VAIN + this.report.blocks.length / 2) return false;
    if (this.scanner.mayHaveErrors()) {
      this.#blocksWithErrors++;
      return false;
    }
    this.#note({ block, all: null, hasErrors: false }, this.scanner.recordsEnd());
    return true;
  }

  #note(summary: Omit<BlockSummary, 'check'>, recordsEnd: number): boolean {
    if (!this.scanner.isComplete(recordsEnd)) return false;
    this.report.summaries.push({ ...summary, check: this.scanner.check() });
    return true;
  }

  see(minMs: number, maxMs: number): void {
    if (minMs < this.report.minMs) this.report.minMs = minMs;
    if (maxMs > this.report.maxMs) this.report.maxMs = maxMs;
  }

  /** Records the time of the loaded block's first record if the others are not examined. */
  seeFirst(): void {
    const timeMs = this.scanner.firstTime();
    this.see(timeMs, timeMs);
  }

  /** Whether a record that starts at this position is in the part's range. */
  isInside(position: number): boolean {
    const offset = this.scanner.toOffset(position);
    return offset >= this.#part.startBytes && offset < this.#part.endBytes;
  }
}

function hasErrors({ counts }: RecordsSummary): boolean {
  return counts.slice(ERROR_RANK).some((errors) => errors > 0);
}

/** The earliest and the latest time of the records that start in a part. */
export function scanTimes(job: ScanPart, tools: ScanTools): ScanReport {
  const scan = new PartScan(job, tools);
  let [minMs, maxMs] = [Infinity, -Infinity];
  for (const block of scan.blocks()) {
    const { count, starts, times } = scan.records(block);
    for (let index = 0; index < count; index++) {
      const time = times[index] ?? Number.NaN;
      if (!scan.isInside(starts[index] ?? 0)) continue;
      if (time < minMs) minMs = time;
      if (time > maxMs) maxMs = time;
    }
  }
  return { ...scan.report, minMs, maxMs };
}
