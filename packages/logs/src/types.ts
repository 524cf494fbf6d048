export type { LogErrorCode } from './log-error.ts';

/** Severity in rising order. */
export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL';

/** One file of the log directory, exactly the fields of the contract. */
export interface LogEntry {
  /** File name. */
  name: string;
  /**
   * Size in bytes.
   * @minimum 0
   */
  size: number;
}

/** A file with what its name and both of its ends show. */
export interface LogFileDetails extends LogEntry {
  /** Epoch milliseconds of the last write. */
  modifiedMs: number;
  /** The log it belongs to: the name of its live file, or the name that would have. */
  family: string;
  /** Whether it is being written or was rotated. */
  state: 'live' | 'rotated';
  /** Whether it is compressed, by the ending of its name. The text of .gz, .zst, .xz and .bz2 files is read. */
  compressed: boolean;
  /** The name of the detected format, or `binary`, `empty`, or with a `problem` `unreadable`. */
  format: string;
  /** Epoch milliseconds of the first timestamp near the start; `null` if there is none. */
  firstTimeMs: number | null;
  /**
   * Epoch milliseconds of the last timestamp near the end; `null` if there is none, and for a compressed file until it
   * was determined in the background.
   */
  lastTimeMs: number | null;
  /** Why the file could not be read, or `null`. */
  problem: string | null;
  /** What its lines were read as: only of a file that was asked for by name. */
  learned?: LearnedFormat;
}

/** What the lines of a file are read as, learned from its first and last 64 KiB; only of a file asked for by name. */
export interface LearnedFormat {
  /** Sentences about the format, its times, level, zone, and how many lines fit. */
  facts: FormatFact[];
  /** A few records, whose parts in order are the line. */
  samples: LinePart[][];
  /** The first lines that neither start a record nor are indented: they continue the record above them. A long one is cut. */
  unfit: string[];
  /** A definition for `log.formats` in TOML to start from. */
  example: string;
}

/** A sentence. */
export interface FormatFact {
  /** What it is about: Format, Time, Level ... */
  label: string;
  /** The sentence. */
  text: string;
  /** It was guessed or assumed, or nothing was found. */
  doubt?: true;
}

/** A part of a line. */
export interface LinePart {
  /** What it is. */
  kind: 'time' | 'level' | 'origin' | 'message' | 'other';
  /** The text; a long one is cut. */
  text: string;
}

export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** Who asks: the threads serve clients in turn, and each may have a part of all searches. Absent: nobody in particular. */
  client?: string | undefined;
}

export interface FollowReadOptions extends ReadOptions {
  /** Emits a `position` before the first live record, which is where a client resumes that loses its connection. */
  positions?: boolean | undefined;
  /** Emits the text of records instead, if the query has `raw`, and what is new a few times a second, together. */
  texts?: boolean | undefined;
}

/** A finite stream of bytes. Read it to the end, break, or call `close()`. */
export interface ByteStream {
  /** `undefined` only if a remote node does not report it. */
  sizeBytes: number | undefined;
  /** A chunk's bytes are valid until the next chunk is requested: its memory is reused. Iterate at most once. */
  chunks: AsyncIterable<Uint8Array>;
  /** Releases all resources; may be called at any time and more than once. */
  close(): Promise<void>;
}

