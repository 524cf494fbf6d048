import type { RecordTable } from '../block/blocks.ts';
import type { HistogramJob, HistogramResult } from '../jobs.ts';
import { candidateSpans, createCandidates, tableSpans } from '../match/find-matches.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { PartScan, type ScanTools } from '../match/scan-part.ts';

/** Levels by rank, and 0 for none. */
export const RANKS = 7;

/** Counts per bucket and rank. Neighbouring records mostly fall into the same bucket. */
class BucketCounts {
  readonly buckets: number[] = [];
  readonly counts: number[] = [];
  readonly #rowStarts = new Map<number, number>();
  #bucket = Number.NaN;
  #rowStart = 0;

  add(bucket: number, rank: number, by = 1): void {
    if (bucket !== this.#bucket) this.#switchTo(bucket);
    const at = this.#rowStart + rank;
    this.counts[at] = (this.counts[at] ?? 0) + by;
  }

  #switchTo(bucket: number): void {
    let rowStart = this.#rowStarts.get(bucket);
    if (rowStart === undefined) {
      rowStart = this.counts.length;
      this.#rowStarts.set(bucket, rowStart);
      this.buckets.push(bucket);
      for (let rank = 0; rank < RANKS; rank++) this.counts.push(0);
    }
    this.#bucket = bucket;
    this.#rowStart = rowStart;
  }
}

export function scanHistogram(job: HistogramJob, matcher: RecordMatcher, tools: ScanTools): HistogramResult {
  const { bucketMs } = job;
  const scan = new PartScan(job, tools);
  const { scanner, report } = scan;
  const found = new BucketCounts();
  let untimed = 0;
  const candidates = createCandidates(matcher, tools);

  for (const block of scan.blocks()) {
    if (!candidates && matcher.headOnly) {
      untimed += countTable(scan, scan.records(block), matcher, { found, bucketMs });
      continue;
    }
    const spans = candidates ? candidateSpans(scanner, candidates, matcher) : tableSpans(scan.records(block), matcher);
    for (const index of scan.matching(spans, matcher)) {
      const { timeMs, rank } = scanner.headAt(spans.starts[index] ?? 0) ?? { timeMs: Number.NaN, rank: 0 };
      if (Number.isNaN(timeMs)) untimed++;
      else found.add(Math.floor(timeMs / bucketMs), rank);
    }
    if (report.pausedAt !== undefined) break;
  }
  return { ...report, buckets: found.buckets, counts: found.counts, untimed };
}

/** The records whose head alone decides. Returns the number of those without a time. */
function countTable(
  scan: PartScan,
  { count, starts, times, ranks }: RecordTable,
  { ranks: matching, fromMs, toMs, hasTimes }: RecordMatcher,
  { found, bucketMs }: { found: BucketCounts; bucketMs: number },
): number {
  const allInside = count > 0 && scan.isInside(starts[0] ?? 0) && scan.isInside(starts[count - 1] ?? 0);
  let untimed = 0;
  let bucket = 0;
  // The bucket's own bounds: one division per bucket, not one per record.
  let bucketStart = 0;
  let bucketEnd = 0;
  for (let index = 0; index < count; index++) {
    const rank = ranks[index] ?? 0;
    const time = times[index] ?? Number.NaN;
    if (matching[rank] === 0 || (hasTimes && !(time >= fromMs && time < toMs))) continue;
    if (!allInside && !scan.isInside(starts[index] ?? 0)) continue;
    if (Number.isNaN(time)) {
      untimed++;
      continue;
    }
    if (time < bucketStart || time >= bucketEnd) {
      bucket = Math.floor(time / bucketMs);
      bucketStart = bucket * bucketMs;
      bucketEnd = bucketStart + bucketMs;
    }
    found.add(bucket, rank);
  }
  return untimed;
}
