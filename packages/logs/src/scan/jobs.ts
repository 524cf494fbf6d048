import type { FileMark } from '../cursor/cursor.ts';
import type { GzMap } from '../gzip/gz-map.ts';
import type { FormatName } from '../parse/format.ts';
import type { ScrubRules } from '../scrub/scrubber.ts';
import type { RecordFilter } from '../types.ts';

/** A file as a scanning thread needs it. The descriptor stays open until the job has ended. */
export interface ScanFile {
  name: string;
  /** Names it for what threads remember of it; nothing is remembered without. */
  key?: string;
  /** Changes with every change of the file; absent where a change need not show in it. */
  stamp?: string | undefined;
  fd: number;
  /** On disk. */
  sizeBytes: number;
  /** Of the text: the same, unless it is compressed. */
  textBytes: number;
  gzMap: GzMap | undefined;
  /** Where its text begins; only NULs stand before it. */
  textStart: number;
  /** Of a plain file: length and hash of the first bytes of its text. Where they differ, the file was truncated. */
  start: { bytes: number; hash: number } | undefined;
  /** What is masked in its text. */
  scrub: ScrubRules | undefined;
  format: FormatName;
  zone: string;
  writtenMs: number;
}

/** Which records of a file are looked at: those that start in these blocks and in this range. */
export interface ScanPart {
  file: ScanFile;
  /** Pairs of first block and the one behind the last, in the order of the scan. */
  runs: readonly number[];
  /** Offsets a record may start at. */
  startBytes: number;
  endBytes: number;
}

export interface RecordsJob extends ScanPart {
  kind: 'records';
  filter: RecordFilter;
  newestFirst: boolean;
  limit: number;
  raw: boolean;
  /** Of each record; `SHOWN_BYTES` unless told. */
  shownBytes?: number | undefined;
  /** Of the file, for cursors. */
  mark: FileMark;
  /** Of a record that starts before this offset only the bytes from there on are shown. */
  restFrom?: number | undefined;
  /** Instead of blocks: records that start at these offsets, in the order of the scan. */
  picks: readonly number[];
}

export interface HistogramJob extends ScanPart {
  kind: 'histogram';
  filter: RecordFilter;
  bucketMs: number;
}

export interface DigestJob extends ScanPart {
  kind: 'digest';
  filter: RecordFilter;
}

/** Finds offsets before which all records are older than `fromMs`, and from which on all are not older than `toMs`. */
export interface SeekJob {
  kind: 'seek';
  file: ScanFile;
  fromMs: number;
  toMs: number;
}

/** The offset of the first record that is not older. */
export interface FirstAtJob {
  kind: 'first-at';
  file: ScanFile;
  timeMs: number;
  /** Scan from this offset on instead of seeking: for a file that is known not to be in time order. */
  scanFrom?: number | undefined;
}

/** The earliest and the latest time of the records of a part. */
export interface TimesJob extends ScanPart {
  kind: 'times';
}

/** The start of the record that covers the offset. */
export interface AlignJob {
  kind: 'align';
  file: ScanFile;
  offset: number;
}

/** Hash of some bytes of the text; -1 where there are not as many. */
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

/** Tells which of the blocks are still what they were when their summaries were made. */
export interface VerifyJob {
  kind: 'verify';
  file: ScanFile;
  blocks: readonly Pick<BlockSummary, 'block' | 'check'>[];
}

export interface GzMapJob {
  kind: 'gz-map';
  file: ScanFile;
}

/** What the entries of a directory are. */
export interface StatJob {
  kind: 'stat';
  dir: string;
  /** Raw, as `readNames` gives them. */
  names: readonly string[];
}

export interface StatResult {
  /** One of `ENTRY_KINDS` for each name. */
  kinds: Uint8Array<ArrayBuffer>;
  /** `STAT_NUMBERS` for each name. */
  numbers: BigInt64Array<ArrayBuffer>;
}

/** What both ends of plain files of a directory tell. */
export interface DescribeJob {
  kind: 'describe';
  dir: string;
  names: readonly string[];
  zone: string;
}

/** Packed, for there may be 100,000: to be read with `describedAt`. */
export interface DescribeResult {
  /** One byte for each name. */
  formats: Uint8Array<ArrayBuffer>;
  /** For each name the first and the last time, `NaN` where there is none. */
  times: Float64Array<ArrayBuffer>;
}

