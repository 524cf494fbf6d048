import type { BlockSummary, TailSummary } from '../block-index/block-index.ts';
import type { FileMark } from '../cursor/cursor.ts';
import type { Utf16 } from '../file/utf16.ts';
import type { GzMap } from '../gzip/gz-map.ts';
import type { ChunkMap } from '../packed/chunk-map.ts';
import type { Utf16Map } from '../packed/utf16-map.ts';
import type { FormatName } from '../parse/format.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { ScrubRules } from '../scrub/scrubber.ts';
import type { TextIndexJob, TextIndexResults } from '../text-index/index-jobs.ts';
import type { RecordFilter } from '../types.ts';
import type { FieldsJob, FieldsResult, TopJob, TopResult } from './count/count-jobs.ts';
import type { DigestJob, DigestResult } from './digest/digest-jobs.ts';
import type { FoundLines } from './found-lines.ts';

/** A file as a scanning thread needs it. The descriptor stays open until the job has ended. */
export interface ScanFile {
  name: string;
  /** Cache key of the file for threads; without it nothing is cached. */
  key?: string;
  /** Changes with every change of the file; absent if a change need not show in it. */
  stamp?: string | undefined;
  fd: number;
  /** Size on disk. */
  sizeBytes: number;
  /** Length of the text: the same, unless it is compressed. */
  textBytes: number;
  packedMap: PackedMap | undefined;
  /** If it is UTF-16. */
  encoding?: Utf16 | undefined;
  /** Where its text begins; only NULs precede it. */
  textStart: number;
  /** For a plain file: length and hash of the first bytes of its text. If they differ later, the file was truncated. */
  start: { bytes: number; hash: number } | undefined;
  /** What is masked in its text. */
  scrub: ScrubRules | undefined;
  format: FormatName;
  /** The definition of the format, unless it is built in. Threads are shared by directories with different formats. */
  formats?: readonly UserFormat[] | undefined;
  zone: string;
  writtenMs: number;
}

/** Which records of a file are scanned: those that start in these blocks and in this range. */
export interface ScanPart {
  file: ScanFile;
  /** Pairs of first and end (exclusive) block, in scan order. */
  runs: readonly number[];
  /** Offsets at which a record may start. */
  startBytes: number;
  endBytes: number;
}

export interface RecordsJob extends ScanPart {
  kind: 'records';
  filter: RecordFilter;
  newestFirst: boolean;
  limit: number;
  /** Text as in the file instead of JSON; what follows about how records are shown does not apply then. */
  asText?: boolean | undefined;
  raw: boolean;
  /** Of records, only position, time and `raw` are used: the others may be left out, and the message be empty. */
  onlyRaw?: boolean | undefined;
  /** Names of the fields that each record carries. */
  fields?: readonly string[] | undefined;
  /** Limit for each record; default `SHOWN_BYTES`. */
  shownBytes?: number | undefined;
  /** Mark of the file, for cursors. */
  mark: FileMark;
  /** Of a record that starts before this offset only the bytes from there on are shown. */
  restFrom?: number | undefined;
  /** Instead of blocks: records that start at these offsets, in scan order. */
  picks: readonly number[];
  /** Memory of an earlier result, for the text of this one. */
  room?: readonly [ArrayBuffer] | undefined;
}

export interface HistogramJob extends ScanPart {
  kind: 'histogram';
  filter: RecordFilter;
  bucketMs: number;
}

/** Finds offsets before which all records are older than `fromMs`, and from which on none is older than `toMs`. */
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
export interface TimesJob extends ScanPart {
  kind: 'times';
}

/** The start of the record around the offset. */
export interface AlignJob {
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

/** How the text of a compressed file is read from any offset. */
export type PackedMap = GzMap | ChunkMap | Utf16Map;

export interface PackedMapJob {
  kind: 'packed-map';
  file: ScanFile;
}

/** Types and stats of directory entries. */
export interface StatJob {
  kind: 'stat';
  dir: string;
  /** Raw, as returned by `readNames`. */
  names: readonly string[];
}

export interface StatResult {
  /** One of `ENTRY_KINDS` for each name. */
  kinds: Uint8Array<ArrayBuffer>;
  /** `STAT_NUMBERS` for each name. */
  numbers: BigInt64Array<ArrayBuffer>;
}

/** Format and time range of plain files of a directory, read from both ends. */
export interface DescribeJob {
  kind: 'describe';
  dir: string;
  names: readonly string[];
  zone: string;
  /** Formats tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
}

/** Packed, because there may be 100,000; read with `describedAt`. */
export interface DescribeResult {
  /** For each name the index of its format, beyond the last one if it was not described. */
  formats: Uint16Array<ArrayBuffer>;
  formatNames: string[];
  /** For each name the first and the last time, `NaN` if there is none. */
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

/** What every scan reports in addition to its results. */
export interface ScanReport {
  /** Blocks scanned, in scan order. */
  blocks: number[];
  /** Bytes of single records that were read instead of their blocks. */
  pickedBytes: number;
  /** Range of the times seen in the scanned part. */
  minMs: number;
  maxMs: number;
  summaries: BlockSummary[];
  /** Of a last block that can still change: only the order of its times is kept. */
  tail?: TailSummary;
  /** Offset of the first hole of NULs that was read. */
  holeAt?: number;
  /**
   * The scan paused, to let others run, or was cancelled within a block. Oldest first: records that start at or after
   * this offset remain. Newest first: those that start before it.
   */
  pausedAt?: number;
}

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
