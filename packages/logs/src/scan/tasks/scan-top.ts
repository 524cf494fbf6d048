import { refValues, resolveField } from '../../query/index.ts';
import { boundedValue, shownValue } from '../count/bounded-value.ts';
import type { TopJob, TopResult } from '../count/count-jobs.ts';
import { ValueCounts } from '../count/value-counts.ts';
import type { RecordMatcher } from '../match/record-matcher.ts';
import { decodeMatch, scanMatches } from './scan-matches.ts';
import { PartScan, type ScanTools } from './scan-part.ts';

/** Matching records by value of a field. */
export function scanTop(job: TopJob, matcher: RecordMatcher, tools: ScanTools): TopResult {
  const { bucketMs } = job;
  const scan = new PartScan(job, tools);
  const field = resolveField(job.by);
  const table = new TopTable(job);
  scanMatches(scan, { matcher, tools }, (record) => {
    const values = refValues(decodeMatch(scan, record, tools), field);
    const bucket = bucketMs === undefined ? Number.NaN : Math.floor(record.timeMs / bucketMs);
    table.count(values, bucket);
  });
  return { ...scan.report, ...table.result() };
}

/** Counts the values of records. */
class TopTable {
  readonly #counts: ValueCounts;
  readonly #wanted: ReadonlySet<string> | undefined;
  #records = 0;
  #missing = 0;
  #unwanted = 0;

  constructor({ values, limits }: TopJob) {
    this.#counts = new ValueCounts(limits);
    this.#wanted = values && new Set(values);
  }

  /** One record. A value that it has twice counts once. `bucket` is `NaN` if it is in none. */
  count(values: readonly string[], bucket: number): void {
    this.#records++;
    if (values.length === 0) this.#missing++;
    const [first] = values;
    if (values.length === 1 && first !== undefined) this.#add(first, bucket);
    else for (const value of new Set(values)) this.#add(value, bucket);
  }

  result(): Pick<TopResult, 'counts' | 'records' | 'missing' | 'unwanted'> {
    return {
      counts: this.#counts.pack(),
      records: this.#records,
      missing: this.#missing,
      unwanted: this.#unwanted,
    };
  }

  #add(value: string, bucket: number): void {
    const bounded = this.#known(boundedValue(value));
    if (bounded === undefined) {
      this.#unwanted++;
      return;
    }
    const id = this.#counts.idFor(bounded);
    this.#counts.add(id);
    if (!Number.isNaN(bucket)) this.#counts.addCell(id, bucket);
  }

  /** As it is counted; `undefined` if it was not requested. A long value may be requested as it is shown. */
  #known(bounded: string): string | undefined {
    if (!this.#wanted || this.#wanted.has(bounded)) return bounded;
    const shown = shownValue(bounded);
    return this.#wanted.has(shown) ? shown : undefined;
  }
}
