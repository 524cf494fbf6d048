import { LogError } from '../log-error.ts';
import type { DescribeJob, DescribeResult } from '../read/describe-files.ts';
import type { StatJob, StatResult } from '../read/stat-entries.ts';
import type { RecordFilter } from '../types.ts';
import type { BlockSummary } from './block/blocks.ts';
import type { FoundLines, RecordsJob } from './block/found-lines.ts';
import type { PackedMap, ScanFile, ScanPart, ScanReport } from './block/scan-file.ts';
import type { FieldsJob, FieldsResult, TopJob, TopResult } from './count/count-jobs.ts';
import type { DigestJob, DigestResult } from './digest/scanned-groups.ts';
import type { TextIndexJob, TextIndexResults } from './index-jobs.ts';

export interface HistogramJob extends ScanPart {
  kind: 'histogram';
  filter: RecordFilter;
  bucketMs: number;
}

/** Finds offsets before which all records are older than `fromMs`, and from which on none is older than `toMs`. */
interface SeekJob {
  kind: 'seek';
  file: ScanFile;
  fromMs: number;
  toMs: number;
}

/** The offset of the first record that is not older. */
interface FirstAtJob {
  kind: 'first-at';
  file: ScanFile;
  timeMs: number;
  /** Scan from this offset on instead of seeking: for a file known not to be in time order. */
  scanFrom?: number | undefined;
}

export interface FirstAtResult {
  /** The size of the text if there is no such record. */
  offset: number;
  /** All before it was passed over because of the times around it. */
  scannedFrom: number;
}

/** The earliest and the latest time of the records of a part. */
interface TimesJob extends ScanPart {
  kind: 'times';
}

/** The start of the record around the offset. */
interface AlignJob {
  kind: 'align';
  file: ScanFile;
  offset: number;
}

/** Hash of some bytes of the text; -1 if there are not that many. */
export interface CheckJob {
  kind: 'check';
  file: ScanFile;
  offset: number;
  bytes: number;
}

/** Bytes of the text, secrets masked. */
export interface TextJob {
  kind: 'text';
  file: ScanFile;
  offset: number;
  bytes: number;
}

/** Checks which of the blocks are unchanged since their summaries were made. */
export interface VerifyJob {
  kind: 'verify';
  file: ScanFile;
  blocks: readonly Pick<BlockSummary, 'block' | 'check'>[];
}

interface PackedMapJob {
  kind: 'packed-map';
  file: ScanFile;
}

/** Which of the texts a filter's regex matches. */
export interface RegexJob {
  kind: 'regex';
  filter: RecordFilter;
  texts: readonly Uint8Array[];
}

/** Small jobs of one client, which cost less than handing them over one by one. */
interface BundleJob {
  kind: 'bundle';
  tasks: readonly WorkerTask[];
}

export type Job =
  | BundleJob
  | RecordsJob
  | HistogramJob
  | DigestJob
  | TopJob
  | FieldsJob
  | TextIndexJob
  | TimesJob
  | SeekJob
  | FirstAtJob
  | AlignJob
  | CheckJob
  | VerifyJob
  | TextJob
  | PackedMapJob
  | DescribeJob
  | StatJob
  | RegexJob;

export interface RecordsResult extends ScanReport {
  found: FoundLines;
  /** It stopped at the limit of records, before its part was done. */
  stopped: boolean;
  /** The record at which the scanned part begins (oldest first: its last one), to continue from. */
  reached: { cursor: string; offset: number; timeMs: number } | null;
}

export interface HistogramResult extends ScanReport {
  /** Bucket numbers (time divided by the bucket's width), and seven counts for each, by rank. */
  buckets: number[];
  counts: number[];
  untimed: number;
}

/** If the job was cancelled, some blocks are in neither list. */
export interface VerifyResult {
  valid: number[];
  stale: number[];
}

/** Offsets between which all records of a time range start. The whole text if it is not in time order. */
export interface SeekResult {
  startBytes: number;
  endBytes: number;
}

/** The result type of each kind of job. */
export interface JobResults extends TextIndexResults {
  bundle: WorkerResponse[];
  records: RecordsResult;
  histogram: HistogramResult;
  digest: DigestResult;
  top: TopResult;
  fields: FieldsResult;
  times: ScanReport;
  seek: SeekResult;
  'first-at': FirstAtResult;
  align: number;
  check: number;
  verify: VerifyResult;
  text: Uint8Array<ArrayBuffer>;
  'packed-map': PackedMap;
  describe: DescribeResult;
  stat: StatResult;
  regex: boolean[];
}

/**
 * While several clients wait, each has a thread for this long: a fraction of what a small search takes. A job pauses after
 * it, and the next job of the same client need not wait before.
 */
export const CLIENT_TURN_MS = 5;

/** What a thread gets when it starts. */
export interface WorkerOptions {
  /** It compiles what searches run before its first job. */
  prepares: boolean;
  /** One Int32, shared by all threads; not zero: jobs of other clients wait. */
  contended: SharedArrayBuffer;
}

/** Sent by a thread: that it can take jobs. */
export type WorkerReady = 'ready';

export interface WorkerTask {
  id: number;
  job: Job;
  /** One Int32; not zero: the result is no longer wanted. */
  cancelled: SharedArrayBuffer;
}

export type WorkerResponse =
  | { id: number; result: JobResults[Job['kind']] }
  | { id: number; failure: { code: string | null; message: string } };

/** Errors keep their code across threads. */
export function describeFailure(error: unknown): { code: string | null; message: string } {
  if (error instanceof LogError) return { code: error.code, message: error.message };
  return { code: null, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
