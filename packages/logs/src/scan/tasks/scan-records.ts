import { levelRank } from '../../parse/level.ts';
import { RecordFormatter } from '../block/record-formatter.ts';
import type { RecordsJob, RecordsResult } from '../jobs.ts';
import { candidateSpans, createCandidates, levelSpans, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';
import { scanPicks } from './scan-picks.ts';

/** Maximum text of the result of one job: bounds the memory in transit between threads. */
export const MAX_RESULT_BYTES = 256 * 1024;

const WARN_RANK = levelRank('WARN');

/** The matching records of a part, up to a limit, in the requested order. */
export function scanRecords(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  if (job.picks.length > 0) return scanPicks(job, matcher, tools);
  const { newestFirst, limit } = job;
  const { format } = tools;
  const scan = new PartScan(job, tools);
  const { scanner } = scan;
  const show = new RecordFormatter(job, format);
  // Below that level most records match: scanning all of them adds more to the index.
  const byLevel = format.name === 'contract' && matcher.minRank >= WARN_RANK;
  const candidates = createCandidates(matcher, { ...tools, textsOnly: byLevel });
  let last: number | undefined;
  let beforeLast: number | undefined;
  const result = (stopped: boolean, reached: RecordsResult['reached'] = null): RecordsResult => {
    return { ...scan.report, found: show.found(), stopped, reached };
  };

  // Most blocks have no record of such a level: secrets are masked only in the others. The searched text must not
  // decide that: the time it takes would reveal whether it occurs in a secret.
  for (const block of scan.blocks({ newestFirst, unscrubbed: byLevel && !candidates })) {
    const spans = candidates
      ? candidateSpans(scanner, candidates, matcher)
      : byLevel
        ? levelSpans(scan, block, matcher)
        : tableSpans(scan.records(block), matcher);
    for (const index of scan.matching(spans, matcher, { newestFirst })) {
      const [start = 0, end = 0] = [spans.starts[index], spans.ends[index]];
      if (show.count >= limit || show.resultBytes >= MAX_RESULT_BYTES) return result(true);
      const continued = index === 0 && spans.firstContinues;
      const headless = index === 0 && scan.isHeadless(spans);
      const { bytes } = scanner;
      show.add({ bytes, start, end, offset: scanner.toOffset(start) }, { continued, headless });
    }
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

/** The last record that was tested in an unfinished block. */
function testedRecord({ scanner, tested }: PartScan, show: RecordFormatter): RecordsResult['reached'] {
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
  show: RecordFormatter,
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
