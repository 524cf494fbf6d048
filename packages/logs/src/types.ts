export type { LogErrorCode } from './log-error.ts';

/** Severity in rising order. */
export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL';

/** One file of the log directory, exactly the fields of the contract. */
export interface LogEntry {
  name: string;
  /** Bytes on disk. */
  size: number;
}

/** A file with what its name and both of its ends show. */
export interface LogFileDetails extends LogEntry {
  modifiedMs: number;
  /** The log it belongs to: the name of its live file, or the name that would have. */
  family: string;
  /** Being written, or rotated. */
  state: 'live' | 'rotated';
  compressed: boolean;
  /** The name of the detected format, or `binary`, `empty`, or with a `problem` `unreadable`. */
  format: string;
  /** Epoch ms of the first timestamp near the start; `null` if there is none. */
  firstTimeMs: number | null;
  /**
   * Epoch ms of the last timestamp near the end; `null` if there is none, and for a compressed file until it was
   * determined in the background.
   */
  lastTimeMs: number | null;
  /** Why the file could not be read, or `null`. */
  problem: string | null;
  /** What its lines were read as: only of a file that was asked for by name. */
  learned?: LearnedFormat;
}

/** What the lines of a file are read as, learned from its first and last 64 KiB. */
export interface LearnedFormat {
  /** Sentences about the format, its times, level, zone, and how many lines fit. */
  facts: FormatFact[];
  /** A few records, whose parts in order are the line. */
  samples: LinePart[][];
  /** The first lines that neither start a record nor are indented: they continue the record above them. */
  unfit: string[];
  /** A definition for `log.formats` in TOML to start from. */
  example: string;
}

export interface FormatFact {
  label: string;
  text: string;
  /** It was guessed or assumed, or nothing was found. */
  doubt?: true;
}

export interface LinePart {
  kind: 'time' | 'level' | 'origin' | 'message' | 'other';
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

/** Which files to query: one, one family (a live file and its rotated files), or all of the directory. */
export interface LogSelection {
  file?: string;
  /** Name of the family, as in the details of its files. */
  family?: string;
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
  /** Cursor of the record to stop before. */
  until?: string;
  /** Include the original text of the record. */
  raw?: boolean;
  /** Include these fields of the record; `*`: all. */
  fields?: readonly string[];
}

/** A record and its position. */
export interface FoundRecord extends RecordFields {
  type: 'record';
  file: string;
  /** In the uncompressed text. */
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
  raw?: string;
  /** The requested ones that it has, by name. */
  fields?: Record<string, FieldJson>;
  before?: FoundRecord[];
  after?: FoundRecord[];
}

export interface FileProblem {
  file: string;
  code: string;
  detail: string;
}

/** A file that was not read because another one contains all of its text: it is being copied or compressed. */
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
  /** Bytes of text scanned, each counted once, and bytes known from earlier scans to contain no match. */
  scannedBytes: number;
  skippedBytes: number;
  /**
   * Bytes neither scanned nor known: according to a few probed times, they are outside the time range. A record there
   * that is more than a minute out of order would be missing. Absent in the responses of older nodes.
   */
  unreadBytes?: number;
  scannedFiles: number;
  /**
   * The time range, both ends included, for which the response contains every matching record of the files that are not
   * among the problems. `null`: there is none. Records without a time are in no range.
   */
  coveredFromMs: number | null;
  coveredToMs: number | null;
  /** Files that could not be read, or only in part, and why. */
  problems: FileProblem[];
  /**
   * Present if records may be missing because a node serves only the ends of its files: what the response is based on.
   */
  limits?: string;
  /** Files that were left out because another one contains all of their text; absent if there are none. */
  duplicates?: DuplicateFile[];
  /** Continues exactly where this response stopped; `null` if there is nothing left. */
  cursor: string | null;
  elapsedMs: number;
}

export type SearchItem = FoundRecord | SearchEnd;

export interface HistogramQuery extends LogSelection, RecordFilter {
  /** Width of a bucket; chosen automatically if absent. */
  bucketMs?: number;
  /** Desired number of buckets if the width is chosen automatically. */
  buckets: number;
}

export interface HistogramBucket {
  startMs: number;
  /** Records per level; those without a level count as `NONE`. Levels without records are absent. */
  counts: Partial<Record<Level | 'NONE', number>>;
}

export interface Histogram {
  bucketMs: number;
  /** Only buckets with records, in ascending order. */
  buckets: HistogramBucket[];
  /** Matching records without a time. */
  untimed: number;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
}

