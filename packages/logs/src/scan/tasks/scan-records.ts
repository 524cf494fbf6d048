import { levelRank } from '../../parse/level.ts';
import type { RecordTable } from '../block/blocks.ts';
import { type FoundCollector, MAX_RESULT_BYTES, type RecordsJob } from '../block/found-lines.ts';
import { RecordLines } from '../block/record-lines.ts';
import { RecordTexts } from '../block/record-texts.ts';
import type { RecordsResult } from '../jobs.ts';
import { candidateSpans, createCandidates, levelSpans, type Spans, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from '../match/scan-part.ts';

const WARN_RANK = levelRank('WARN');

/** The matching records of a part, up to a limit, in the requested order. */
export function scanRecords(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  const { newestFirst } = job;
  const { format } = tools;
  const scan = new PartScan(job, tools);
  const { scanner } = scan;
  const show: FoundCollector = job.asText ? new RecordTexts(job) : new RecordLines(job, tools);
  // Below that level most records match: scanning all of them adds more to the index.
  const byLevel = format.program !== undefined && matcher.minRank >= WARN_RANK;
  const candidates = createCandidates(matcher, { ...tools, textsOnly: byLevel });
  let last: number | undefined;
  let beforeLast: number | undefined;
  const result = (stopped: boolean, reached: RecordsResult['reached'] = null): RecordsResult => {
    return { ...scan.report, found: show.found(), stopped, reached };
  };

  // Most blocks have no record of such a level: secrets are masked only in the others. The searched text must not
  // decide that: the time it takes would reveal whether it occurs in a secret.
  for (const block of scan.blocks({ newestFirst, unscrubbed: byLevel && !candidates })) {
    const isComplete =
      candidates || byLevel || !matcher.headOnly
        ? addSpans(show, scan, {
            spans: candidates
              ? candidateSpans(scanner, candidates, matcher)
              : byLevel
                ? levelSpans(scan, block, matcher)
                : tableSpans(scan.records(block), matcher),
            matcher,
            job,
          })
        : addTable(show, scan, { table: scan.records(block), matcher, job });
    if (!isComplete) return result(true);
    show.endBlock();
    if (scan.report.blocks.at(-1) !== block)
      return result(
        false,
        testedRecord(scan, show) ?? reachedRecord(scan, show, { last, beforeLast, newestFirst, loaded: block }),
      );
    beforeLast = last;
    last = block;
    if (candidates || byLevel) scan.seeFirst();
  }
  return result(false, reachedRecord(scan, show, { last, beforeLast, newestFirst, loaded: last }));
}

interface Adding {
  matcher: RecordMatcher;
  job: RecordsJob;
}

/** Adds the records that match; false if the limit was reached before the last one. */
function addSpans(show: FoundCollector, scan: PartScan, { spans, matcher, job }: Adding & { spans: Spans }): boolean {
  const { scanner } = scan;
  for (const index of scan.matching(spans, matcher, { newestFirst: job.newestFirst })) {
    if (isFull(show, job)) return false;
    const [start = 0, end = 0] = [spans.starts[index], spans.ends[index]];
    const continued = index === 0 && spans.firstContinues;
    const headless = index === 0 && scan.isHeadless(spans);
    const head = { continued, headless, timeMs: spans.times[index] ?? Number.NaN, rank: spans.ranks[index] ?? 0 };
    show.add({ bytes: scanner.bytes, start, end, offset: scanner.toOffset(start) }, head);
  }
  return true;
}

/** The same for all records of a block whose heads match, if these decide: without any object for each of them. */
function addTable(
  show: FoundCollector,
  scan: PartScan,
  { table, matcher, job }: Adding & { table: RecordTable },
): boolean {
  const { scanner } = scan;
  const { count, starts, times, ranks, firstContinues } = table;
  const { ranks: matching, fromMs, toMs, hasTimes } = matcher;
  const first = starts[0] ?? 0;
  const isHeadless = count > 0 && scan.isHeadless({ starts: [first], firstContinues });
  const span = { bytes: scanner.bytes, start: 0, end: 0, offset: 0 };
  const head = { continued: false, headless: false, timeMs: Number.NaN, rank: 0 };
  for (let step = 0; step < count; step++) {
    const index = job.newestFirst ? count - 1 - step : step;
    head.rank = ranks[index] ?? 0;
    head.timeMs = times[index] ?? Number.NaN;
    if (matching[head.rank] === 0 || (hasTimes && !(head.timeMs >= fromMs && head.timeMs < toMs))) continue;
    span.start = starts[index] ?? 0;
    if (!scan.isInside(span.start)) continue;
    if (isFull(show, job)) return false;
    span.end = index + 1 < count ? (starts[index + 1] ?? table.end) : table.end;
    span.offset = scanner.toOffset(span.start);
    head.continued = index === 0 && firstContinues;
    head.headless = index === 0 && isHeadless;
    show.add(span, head);
  }
  return true;
}

function isFull(show: FoundCollector, { limit }: RecordsJob): boolean {
  return show.count >= limit || show.resultBytes >= MAX_RESULT_BYTES;
}

/** The last record that was tested in an unfinished block. */
function testedRecord({ scanner, tested }: PartScan, show: FoundCollector): RecordsResult['reached'] {
  if (!tested) return null;
  const { start, end } = tested;
  const timeMs = scanner.headAt(start)?.timeMs ?? Number.NaN;
  const offset = scanner.toOffset(start);
  return { cursor: show.cursorFor({ bytes: scanner.bytes, start, end, offset }), offset, timeMs };
}

interface Scanned {
  last: number | undefined;
  beforeLast: number | undefined;
  /** The block that is loaded. */
  loaded: number | undefined;
  newestFirst: boolean;
}

/**
 * The record from which a later scan can continue: the first one of the last block, or oldest first the last one. The
 * last block of a text may have none: then that of the block before it.
 */
function reachedRecord(
  scan: PartScan,
  show: FoundCollector,
  { last, beforeLast, loaded, newestFirst }: Scanned,
): RecordsResult['reached'] {
  const { scanner } = scan;
  for (const block of [last, beforeLast]) {
    if (block === undefined) return null;
    if (block === loaded) scanner.scrub();
    else scanner.load(block);
    const first = scanner.firstRecord();
    if (!first) continue;
    const end = scanner.recordsEnd();
    const { start } = newestFirst ? first : scanner.recordAround(end - 1, first.start);
    const timeMs = scanner.headAt(start)?.timeMs ?? Number.NaN;
    scan.see(timeMs, timeMs);
    const offset = scanner.toOffset(start);
    return { cursor: show.cursorFor({ bytes: scanner.bytes, start, end, offset }), offset, timeMs };
  }
  return null;
}
