import { findColumns } from '../../parse/decode-record.ts';
import { levelRank } from '../../parse/level.ts';
import { messageShape } from '../../query/message-shape.ts';
import type { BlockSummary, RecordTable } from '../block/blocks.ts';
import { SHOWN_BYTES } from '../block/record-formatter.ts';
import { type JsonColumnReader, jsonSources } from '../count/json-columns.ts';
import { type DigestJob, type DigestResult, type GroupKind, ScannedGroups } from '../digest/scanned-groups.ts';
import { candidateSpans, createCandidates, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from '../match/scan-part.ts';

/** Matching records by level and origin. */
export function scanDigest(job: DigestJob, matcher: RecordMatcher, tools: ScanTools): DigestResult {
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const groups = new ScannedGroups();
  const candidates = createCandidates(matcher, tools);
  const table = new TableDigest({ job, scan, matcher, tools, groups });

  for (const block of scan.blocks()) {
    if (!candidates && matcher.headOnly) {
      table.count(block, scan.records(block));
      continue;
    }
    const spans = candidates ? candidateSpans(scanner, candidates, matcher) : tableSpans(scan.records(block), matcher);
    for (const index of scan.matching(spans, matcher)) {
      const start = spans.starts[index] ?? 0;
      countRecord(groups, scan, tools, start, spans.ends[index] ?? start);
    }
    groups.endBlock();
    if (report.pausedAt !== undefined) break;
  }
  return { ...report, ...groups.result() };
}

interface TableDigestDeps {
  job: DigestJob;
  scan: PartScan;
  matcher: RecordMatcher;
  tools: ScanTools;
  groups: ScannedGroups;
}

/** Groups the records of whole blocks, if their heads alone decide. */
class TableDigest {
  readonly #deps: TableDigestDeps;
  /** Whether no record of a level is left out while one of a lower level is not. */
  readonly #isFromLevelOn: boolean;
  readonly #rankBits: number;
  readonly #jsonSources: JsonColumnReader | undefined;

  constructor(deps: TableDigestDeps) {
    this.#deps = deps;
    const { format, kernel } = deps.tools;
    this.#jsonSources = format.name === 'json' ? jsonSources(kernel) : undefined;
    const { ranks, minRank } = deps.matcher;
    this.#isFromLevelOn = ranks.every((matches, rank) => (matches === 1) === rank >= minRank);
    this.#rankBits = ranks.reduce((bits, matches, rank) => bits | (matches << rank), 0);
  }

  count(block: number, table: RecordTable): void {
    const { scan, groups, tools } = this.#deps;
    const isNative = tools.format.name === 'contract';
    const hasOddRanks = isNative ? this.#countSources(table) : this.#countAll(table);
    const { count, starts } = table;
    const isWhole =
      this.#isFromLevelOn && (count === 0 || (scan.isInside(starts[0] ?? 0) && scan.isInside(starts[count - 1] ?? 0)));
    // Only of blocks that will not change.
    const summary = scan.report.summaries.at(-1);
    const isNoted = summary?.block === block && this.#isInTime(summary);
    groups.endBlock(isWhole && isNoted && !hasOddRanks ? block : undefined);
  }

  /** Whether no record of the block is left out because of its time. */
  #isInTime({ all }: BlockSummary): boolean {
    const { hasTimes, fromMs, toMs } = this.#deps.matcher;
    return !hasTimes || (all !== null && all.untimed === 0 && all.minMs >= fromMs && all.maxMs < toMs);
  }

  /** The kernel groups by level and source; the other records are few. */
  #countSources(table: RecordTable): boolean {
    const { scan, matcher, tools, groups, job } = this.#deps;
    const { scanner } = scan;
    const { sourceGroups: found } = tools.kernel;
    const { hasTimes, fromMs, toMs } = matcher;
    const { count, end } = table;
    const from = Math.max(0, scanner.toPosition(job.startBytes));
    const to = Math.max(0, Math.min(scanner.bytes.length, scanner.toPosition(job.endBytes)));
    const size = found.group({ count, end, rankBits: this.#rankBits, hasTimes, fromMs, toMs, from, to });
    for (let group = 0; group < size; group++) {
      const start = found.starts[group] ?? 0;
      const source = groups.sourceText(scanner.bytes, start, start + (found.lengths[group] ?? 0));
      groups.count(
        { source, shape: null, rank: found.ranks[group] ?? 0 },
        {
          count: found.counts[group] ?? 0,
          firstMs: found.firstMs[group] ?? Number.NaN,
          lastMs: found.lastMs[group] ?? Number.NaN,
          offset: scanner.toOffset(found.newest[group] ?? 0),
        },
      );
    }
    let hasOddRanks = false;
    for (const index of found.others) if (!this.#countAt(table, index)) hasOddRanks = true;
    return hasOddRanks;
  }

  #countAll(table: RecordTable): boolean {
    const { scan, matcher } = this.#deps;
    const { ranks: matching, hasTimes, fromMs, toMs } = matcher;
    const { count, starts, times, ranks } = table;
    let hasOddRanks = false;
    for (let index = 0; index < count; index++) {
      const time = times[index] ?? Number.NaN;
      if (matching[ranks[index] ?? 0] === 0 || (hasTimes && !(time >= fromMs && time < toMs))) continue;
      if (!scan.isInside(starts[index] ?? 0) || this.#countJsonSource(table, index)) continue;
      if (!this.#countAt(table, index)) hasOddRanks = true;
    }
    return hasOddRanks;
  }

  /** Whether it was counted: a record in JSON that has a source is not decoded. */
  #countJsonSource({ count, starts, times, ranks, end }: RecordTable, index: number): boolean {
    const sources = this.#jsonSources;
    const { groups, scan } = this.#deps;
    const { scanner } = scan;
    const start = starts[index] ?? 0;
    const recordEnd = index + 1 < count ? (starts[index + 1] ?? end) : end;
    // Only the first record of a block may have no head.
    if (!sources || recordEnd - start > SHOWN_BYTES || (index === 0 && !scanner.headAt(start))) return false;
    if (!sources.find(scanner.bytes, start, recordEnd)) return false;
    const timeMs = times[index] ?? Number.NaN;
    groups.count(
      { source: groups.sourceText(scanner.bytes, sources.start, sources.end), shape: null, rank: ranks[index] ?? 0 },
      { count: 1, firstMs: timeMs, lastMs: timeMs, offset: scanner.toOffset(start) },
    );
    return true;
  }

  /** Whether its group has the level that the table has: what precedes the first head of a file may have another. */
  #countAt({ count, starts, ranks, end }: RecordTable, index: number): boolean {
    const { scan, tools, groups } = this.#deps;
    const rank = countRecord(
      groups,
      scan,
      tools,
      starts[index] ?? 0,
      index + 1 < count ? (starts[index + 1] ?? end) : end,
    );
    return rank === ranks[index];
  }
}

/** Returns the rank of its group. */
function countRecord(groups: ScannedGroups, scan: PartScan, tools: ScanTools, start: number, spanEnd: number): number {
  const { bytes } = scan.scanner;
  const end = Math.min(spanEnd, start + SHOWN_BYTES);
  const kind = readKind(tools, bytes, start, end);
  const { timeMs } = kind;
  groups.count(kind, { count: 1, firstMs: timeMs, lastMs: timeMs, offset: scan.scanner.toOffset(start) });
  return kind.rank;
}

function readKind(
  { format, zone }: ScanTools,
  bytes: Buffer,
  start: number,
  end: number,
): GroupKind & { timeMs: number } {
  if (format.name === 'contract') {
    // The columns alone, without decoding message and context: digests process every record.
    const { source, level, localMs } = findColumns(bytes, start, lineEnd(bytes, start, end));
    if (source.end > source.start && localMs !== undefined) {
      const name = bytes.toString('utf8', source.start, source.end);
      return { source: name, shape: null, rank: levelRank(level), timeMs: zone.toEpochMs(localMs) };
    }
  }
  const { source = null, message, level, timeMs = Number.NaN } = format.decode(bytes, start, end);
  return { source, shape: source === null ? messageShape(message) : null, rank: levelRank(level), timeMs };
}

function lineEnd(bytes: Buffer, start: number, end: number): number {
  const newline = bytes.indexOf(10, start);
  return newline < 0 || newline >= end ? end : newline + 1;
}