/** Which of the texts a filter's regex matches. */
export interface RegexJob {
  kind: 'regex';
  filter: RecordFilter;
  texts: readonly Uint8Array[];
}

export type Job =
  | RecordsJob
  | HistogramJob
  | DigestJob
  | TimesJob
  | SeekJob
  | FirstAtJob
  | AlignJob
  | CheckJob
  | VerifyJob
  | TextJob
  | GzMapJob
  | DescribeJob
  | StatJob
  | RegexJob;

/**
 * Records as a scan gives them: each a `FoundRecord` as a line of JSON, all lines in one piece of memory that is handed
 * over between threads, not copied, and can be sent on by whoever does not look into it.
 */
export interface FoundLines {
  text: Uint8Array<ArrayBuffer>;
  /** Where each line ends in the text, behind its newline. */
  ends: Uint32Array<ArrayBuffer>;
  offsets: Float64Array<ArrayBuffer>;
  /** `NaN` where a record has no time. */
  times: Float64Array<ArrayBuffer>;
}

/** What is known of a block that will not change any more. */
export interface BlockSummary {
  block: number;
  /** `null` where not every record was looked at. */
  all: RecordsSummary | null;
  /** Offsets of its records of level ERROR and above; `null` where they are not known, or too many to keep. */
  errors: number[] | null;
  /** What all of this was read from: where the text is another now, nothing of it is true. */
  check: BlockCheck;
}

/** Hash of a block and of what its records were told by around it: the byte before it, and the rest of its last line. */
export interface BlockCheck {
  bytes: number;
  hash: number;
  /** Whether secrets were masked in what was hashed. */
  scrubbed: boolean;
}

/** Of all records of a block. Times are infinite where it has none. */
export interface RecordsSummary {
  minMs: number;
  maxMs: number;
  /** How much older a record is than one before it in the block, at most. */
  lateMs: number;
  /** Records per level rank; 0: without a level. */
  counts: number[];
  /** Records without a time. */
  untimed: number;
}

/** Of a last block, which can still change. */
export interface TailSummary {
  block: number;
  all: RecordsSummary;
}

/** What every scan tells beside its findings. */
export interface ScanReport {
  /** Blocks scanned, in the order of the scan. */
  blocks: number[];
  /** Bytes of single records that were read instead of their blocks. */
  pickedBytes: number;
  /** Times seen in the part that was scanned. */
  minMs: number;
  maxMs: number;
  summaries: BlockSummary[];
  /** Of a last block that can still change: nothing but the order of its times is remembered. */
  tail?: TailSummary;
  /**
   * It paused, to let others run, or was cancelled within a block. Oldest first: records that start at or behind this
   * offset are left. Newest first: those that start before it.
   */
  pausedAt?: number;
}

export interface RecordsResult extends ScanReport {
  found: FoundLines;
  /** It stopped at its last record, before its part was done. */
  stopped: boolean;
  /** The record at which the scanned part begins (oldest first: the last one in it), to go on from. */
  reached: { cursor: string; offset: number; timeMs: number } | null;
}

export interface HistogramResult extends ScanReport {
  /** Bucket numbers (time divided by the bucket's width), and seven counts for each, by rank. */
  buckets: number[];
  counts: number[];
  untimed: number;
}

export interface ScannedGroup {
  rank: number;
  source: string | null;
  shape: string | null;
  count: number;
  firstMs: number;
  lastMs: number;
  /** Of the newest record. */
  offset: number;
}

export interface DigestResult extends ScanReport {
  groups: ScannedGroup[];
  ungrouped: number;
}

/** Of a job that was cancelled, some blocks are in neither. */
export interface VerifyResult {
  valid: number[];
  stale: number[];
}

/** Offsets between which all records of a time range start. The whole text where it is not in time order. */
export interface SeekResult {
  startBytes: number;
  endBytes: number;
}

/** What each kind of job gives. */
export interface JobResults {
  records: RecordsResult;
  histogram: HistogramResult;
  digest: DigestResult;
  times: ScanReport;
  seek: SeekResult;
  'first-at': number;
  align: number;
  check: number;
  verify: VerifyResult;
  text: Uint8Array<ArrayBuffer>;
  'gz-map': GzMap;
  describe: DescribeResult;
  stat: StatResult;
  regex: boolean[];
}
