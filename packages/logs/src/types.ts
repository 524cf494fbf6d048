import type { FormatName, RecordFields } from './parse/format.ts';
import type { Level } from './parse/level.ts';

export type { LogErrorCode } from './log-error.ts';
export type { FormatName, Level, RecordFields };

/** One file of the log directory, exactly the contract's fields. */
export interface LogEntry {
  name: string;
  /** Bytes on disk. */
  size: number;
}

/** What can be said of a file from its name and a look at its two ends. */
export interface LogFileDetails extends LogEntry {
  modifiedMs: number;
  /** The log it belongs to: the name its live file has, or would have. */
  family: string;
  /** Being written, or moved aside. */
  state: 'live' | 'rotated';
  compressed: boolean;
  /** How its lines are read; `binary`: not text; `unreadable`: see `problem`. */
  format: FormatName | 'binary' | 'empty' | 'unreadable';
  /** Epoch ms of the first timestamp found at the start; `null` where there is none. */
  firstTimeMs: number | null;
  /** Epoch ms of the last timestamp found at the end; `null` where there is none, and of a compressed file until its end was looked up in the background. */
  lastTimeMs: number | null;
  /** Why the file could not be looked into, or `null`. */
  problem: string | null;
}

export interface ReadOptions {
  signal?: AbortSignal | undefined;
}

/** A finite run of bytes. */
export interface ByteStream {
  /** `undefined` only where a remote node does not tell it. */
  sizeBytes: number | undefined;
  /** A chunk's bytes are valid until the next chunk is asked for: its memory is used again. Iterate at most once. */
  chunks: AsyncIterable<Uint8Array>;
  /** Gives everything back; may be called at any time and more than once. */
  close(): Promise<void>;
}

