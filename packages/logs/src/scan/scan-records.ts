import { rankOfLevel } from '../parse/level.ts';
import { candidatesOf, type Matches, matchCandidates, matchLevels, matchTable } from './find-matches.ts';
import type { RecordsJob, RecordsResult } from './jobs.ts';
import type { RecordMatcher } from './record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';
import { scanPicks } from './scan-picks.ts';
import { RecordShow } from './show-record.ts';

/** Text told by one job at most: what is on its way between threads is bounded. */
export const MAX_TOLD_BYTES = 256 * 1024;

const WARN_RANK = rankOfLevel('WARN');

/** The matching records of a part, up to a limit, in the order asked for. */
export function scanRecords(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  if (job.picks.length > 0) return scanPicks(job, matcher, tools);
  const { newestFirst, limit } = job;
  const { format } = tools;
  const scan = new PartScan(job, tools);
  const { scanner } = scan;
  const show = new RecordShow(job, format);
  // Of the levels below, records are the rule: looking at all of them tells the index more.
  const byLevel = format.name === 'contract' && matcher.minRank >= WARN_RANK;
  const candidates = candidatesOf(job.filter, matcher, { ...tools, textsOnly: byLevel });
  let last: number | undefined;
  let beforeLast: number | undefined;
  const result = (stopped: boolean, reached: RecordsResult['reached'] = null): RecordsResult => {
    return { ...scan.report, found: show.found(), stopped, reached };
  };

  // Most blocks hold nothing that is asked for: only in others secrets are masked.
  for (const block of scan.blocks({ newestFirst, unscrubbed: candidates !== undefined || byLevel })) {
    const matches = candidates
      ? matchCandidates(scanner, candidates, matcher, format)
      : byLevel
        ? matchLevels(scan, block, matcher, format)
        : matchTable(scanner, scan.records(block), matcher, format);
    for (const index of inOrder(matches, newestFirst)) {
      const [start = 0, end = 0] = [matches.starts[index], matches.ends[index]];
      if (!scan.isInside(start)) continue;
      if (show.count >= limit || show.toldBytes >= MAX_TOLD_BYTES) return result(true);
      const continued = index === 0 && matches.firstContinues;
      // What stands before the first head of a file has no columns, whatever it looks like.
      const headless = continued || (index === 0 && block === 0 && !scanner.headAt(start));
      const { bytes } = scanner;
      show.add({ bytes, start, end, offset: scanner.offsetOf(start) }, { continued, headless });
    }
    beforeLast = last;
    last = block;
    if (candidates || byLevel) scan.seeFirst();
  }
  return result(false, edgeOf(scan, show, { last, beforeLast, newestFirst }));
}

function* inOrder({ count }: Matches, newestFirst: boolean): Generator<number, void, undefined> {
  for (let step = 0; step < count; step++) yield newestFirst ? count - 1 - step : step;
}

/**
 * The record from which a later scan can go on: the first one of the last block, or oldest first the last one. The last
 * block of a text may have none: then the one before it.
 */
function edgeOf(
  scan: PartScan,
  show: RecordShow,
  { last, beforeLast, newestFirst }: { last: number | undefined; beforeLast: number | undefined; newestFirst: boolean },
): RecordsResult['reached'] {
  const { scanner } = scan;
  for (const block of [last, beforeLast]) {
    if (block === undefined) return null;
    // The last one is still loaded.
    if (block === last) scanner.scrub();
    else scanner.load(block);
    const first = scanner.firstRecord();
    if (!first) continue;
    const end = scanner.recordsEnd();
    const { start } = newestFirst ? first : scanner.recordAround(end - 1, first.start);
    const timeMs = scanner.headAt(start)?.timeMs ?? Number.NaN;
    scan.see(timeMs, timeMs);
    const offset = scanner.offsetOf(start);
    return { cursor: show.cursorOf({ bytes: scanner.bytes, start, end, offset }), offset, timeMs };
  }
  return null;
}
