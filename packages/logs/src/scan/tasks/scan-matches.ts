import type { RecordFields } from '../../parse/format.ts';
import { recordFields, refValues, resolveField } from '../../query/index.ts';
import type { RecordTable } from '../block/blocks.ts';
import { trimHole } from '../block/nul-holes.ts';
import { spanText } from '../block/record-formatter.ts';
import type { FieldsJob, FieldsResult, TopJob, TopResult } from '../count/count-jobs.ts';
import { FieldTable } from '../count/field-table.ts';
import { createQuickCount } from '../count/quick-count.ts';
import { TopTable } from '../count/top-table.ts';
import { candidateSpans, createCandidates, type MatchedRecord, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from '../match/scan-part.ts';

/** Calls `visit` for each matching record of a part, oldest first. */
function scanMatches(
  scan: PartScan,
  { matcher, tools }: { matcher: RecordMatcher; tools: ScanTools },
  visit: (record: MatchedRecord) => void,
): void {
  const { scanner, report } = scan;
  const candidates = createCandidates(matcher, tools);
  const record: MatchedRecord = { start: 0, end: 0, timeMs: Number.NaN, rank: 0, isHeadless: false };
  for (const block of scan.blocks()) {
    if (!candidates && matcher.headOnly) {
      visitTable(scan, scan.records(block), matcher, record, visit);
      continue;
    }
    const spans = candidates ? candidateSpans(scanner, candidates, matcher) : tableSpans(scan.records(block), matcher);
    for (const index of scan.matching(spans, matcher)) {
      record.start = spans.starts[index] ?? 0;
      record.end = spans.ends[index] ?? record.start;
      const head = scanner.headAt(record.start);
      record.timeMs = head?.timeMs ?? Number.NaN;
      record.rank = head?.rank ?? 0;
      record.isHeadless = head === undefined;
      visit(record);
    }
    if (report.pausedAt !== undefined) break;
  }
}

/** The records whose head alone decides. */
function visitTable(
  scan: PartScan,
  { count, starts, times, ranks, end }: RecordTable,
  { ranks: matching, fromMs, toMs, hasTimes }: RecordMatcher,
  record: MatchedRecord,
  visit: (record: MatchedRecord) => void,
): void {
  const allInside = count > 0 && scan.isInside(starts[0] ?? 0) && scan.isInside(starts[count - 1] ?? 0);
  for (let index = 0; index < count; index++) {
    const start = starts[index] ?? 0;
    const rank = ranks[index] ?? 0;
    const timeMs = times[index] ?? Number.NaN;
    if (matching[rank] === 0 || (hasTimes && !(timeMs >= fromMs && timeMs < toMs))) continue;
    if (!allInside && !scan.isInside(start)) continue;
    record.start = start;
    record.end = index + 1 < count ? (starts[index + 1] ?? end) : end;
    record.timeMs = timeMs;
    record.rank = rank;
    // Only the first record of a block may have no head.
    record.isHeadless = index === 0 && scan.scanner.headAt(start) === undefined;
    visit(record);
  }
}

/** The columns of a matching record, all of its text included. */
function decodeMatch(
  { scanner: { bytes } }: PartScan,
  { start, end: spanEnd, isHeadless }: MatchedRecord,
  { format }: ScanTools,
): RecordFields {
  const end = trimHole(bytes, start, spanEnd);
  return isHeadless ? { message: spanText(bytes, start, end) } : format.decode(bytes, start, end);
}

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

/** The fields of matching records. */
export function scanFields(job: FieldsJob, matcher: RecordMatcher, tools: ScanTools): FieldsResult {
  const scan = new PartScan(job, tools);
  const table = new FieldTable(job.limits);
  scanMatches(scan, { matcher, tools }, (record) => {
    table.count(recordFields(decodeMatch(scan, record, tools)));
  });
  return { ...scan.report, ...table.pack() };
}