/** A file as it is on disk, held open. Its size at opening is its end, whatever happens to its name. */
export interface OpenLog {
  name: string;
  sizeBytes: number;
  modifiedMs: number;
  /**
   * Changes whenever the file is replaced, grows or is written to. A strong entity tag, with its quotes; what stands
   * before its first `-` names the file, and stays the same while the file only grows.
   */
  etag: string;
  /** Bytes from `start` up to, not including, `end`. The same rule for chunks as in `ByteStream`. */
  read(start: number, end: number, options?: ReadOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Which files are asked: one, one family (a live file and its rotated ones), or all of the directory. */
export interface LogSelection {
  file?: string;
  /** Name of the family, as the details of its files tell it. */
  family?: string;
}

/** Which records are wanted. Every condition that is given must hold. */
export interface RecordFilter {
  /** Epoch ms, inclusive. */
  fromMs?: number;
  /** Epoch ms, exclusive. */
  toMs?: number;
  /** This level or a higher one. Records without a level have none. */
  minLevel?: Level;
  /** Literal texts that must all occur in the record's text. */
  terms?: readonly string[];
  /** Literal texts of which none may occur. */
  excluded?: readonly string[];
  /** Applies to terms, exclusions and the regex. */
  caseSensitive?: boolean;
  /** RE2 syntax, looked for anywhere in the record; `^` and `$` match at its lines. */
  regex?: string;
  /** `file:line` or `file`, as a whole or behind a `/`. */
  source?: string;
  /** One of the record's tags, whatever its case. */
  component?: string;
}

/** Where to begin: everything before it (newest first: behind it) is left out. */
export type StartPoint =
  /** The record that covers this byte of the (uncompressed) text; needs one file. Newest first: those before it. */
  | { offset: number }
  /** The first record at or after this time. Newest first: those before it. */
  | { timeMs: number }
  /** Next to this record, not the record itself, in either order. */
  | { cursor: string }
  /** This record itself, oldest first. Newest first: those before it. */
  | { record: string };

export interface SearchQuery extends LogSelection, RecordFilter {
  order: 'newest' | 'oldest';
  /** At most this many records. */
  limit: number;
  /** Records told before and after each one found. */
  before: number;
  after: number;
  start?: StartPoint;
  /** Cursor of the record to stop before. */
  until?: string;
  /** Tell the record's text as it is, too. */
  raw?: boolean;
}

/** A record and where it stands. */
export interface FoundRecord extends RecordFields {
  type: 'record';
  file: string;
  /** In the uncompressed text. */
  offset: number;
  /** Length in bytes, its last newline included. */
  bytes: number;
  /** Names this record, also after rotation and compression. */
  cursor: string;
  /** The text is longer than what is shown: read the rest by its offset. */
  cut?: true;
  /** Not the start of a record: the next part of one that is too long to be one. */
  continued?: true;
  /** Follow only: its line has no end yet; the rest comes as a continued record. */
  unfinished?: true;
  raw?: string;
  before?: FoundRecord[];
  after?: FoundRecord[];
}

export interface FileProblem {
  file: string;
  code: string;
  detail: string;
}

/** A file that was not read because another one has all of its text: it is being copied or compressed. */
export interface DuplicateFile {
  file: string;
  /** The file that was read instead. */
  sameAs: string;
}

/** The closing record of every search: why it ended and its coverage. */
export interface SearchEnd {
  type: 'end';
  reason: 'exhausted' | 'limit' | 'time budget' | 'cancelled';
  records: number;
  /** Bytes of text scanned, each counted once, and bytes known from earlier scans to hold no match. */
  scannedBytes: number;
  skippedBytes: number;
  /**
   * Bytes neither scanned nor known: the time range lies elsewhere, going by times at a few places. A record there that
   * is more than a minute out of order would be missing. Absent in the responses of older nodes.
   */
  unreadBytes?: number;
  scannedFiles: number;
  /**
   * The time range, both ends included, of which the response has every matching record of the files that are not among
   * the problems. `null`: there is none. Records without a time are in no range.
   */
  coveredFromMs: number | null;
  coveredToMs: number | null;
  /** Files that could not be read, or not wholly, and why. */
  problems: FileProblem[];
  /** Present when records may be missing because a node serves only the ends of its files: what the response is made from. */
  limits?: string;
  /** Files that were left out because another one has all of their text; absent where there are none. */
  duplicates?: DuplicateFile[];
  /** Goes on exactly where this answer stopped; `null` when there is nothing left. */
  cursor: string | null;
  elapsedMs: number;
}

export type SearchItem = FoundRecord | SearchEnd;

export interface HistogramQuery extends LogSelection, RecordFilter {
  /** Width of a bucket; chosen when absent. */
  bucketMs?: number;
  /** Buckets wished for when the width is to be chosen. */
  buckets: number;
}

export interface HistogramBucket {
  startMs: number;
  /** Records per level; those without a level count as `NONE`. Levels without records are absent. */
  counts: Partial<Record<Level | 'NONE', number>>;
}

export interface Histogram {
  bucketMs: number;
  /** Only buckets with records, in rising order. */
  buckets: HistogramBucket[];
  /** Records that match but have no time. */
  untimed: number;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
}

export interface DigestQuery extends LogSelection, RecordFilter {
  /** Groups told at most, the largest first. */
  limit: number;
  /** Marks groups whose first record is not older. */
  newSinceMs?: number;
  /** Only those marked new. */
  onlyNew?: boolean;
}

export interface DigestGroup {
  level: Level | null;
  source: string | null;
  /** The message with its changing parts replaced by `*`, where there is no source. */
  shape: string | null;
  count: number;
  firstMs: number | null;
  lastMs: number | null;
  isNew: boolean;
  /** The newest record of the group. */
  sample: FoundRecord;
}

export interface Digest {
  groups: DigestGroup[];
  /** Groups there are, told or not. */
  totalGroups: number;
  /** Records counted in groups that were given up because there were too many. */
  ungrouped: number;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
}

export interface FollowQuery extends LogSelection, RecordFilter {
  /**
   * Where to begin: now, so many records back, at a time, or after a record. `sinceMs` is for logs that the cursor does
   * not name: they begin at that time, or at that of the newest record it names where this is earlier.
   */
  start: 'end' | { back: number } | { timeMs: number } | { cursor: string; sinceMs?: number };
  raw?: boolean;
}

export type FollowItem =
  | FoundRecord
  /** The name leads to another file now; what was left of the old one has been told. */
  | { type: 'rotated'; family: string; from: string; to: string }
  /** The file became shorter; it is read from its start. */
  | { type: 'truncated'; file: string; lostBytes: number | null }
  /** Records were not told. With cursors they can be loaded: after `after`, up to `until`. */
  | {
      type: 'gap';
      family: string;
      reason: 'slow' | 'truncated' | 'gone';
      bytes: number | null;
      after: string | null;
      until: string | null;
    }
  /** The file, or the directory, is not there at the moment. */
  | { type: 'missing'; family: string }
  /** Told by a client: the connection was lost. After so long it goes on behind the last record it told. */
  | { type: 'reconnecting'; reason: string; waitMs: number }
  /** Logs beyond what may be followed at a time were left out; by a client: items of the node that make no sense to it. */
  | { type: 'skipped'; count: number; detail: string }
  /** The last item. */
  | { type: 'end'; reason: 'cancelled' | 'stopping' };
