import { CHECK_BYTES, checkOf } from '../cursor/cursor.ts';
import { rankOfLevel } from '../parse/level.ts';
import { type Matches, matchLevels, matchNeedle, matchTable, needleOf } from './find-matches.ts';
import type { RecordsJob, RecordsResult } from './jobs.ts';
import type { RecordMatcher } from './record-matcher.ts';
import { PartScan, type ScanTools } from './scan-part.ts';
import { scanPicks } from './scan-picks.ts';
import { showRecord } from './show-record.ts';

/** Text told by one job at most: what is on its way between threads is bounded. */
const MAX_TOLD_BYTES = 2 * 1024 * 1024;

const WARN_RANK = rankOfLevel('WARN');

/** The matching records of a part, up to a limit, in the order asked for. */
export function scanRecords(job: RecordsJob, matcher: RecordMatcher, tools: ScanTools): RecordsResult {
  if (job.picks.length > 0) return scanPicks(job, matcher, tools);
  const { newestFirst, limit, raw } = job;
  const { kernel, format } = tools;
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const needle = needleOf(job.filter, format.name);
  if (needle) kernel.lookFor(needle);
  // Of the levels below, records are the rule: looking at all of them tells the index more.
  const byLevel = format.name === 'contract' && matcher.minRank >= WARN_RANK;
  const result: RecordsResult = { ...report, records: [], stopped: false, reached: null };
  let toldBytes = 0;
  let lastBlock: number | undefined;
  const finish = () => Object.assign(result, report);

  for (const block of scan.blocks(newestFirst)) {
    const matches = needle
      ? matchNeedle(scanner, kernel, matcher, format)
      : byLevel
        ? matchLevels(scan, block, matcher, format)
        : matchTable(scanner, scan.records(block), matcher, format);
    for (const index of inOrder(matches, newestFirst)) {
      const [start = 0, end = 0] = [matches.starts[index], matches.ends[index]];
      if (!scan.isInside(start)) continue;
      if (result.records.length >= limit || toldBytes >= MAX_TOLD_BYTES) {
        result.stopped = true;
        return finish();
      }
      const continued = index === 0 && matches.firstContinues;
      // What stands before the first head of a file has no columns, whatever it looks like.
      const headless = continued || (index === 0 && block === 0 && !scanner.headAt(start));
      const record = showRecord(scanner.bytes, format, {
        start,
        end,
        offset: scanner.offsetOf(start),
        raw,
        continued,
        headless,
      });
      result.records.push(record);
      toldBytes += Math.min(record.bytes, MAX_TOLD_BYTES) * (raw ? 2 : 1);
    }
    lastBlock = block;
    if (needle || byLevel) scan.seeFirst();
  }
  // The last block is still loaded.
  if (lastBlock !== undefined) result.reached = edgeOf(scan, newestFirst);
  const edgeMs = result.reached?.timeMs;
  if (edgeMs !== undefined) scan.see(edgeMs, edgeMs);
  return finish();
}

function* inOrder({ count }: Matches, newestFirst: boolean): Generator<number, void, undefined> {
  for (let step = 0; step < count; step++) yield newestFirst ? count - 1 - step : step;
}

/** The record from which a later scan can go on: the first of the block, or the last one. */
function edgeOf({ scanner }: PartScan, newestFirst: boolean): RecordsResult['reached'] {
  const first = scanner.firstRecord();
  const end = scanner.recordsEnd();
  const { start } = newestFirst ? first : scanner.recordAround(end - 1, first.start);
  const timeMs = scanner.headAt(start)?.timeMs ?? Number.NaN;
  const checkBytes = Math.min(CHECK_BYTES, end - start);
  return {
    offset: scanner.offsetOf(start),
    check: checkOf(scanner.bytes, start, start + checkBytes),
    checkBytes,
    ...(!Number.isNaN(timeMs) && { timeMs }),
  };
}
