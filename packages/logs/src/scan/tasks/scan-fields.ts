import { recordFields } from '../../query/index.ts';
import type { FieldsJob, FieldsResult } from '../count/count-jobs.ts';
import { FieldTable } from '../count/field-table.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { decodeMatch, scanMatches } from './scan-matches.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** The fields of matching records. */
export function scanFields(job: FieldsJob, matcher: RecordMatcher, tools: ScanTools): FieldsResult {
  const scan = new PartScan(job, tools);
  const table = new FieldTable(job.limits);
  scanMatches(scan, { matcher, tools }, (record) => {
    table.count(recordFields(decodeMatch(scan, record, tools)));
  });
  return { ...scan.report, ...table.pack() };
}
