import { refValues, resolveField } from '../../query/index.ts';
import type { TopJob, TopResult } from '../count/count-jobs.ts';
import { createQuickCount } from '../count/quick-count.ts';
import { TopTable } from '../count/top-table.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { decodeMatch, scanMatches } from './scan-matches.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** Matching records by value of a field. */
export function scanTop(job: TopJob, matcher: RecordMatcher, tools: ScanTools): TopResult {
  const { by, bucketMs } = job;
  const scan = new PartScan(job, tools);
  const field = resolveField(by);
  const table = new TopTable(job);
  const quickCount = createQuickCount(by, { ...tools, table });
  scanMatches(scan, { matcher, tools }, (record) => {
    const bucket = bucketMs === undefined ? Number.NaN : Math.floor(record.timeMs / bucketMs);
    if (quickCount(scan.scanner.bytes, record, bucket)) return;
    table.count(refValues(decodeMatch(scan, record, tools), field), bucket);
  });
  return { ...scan.report, ...table.result() };
}