export interface DigestQuery extends LogSelection, RecordFilter {
  /** Maximum number of groups returned, the largest first. */
  limit: number;
  /** Marks groups of which there is no older record: in all logs that were selected, not only in the time range. */
  newSinceMs?: number;
  /** Only those marked new, and those of which it is not known. */
  onlyNew?: boolean;
}

export interface DigestGroup {
  level: Level | null;
  source: string | null;
  /** If there is no source: what the messages have in common, with what varies by type or by position replaced by `*`. */
  shape: string | null;
  count: number;
  firstMs: number | null;
  lastMs: number | null;
  isNew: boolean;
  /** Present if the records before `newSinceMs` were not all read and have no such group so far, or if it has no times. */
  isNewUnknown?: true;
  /** The newest record of the group. */
  sample: FoundRecord;
}

/** What groups were compared with: the matching records before `newSinceMs`. */
export interface DigestBaseline {
  /** Time of the oldest of them; `null` if there are none. */
  fromMs: number | null;
  /** Whether all of them were read. */
  isComplete: boolean;
  /** Why they were not. */
  detail?: string;
}

export interface Digest {
  groups: DigestGroup[];
  /** Number of groups, including those not returned. */
  totalGroups: number;
  /** Records in no group because there were too many groups. */
  ungrouped: number;
  /** Present if `newSinceMs` was given. */
  baseline?: DigestBaseline;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
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

export type FollowItem =
  | FoundRecord
  /** The name refers to another file now; the rest of the old one has been emitted. */
  | { type: 'rotated'; family: string; from: string; to: string }
  /** The file became shorter; it is read from its start. */
  | { type: 'truncated'; file: string; lostBytes: number | null }
  /** Records were not emitted. With cursors they can be loaded: after `after`, up to `until`. */
  | {
      type: 'gap';
      family: string;
      reason: 'slow' | 'truncated' | 'gone';
      bytes: number | null;
      after: string | null;
      until: string | null;
    }
  /** The file, or the directory, is currently missing. */
  | { type: 'missing'; family: string }
  /**
   * Emitted by a client: the connection was lost, or nothing came for too long. After `waitMs` it continues after the last
   * record it emitted. `isStopping`: the node has said goodbye, after all it had.
   */
  | { type: 'reconnecting'; reason: string; waitMs: number; isTimeout?: boolean; isStopping?: boolean }
  /**
   * Logs beyond the limit on followed logs were left out; emitted by a client: items of the node that it does not
   * understand.
   */
  | { type: 'skipped'; count: number; detail: string }
  /** Where every log stands, for whoever asks for it: a follow that resumes there and after later records loses nothing. */
  | { type: 'position'; cursor: string }
  | FollowedText
  /** The last item. */
  | { type: 'end'; reason: 'cancelled' | 'stopping' };

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

export interface FieldSummary {
  /** As queries name it. */
  name: string;
  /** Most frequent first; those of less than 5 % of its values are left out. */
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
  fields: FieldSummary[];
  /** Number of fields, including those not returned. */
  totalFields: number;
  /** Matching records that were examined. */
  records: number;
  /** Whether only a part of the range was examined because it is large: evenly chosen blocks. */
  isSample: boolean;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
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

export interface TopValue {
  value: string;
  /** Matching records that have it; a lower bound if `error` is present. */
  count: number;
  /** Absent: exact. The number of records is at most `count + error`. */
  error?: number;
  /** Counts over time, exact, in ascending order; only if requested. */
  buckets?: { startMs: number; count: number }[];
}

/** Counts by value of a field. A record with several values counts once for each. */
export interface Top {
  by: string;
  /** Ordered by count, equal counts by value. */
  values: TopValue[];
  /** Counts of all values that are not in the list, together. */
  others: number;
  /** Matching records without the field. */
  missing: number;
  /** Number of different values; estimated unless `isExact`. */
  distinct: number;
  /** Whether counts, order and `distinct` are exact for the covered range. */
  isExact: boolean;
  /** Width of the buckets, if requested. */
  bucketMs?: number;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
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
  timeMs?: number;
  level?: Level;
  /** `file:line` of the code that wrote it. */
  source?: string;
  /** Names of the component that wrote it: bracketed tags, a logger's name, a program. */
  tags?: string[];
  message: string;
  context?: Record<string, unknown>;
  /**
   * The context as written in the log, JSON on one line: only if `context` does not serialize to the same tokens,
   * because of numbers that are too large or written like `1.0`, duplicate keys, or numeric keys.
   */
  contextText?: string;
}