/** A file as it is on disk, held open. Its size when opened is its end, whatever happens to its name. */
export interface OpenLog {
  name: string;
  sizeBytes: number;
  modifiedMs: number;
  /**
   * Changes whenever the file is replaced, grows or is written to. A strong entity tag, including its quotes; the part
   * before its first `-` identifies the file, and does not change while the file only grows.
   */
  etag: string;
  /** Bytes from `start` up to, not including, `end`. The same rule for chunks as in `ByteStream`. */
  read(start: number, end: number, options?: ReadOptions): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Which logs to query; all of the directory if nothing is given. */
export interface LogSelection {
  /**
   * `FAMILY` (a live file and its rotated files) or `=FILE`, by name or by patterns with `*` and `?`; `parseLogSource` has
   * the grammar. Each file is read once, whatever overlaps.
   */
  src?: readonly string[];
}

/** Which records match. All conditions must hold. */
export interface RecordFilter {
  /** Epoch ms, inclusive. */
  fromMs?: number;
  /** Epoch ms, exclusive. */
  toMs?: number;
  /** This level or a higher one. Records without a level never match. */
  minLevel?: Level;
  /** Literal texts that must all occur in the record's text. */
  terms?: readonly string[];
  /** Literal texts of which none may occur. */
  excluded?: readonly string[];
  /** Applies to terms, exclusions and the regex. */
  caseSensitive?: boolean;
  /** RE2 syntax, searched anywhere in the record; `^` and `$` match at its lines. */
  regex?: string;
  /** `file:line` or `file`, as a whole or after a `/`. */
  source?: string;
  /** One of the record's tags, ignoring case. */
  component?: string;
  /** A query by field, besides the other conditions. */
  query?: QueryNode;
}

/** Where to begin: everything before it (newest first: after it) is left out. */
export type StartPoint =
  /** The record around this byte of the (uncompressed) text; requires `file`. Newest first: those before it. */
  | { offset: number }
  /** The first record at or after this time. Newest first: those before it. */
  | { timeMs: number }
  /** Next to this record, excluding it, in either order. */
  | { cursor: string }
  /** Including this record, oldest first. Newest first: those before it. */
  | { record: string };

export interface SearchQuery extends LogSelection, RecordFilter {
  order: 'newest' | 'oldest';
  /** At most this many records. */
  limit: number;
  /** Context: records returned before and after each match. */
  before: number;
  after: number;
  start?: StartPoint;
  /** Cursor of the record to stop before; logs without one in it are not read. */
  until?: string;
  /** Include the original text of the record. */
  raw?: boolean;
  /** Include these fields of the record; `*`: all. */
  fields?: readonly string[];
}

/** A record and its position. */
export interface FoundRecord extends RecordFields {
  type: 'record';
  /** File it was found in. */
  file: string;
  /** Where it starts in the uncompressed text, in bytes. */
  offset: number;
  /** Length in bytes, including its last newline. */
  bytes: number;
  /** Identifies this record, also after rotation and compression. */
  cursor: string;
  /** The text is longer than what is returned: read the rest by its offset. */
  cut?: true;
  /** Not the start of a record: the next part of one that was split because of its length. */
  continued?: true;
  /** Follow only: its line is incomplete; the rest follows as a continued record. */
  unfinished?: true;
  /** Its text exactly as in the file. */
  raw?: string;
  /** Those of the requested fields that it has, by name. */
  fields?: Record<string, FieldJson>;
  /** Records before it. */
  before?: FoundRecord[];
  /** Records after it. */
  after?: FoundRecord[];
}

/** A file that could not be read, or only in part. */
export interface FileProblem {
  /** File name. */
  file: string;
  /** Error code. */
  code: string;
  /** What is wrong. */
  detail: string;
}

/** A file that was not read because another one contains all of its text: it is being copied or compressed. */
export interface DuplicateFile {
  /** File name. */
  file: string;
  /** The file that was read instead. */
  sameAs: string;
}

/** What was scanned and found, and why it ended. */
export interface ScanReport {
  /** Why it ended. */
  reason: 'exhausted' | 'limit' | 'time budget' | 'cancelled';
  /** Matching records that were returned or counted. */
  records: number;
  /** Bytes of text scanned; each counts once. */
  scannedBytes: number;
  /** Bytes known from earlier scans to contain no match. */
  skippedBytes: number;
  /**
   * Bytes neither scanned nor known: according to a few probed times, they are outside the time range. A record there
   * that is more than a minute out of order would be missing.
   */
  unreadBytes?: number;
  /** Files scanned. */
  scannedFiles: number;
  /**
   * Epoch milliseconds of the start of the time range, both ends included, for which the response contains every
   * matching record of the files that are not among the problems. `null`: there is none. Records without a time are in
   * no range.
   */
  coveredFromMs: number | null;
  /** Epoch milliseconds of the end of that time range, which is included. */
  coveredToMs: number | null;
  /** Files that could not be read, or only in part, and why. */
  problems: FileProblem[];
  /**
   * Present if records may be missing because a node serves only the ends of its files: what the response is based on.
   */
  limits?: string;
  /** Files that were left out because another one contains all of their text; absent if there are none. */
  duplicates?: DuplicateFile[];
  /** Milliseconds it took. */
  elapsedMs: number;
}

/** The closing record of every search: why it ended and its coverage. */
export interface SearchEnd extends ScanReport {
  type: 'end';
  /** Continues exactly where this response stopped; `null` if there is nothing left. */
  cursor: string | null;
}

/** One line of a search. */
export type SearchItem = FoundRecord | SearchEnd;

export interface HistogramQuery extends LogSelection, RecordFilter {
  /** Width of a bucket; chosen automatically if absent. */
  bucketMs?: number;
  /** Desired number of buckets if the width is chosen automatically. */
  buckets: number;
}

/** The records of one bucket. */
export interface HistogramBucket {
  /** Epoch milliseconds at which it begins. */
  startMs: number;
  /**
   * Records per level; those without a level count as `NONE`. Levels without records are absent.
   * @minimum 1
   */
  counts: Partial<Record<Level | 'NONE', number>>;
}

/** Counts per bucket of time and level. */
export interface Histogram {
  /** Width of a bucket in milliseconds. */
  bucketMs: number;
  /** Only buckets with records, in ascending order. */
  buckets: HistogramBucket[];
  /** Matching records without a timestamp. */
  untimed: number;
  end: ScanReport;
}

export interface DigestQuery extends LogSelection, RecordFilter {
  /** Maximum number of groups returned, the largest first. */
  limit: number;
  /** Marks groups of which there is no older record: in all logs that were selected, not only in the time range. */
  newSinceMs?: number;
  /** Only those marked new, and those of which it is not known. */
  onlyNew?: boolean;
}

/** Records of one level from one call site, or with one message pattern. */
export interface DigestGroup {
  /** Severity. */
  level: Level | null;
  /** `file:line` of the code that wrote them. */
  source: string | null;
  /** If there is no source: what the messages have in common, with what varies by type or by position replaced by `*`. */
  shape: string | null;
  /** Records. */
  count: number;
  /** Epoch milliseconds of the first. */
  firstMs: number | null;
  /** Epoch milliseconds of the last. */
  lastMs: number | null;
  /** Whether there is no older one than `newSince`, also outside of the time range. */
  isNew: boolean;
  /** Whether it is new is not known: the records before `newSince` were not all read, or it has no times. */
  isNewUnknown?: true;
  /** The newest record of the group. */
  sample: FoundRecord;
}

/** What groups were compared with: the matching records before `newSince`. */
export interface DigestBaseline {
  /** Epoch milliseconds of the oldest of them; `null` if there are none. */
  fromMs: number | null;
  /** Whether all of them were read. */
  isComplete: boolean;
  /** Why they were not. */
  detail?: string;
}

/** Records grouped by level and call site. */
export interface Digest {
  /** The largest first. */
  groups: DigestGroup[];
  /** Number of groups, including those not returned. */
  totalGroups: number;
  /** Records in no group because there were too many groups. */
  ungrouped: number;
  /** Present if `newSince` was given. */
  baseline?: DigestBaseline;
  end: ScanReport;
}

export interface FollowQuery extends LogSelection, RecordFilter {
  /**
   * Where to begin: now, `back` records back, at a time, or after a record. `sinceMs` is for logs that the cursor does
   * not name: they begin at that time, or at that of the newest record it names if this is earlier. If it is the cursor
   * of a `position`, they are new and begin at their start.
   */
  start: 'end' | { back: number } | { timeMs: number } | { cursor: string; sinceMs?: number };
  raw?: boolean;
  fields?: readonly string[];
}

/** The name refers to another file now; the rest of the old one has been emitted. */
export interface FollowRotated {
  type: 'rotated';
  /** The log. */
  family: string;
  /** Name of the old file, as far as it is known. */
  from: string;
  /** Name of the file followed now. */
  to: string;
}

/** The file became shorter; it is read from its start. */
export interface FollowTruncated {
  type: 'truncated';
  /** File name. */
  file: string;
  /** Bytes that were cut off before they could be read, if that is known. */
  lostBytes: number | null;
}

/** Records were not emitted. With both cursors they can be loaded by a search: after `after`, up to `until`. */
export interface FollowGap {
  type: 'gap';
  /** The log. */
  family: string;
  /** Why. */
  reason: 'slow' | 'truncated' | 'gone';
  /** Bytes not emitted, if that is known. */
  bytes: number | null;
  /** Cursor of the last record before the gap. */
  after: string | null;
  /** Cursor of the first record after it. */
  until: string | null;
}

/** For two seconds or more, over 1 MiB of the logs had been written and not emitted; or that is over. */
export interface FollowBehind {
  type: 'behind';
  /** How much it is, at least. 0: the follow has caught up. */
  behindBytes: number;
}

/** The file, or the directory, is currently missing. */
export interface FollowMissing {
  type: 'missing';
  /** The log. */
  family: string;
}

/**
 * The connection to the node was lost, or nothing came for too long; the follow continues after the last record that was
 * emitted. A client emits it, and a node for a member that is followed through it.
 */
export interface FollowReconnecting {
  type: 'reconnecting';
  /** Why it was lost. */
  reason: string;
  /** Milliseconds until it tries again. */
  waitMs: number;
  /** Whether nothing came for too long, not even a heartbeat. */
  isTimeout?: boolean;
  /** Whether the member said that it stops, after all it had. */
  isStopping?: boolean;
}

/**
 * Logs were left out because the node already follows as many as it may (`follow.max-logs`); or a member sent items that
 * the node following it, or a node sent items that the client, does not understand.
 */
export interface FollowSkipped {
  type: 'skipped';
  /** Logs, or items, left out. */
  count: number;
  /** Which, with the first of them, and why. */
  detail: string;
}

/** The last item. */
export interface FollowEnd {
  type: 'end';
  /** Why. */
  reason: 'cancelled' | 'stopping';
}

/** One item of a follow. */
export type FollowItem =
  | FoundRecord
  | FollowRotated
  | FollowTruncated
  | FollowGap
  | FollowBehind
  | FollowMissing
  | FollowReconnecting
  | FollowSkipped
  /** Where every log stands, for whoever asks for it: a follow that resumes there and after later records loses nothing. */
  | { type: 'position'; cursor: string }
  | FollowedText
  | FollowEnd;

/** Consecutive records of a file as they are in it, with secrets masked, for whoever asks for it: none of them is decoded. */
export interface FollowedText {
  type: 'text';
  file: string;
  /** Resumes after the last of them. */
  cursor: string;
  /** Where they begin in the file, and how many bytes they have there. */
  offset: number;
  bytes: number;
  /** Their text, as raw deflate in base64. */
  deflated: string;
  /** The first one is the rest of a record that was emitted before. */
  continued?: boolean;
  /** The first and the latest time of them. */
  timeMs?: number;
  lastMs?: number;
}

/** The first item of a batch of a follow that counts: the log of the batch, and how many of its records do not match. */
export interface CountedRecords {
  type: 'counted';
  family: string;
  /** By the minute of their time; its start is `NaN` for those without one. */
  minutes: HistogramBucket[];
}

export type CountedItem = FollowItem | CountedRecords;

/** What values of a field look like. */
export type FieldType = 'text' | 'number' | 'duration' | 'size' | 'boolean' | 'level';

export interface FieldsQuery extends LogSelection, RecordFilter {
  /** Maximum number of fields returned, those of the most records first. */
  limit: number;
}

/** A field of the examined records. */
export interface FieldSummary {
  /** As queries name it. */
  name: string;
  /** What its values look like, most frequent first; what less than 5 % of them look like is left out. */
  types: FieldType[];
  /** Examined records that have the field. */
  records: number;
  /** Number of different values. */
  distinct: number;
  /** Whether `distinct` is exact for the examined records; otherwise estimated, within a few percent. */
  isDistinctExact: boolean;
  /** Some of its values, the most frequent ones first. */
  examples: string[];
}

/** The fields of matching records. */
export interface Fields {
  /** Those of the most records first. */
  fields: FieldSummary[];
  /** Number of fields, including those not returned. */
  totalFields: number;
  /** Matching records that were examined. */
  records: number;
  /** Whether only a part of the range was examined because it is large: evenly chosen blocks. */
  isSample: boolean;
  end: ScanReport;
}

export interface TopQuery extends LogSelection, RecordFilter {
  /** The field. */
  by: string;
  /** Maximum number of values returned, the most frequent ones first. */
  limit: number;
  /** Count only these values; the others together. One that was cut counts all values that are shown like it. */
  values?: readonly string[];
  /** Also count over time: desired number of buckets, or their width. */
  buckets?: number;
  bucketMs?: number;
}

/** A value of the field. */
export interface TopValue {
  /** The value. */
  value: string;
  /** Matching records that have it; a lower bound if `error` is present. */
  count: number;
  /** The number of records is at most `count` plus this. Absent: the count is exact. */
  error?: number;
  /** Counts over time, exact, in ascending order; only if requested. */
  buckets?: {
    /** Epoch milliseconds at which it begins. */
    startMs: number;
    /** Records. */
    count: number;
  }[];
}

/** Counts by value of a field. A record with several values counts once for each. */
export interface Top {
  /** The field, as queries name it. */
  by: string;
  /** Most frequent first, equal counts by value. */
  values: TopValue[];
  /** Counts of all values that are not in the list, together. */
  others: number;
  /** Matching records without the field. */
  missing: number;
  /** Number of different values; estimated unless `isExact`. */
  distinct: number;
  /** Whether counts, order and `distinct` are exact for the covered range. */
  isExact: boolean;
  /** Width of a bucket in milliseconds; absent unless buckets were requested. */
  bucketMs?: number;
  end: ScanReport;
}

/*
 * A query as data: what the text of a query is parsed to, and what records are matched against. Plain JSON, so that it
 * can be sent to threads.
 */

type FieldScalar = string | number | boolean | null;

/** The value of a field in a response. A number only where it is written as in the log; a list if there are several. */
export type FieldJson = FieldScalar | FieldScalar[];

/** `=` is, `:` contains as whole words; the others compare numbers, durations, sizes and levels. */
export type FieldOperator = '=' | '!=' | ':' | '<' | '<=' | '>' | '>=';

/** Text that occurs anywhere in the record. */
export interface TextNode {
  kind: 'text';
  text: string;
  /** Absent: ignoring case. */
  caseSensitive?: true;
}

/** RE2 syntax, searched anywhere in the record; `^` and `$` match at its lines. */
export interface RegexNode {
  kind: 'regex';
  pattern: string;
  caseSensitive?: true;
}

/** A field compared with a value. A field with several values matches if one of them does. */
export interface FieldNode {
  kind: 'field';
  field: string;
  operator: FieldOperator;
  /** As written, without quotes and escapes. */
  value: string;
  /** `*` in the value stands for any text; only with `=`, `!=` and `:`. */
  wildcard?: true;
}

/** A field with a value in which the regex matches. */
export interface FieldRegexNode {
  kind: 'fieldRegex';
  field: string;
  pattern: string;
  caseSensitive?: true;
}

/** The record has the field. */
export interface ExistsNode {
  kind: 'exists';
  field: string;
}

export type QueryNode =
  | TextNode
  | RegexNode
  | FieldNode
  | FieldRegexNode
  | ExistsNode
  | { kind: 'not'; node: QueryNode }
  | { kind: 'and'; nodes: readonly QueryNode[] }
  | { kind: 'or'; nodes: readonly QueryNode[] };

/* What clients see of parsing: no types of Node.js, which browsers do not have. */

/**
 * The name of a built-in format or of one from the settings, behind the names of what is around its lines:
 * `docker+json`, `cri+ansi+iso`. A record of any format is its first line and its continuation lines.
 */
export type FormatName = string;

/** A record as columns. Missing columns are absent; the message is always present. */
export interface RecordFields {
  /** Epoch milliseconds. */
  timeMs?: number;
  /** Severity. */
  level?: Level;
  /** `file:line` of the code that wrote it. */
  source?: string;
  /** Names of the component that wrote it: bracketed tags, a logger's name, a program. */
  tags?: string[];
  /** Its text without the parsed columns; continuation lines included. */
  message: string;
  /** Fields of a structured record. Numbers are written as in the log. */
  context?: Record<string, unknown>;
  /**
   * The context as written in the log, JSON on one line: only if `context` does not serialize to the same tokens,
   * because of numbers that are too large or written like `1.0`, duplicate keys, or numeric keys.
   */
  contextText?: string;
}
