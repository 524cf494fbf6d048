import { LEVELS } from '@porthole/logs/query';
import type {
  Digest,
  DigestBaseline,
  DigestGroup,
  DuplicateFile,
  FieldJson,
  FieldSummary,
  FieldType,
  FileProblem,
  FollowItem,
  FormatFact,
  FoundRecord,
  Histogram,
  HistogramBucket,
  LearnedFormat,
  Level,
  LinePart,
  LogEntry,
  Fields as LogFields,
  LogFileDetails,
  SearchEnd,
  Top,
  TopValue,
} from '@porthole/logs/types';
import { archivePart, coverageField } from './member-schemas.ts';
import type { QueryExplanation, ResponseTypes, SentTypes } from './response-types.ts';
import {
  anyOf,
  bool,
  constant,
  exactObject,
  extendedObject,
  type Fields,
  integer,
  listOf,
  mapOf,
  mark,
  nullable,
  nullableInteger,
  nullableText,
  type OptionalFields,
  oneOf,
  ref,
  type Schema,
  text,
} from './schema-builders.ts';

/** Responses about files. */
export const LOG_SCHEMAS = {
  LogEntry: exactObject<LogEntry>('One file of the log directory.', {
    name: text('File name.'),
    size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  }),
  LogList: listOf(ref('LogEntry'), 'Every log file, ordered by name.'),
  LogFile: exactObject<LogFileDetails>(
    'One file of the log directory in detail.',
    {
      name: text('File name.'),
      size: integer('Size in bytes.'),
      modifiedMs: integer('Epoch milliseconds of the last write.'),
      compressed: bool(
        'Whether it is compressed, by the ending of its name. The text of .gz, .zst, .xz and .bz2 files is read.',
      ),
      family: text('The log it belongs to: the name of its live file.'),
      state: oneOf('Whether it is being written or was rotated.', ['live', 'rotated']),
      format: text('The detected format; "binary", "empty" and "unreadable" are files without one.'),
      firstTimeMs: nullableInteger('Epoch milliseconds of the first timestamp, if one was found.'),
      lastTimeMs: nullableInteger(
        'Epoch milliseconds of the last timestamp, if one was found; of a compressed file, once its end was read.',
      ),
      problem: nullableText('Why the file could not be read.'),
    },
    { learned: ref('LearnedFormat') },
  ),
  LearnedFormat: exactObject<LearnedFormat>('What the lines of a file are read as; only of a file asked for by name.', {
    facts: listOf(
      exactObject<FormatFact>(
        'A sentence.',
        { label: text('What it is about: Format, Time, Level ...'), text: text('The sentence.') },
        { doubt: mark('It was guessed or assumed, or nothing was found.') },
      ),
    ),
    samples: listOf(
      listOf(
        exactObject<LinePart>('A part of a line.', {
          kind: oneOf('What it is.', ['time', 'level', 'origin', 'message', 'other']),
          text: text('The text; a long one is cut.'),
        }),
      ),
      'A few records, as the parts of their first lines.',
    ),
    unfit: listOf(text('A line; a long one is cut.'), 'The first lines that neither start a record nor are indented.'),
    example: text('A definition for `log.formats` in TOML to start from.'),
  }),
  LogFiles: listOf(ref('LogFile'), 'Every log file, ordered by name.'),
} satisfies { [Name in 'LogEntry' | 'LogList' | 'LogFile' | 'LogFiles' | 'LearnedFormat']: Schema<SentTypes[Name]> };

export const END_REASON = oneOf('Why it ended.', ['exhausted', 'limit', 'time budget', 'cancelled']);

type Coverage = Histogram['end'];

/** What was scanned and found. The closing record of every response about records has it. */
const coverage: Fields<Coverage> = {
  reason: END_REASON,
  records: integer('Matching records that were returned or counted.'),
  scannedBytes: integer('Bytes of text scanned; each counts once.'),
  skippedBytes: integer('Bytes known from earlier scans to contain no match.'),
  scannedFiles: integer('Files scanned.'),
  coveredFromMs: nullableInteger(
    'Epoch milliseconds of the start of the time range, both ends included, of which every matching record is in the response. Null: there is none.',
  ),
  coveredToMs: nullableInteger('Epoch milliseconds of the end of that time range, which is included.'),
  problems: listOf(ref('FileProblem'), 'Files that could not be read, or only in part.'),
  elapsedMs: integer('Milliseconds it took.'),
};

/** Absent where there is nothing to report, or from an older node. */
const optionalCoverage: OptionalFields<Coverage> = {
  unreadBytes: integer(
    'Bytes not read because the time range lies elsewhere in the files. A record there that is more than a minute out of order would be missing.',
  ),
  limits: text(
    'Present when records may be missing because the node serves only the ends of its files: what the response is based on.',
  ),
  duplicates: listOf(ref('DuplicateFile'), 'Files that were left out because another one contains all of their text.'),
};

type FollowEvent<Type extends FollowItem['type']> = Extract<FollowItem, { type: Type }>;

/** What a follow emits besides records. */
export const FOLLOW_EVENTS = [
  exactObject<FollowEvent<'rotated'>>(
    'The name refers to another file now; the rest of the old one has been emitted.',
    {
      type: constant('rotated'),
      family: text('The log.'),
      from: text('Name of the old file, as far as it is known.'),
      to: text('Name of the file followed now.'),
    },
  ),
  exactObject<FollowEvent<'truncated'>>('The file became shorter; it is read from its start.', {
    type: constant('truncated'),
    file: text('File name.'),
    lostBytes: nullableInteger('Bytes that were cut off before they could be read, if that is known.'),
  }),
  exactObject<FollowEvent<'gap'>>('Records were not emitted. With both cursors they can be loaded by a search.', {
    type: constant('gap'),
    family: text('The log.'),
    reason: oneOf('Why.', ['slow', 'truncated', 'gone']),
    bytes: nullableInteger('Bytes not emitted, if that is known.'),
    after: nullableText('Cursor of the last record before the gap.'),
    until: nullableText('Cursor of the first record after it.'),
  }),
  exactObject<FollowEvent<'missing'>>('The file, or the directory, is currently missing.', {
    type: constant('missing'),
    family: text('The log.'),
  }),
  exactObject<FollowEvent<'reconnecting'>>(
    'A member that is followed through another node: that node lost the connection, and will continue after the last record.',
    {
      type: constant('reconnecting'),
      reason: text('Why it was lost.'),
      waitMs: integer('Milliseconds until it tries again.'),
    },
    {
      isTimeout: bool('Whether nothing came for too long, not even a heartbeat.'),
      isStopping: bool('Whether the member said that it stops, after all it had.'),
    },
  ),
  exactObject<FollowEvent<'skipped'>>(
    'Logs were left out because the node already follows as many as it may (`follow.max-logs`); or a member sent items that the node following it does not understand.',
    {
      type: constant('skipped'),
      count: integer('Logs, or items, left out.'),
      detail: text('Which, with the first of them, and why.'),
    },
  ),
] as const;

export const FOLLOW_END = exactObject<FollowEvent<'end'>>('The last event.', {
  type: constant('end'),
  reason: oneOf('Why.', ['cancelled', 'stopping']),
});

const SCALAR_TYPES = ['string', 'number', 'boolean', 'null'];

const FIELD_VALUE: Schema<FieldJson> = {
  type: [...SCALAR_TYPES, 'array'],
  items: { type: SCALAR_TYPES },
  description: 'The value; a list if there are several. A number only where it is written as in the log.',
};

/** Responses about records. */
export const RECORD_SCHEMAS = {
  FoundRecord: exactObject<FoundRecord>(
    'A record and its position.',
    {
      type: constant('record'),
      file: text('File it was found in.'),
      offset: integer('Where it starts in the uncompressed text, in bytes.'),
      bytes: integer('Its length in bytes, including its last newline.'),
      cursor: text('Identifies this record, also after rotation and compression.'),
      message: text('Its text without the parsed columns; continuation lines included.'),
    },
    {
      timeMs: integer('Epoch milliseconds.'),
      level: oneOf('Severity.', LEVELS),
      source: text('`file:line` of the code that wrote it.'),
      tags: listOf({ type: 'string' }, 'Names of the component that wrote it.'),
      context: {
        type: 'object',
        additionalProperties: true,
        description: 'Fields of a structured record. Numbers are written as in the log.',
      },
      contextText: text(
        'The context as text, as in the log: only where a JSON parser may change it (large numbers, `1.0`, equal or numeric keys).',
      ),
      cut: mark('The text is longer than what is shown: read the rest by its offset.'),
      continued: mark('Not the start of a record: the next part of one that was split because of its length.'),
      unfinished: mark('Follow: its line is incomplete; the rest follows as a continued record.'),
      raw: text('Its text exactly as in the file.'),
      fields: mapOf(FIELD_VALUE, 'Those of the requested fields that it has, by name.'),
      before: listOf(ref('FoundRecord'), 'Records before it.'),
      after: listOf(ref('FoundRecord'), 'Records after it.'),
    },
  ),
  DuplicateFile: exactObject<DuplicateFile>('A file that was left out because another one contains all of its text.', {
    file: text('File name.'),
    sameAs: text('The file that was read instead.'),
  }),
  FileProblem: exactObject<FileProblem>('A file that could not be read, or only in part.', {
    file: text('File name.'),
    code: text('Error code.'),
    detail: text('What is wrong.'),
  }),
  SearchEnd: exactObject<SearchEnd>(
    'The closing record of every search: why it ended and its coverage.',
    {
      type: constant('end'),
      ...coverage,
      cursor: nullableText('Continues exactly where this response stopped; null when nothing is left.'),
    },
    optionalCoverage,
  ),
  SearchItem: anyOf('One line of a search.', [ref('FoundRecord'), ref('SearchEnd')]),
  ScanReport: exactObject<Coverage>('Why a count ended and its coverage.', coverage, optionalCoverage),
  HistogramBucket: exactObject<HistogramBucket>('The records of one bucket.', {
    startMs: integer('Epoch milliseconds at which it begins.'),
    counts: exactObject<HistogramBucket['counts']>(
      'Records per level; levels without records are absent.',
      {},
      countsByLevel(),
    ),
  }),
  Histogram: exactObject<Histogram>('Counts per bucket of time and level.', {
    bucketMs: integer('Width of a bucket in milliseconds.'),
    buckets: listOf(ref('HistogramBucket'), 'Those with records, in rising order.'),
    untimed: integer('Matching records without a timestamp.'),
    end: ref('ScanReport'),
  }),
  DigestGroup: exactObject<DigestGroup>(
    'Records of one level from one call site, or with one message pattern.',
    {
      level: { type: ['string', 'null'], enum: [...LEVELS, null], description: 'Severity.' },
      source: nullableText('`file:line` of the code that wrote them.'),
      shape: nullableText('Without a source: what the messages have in common, with `*` for what varies.'),
      count: integer('Records.'),
      firstMs: nullableInteger('Epoch milliseconds of the first.'),
      lastMs: nullableInteger('Epoch milliseconds of the last.'),
      isNew: bool('Whether there is no older one than `newSince`, also outside of the time range.'),
      sample: ref('FoundRecord'),
    },
    {
      isNewUnknown: mark('Whether it is new is not known: the older records were not all read, or it has no times.'),
    },
  ),
  DigestBaseline: exactObject<DigestBaseline>(
    'What groups were compared with: matching records older than `newSince`.',
    {
      fromMs: nullableInteger('Epoch milliseconds of the oldest of them; null if there are none.'),
      isComplete: bool('Whether all of them were read.'),
    },
    { detail: text('Why they were not.') },
  ),
  Digest: exactObject<Digest>(
    'Records grouped by level and call site.',
    {
      groups: listOf(ref('DigestGroup'), 'The largest first.'),
      totalGroups: integer('Number of groups, including those not returned.'),
      ungrouped: integer('Records of groups that were discarded because there were too many.'),
      end: ref('ScanReport'),
    },
    { baseline: ref('DigestBaseline') },
  ),
  FollowItem: anyOf('The data of one event; its `type` is the name of the event.', [
    ref('FoundRecord'),
    ...FOLLOW_EVENTS,
    FOLLOW_END,
  ]),
} satisfies { [Name in RecordSchemaName]: Schema<SentTypes[Name]> };

type RecordSchemaName =
  | 'FoundRecord'
  | 'DuplicateFile'
  | 'FileProblem'
  | 'SearchEnd'
  | 'SearchItem'
  | 'ScanReport'
  | 'HistogramBucket'
  | 'Histogram'
  | 'DigestGroup'
  | 'DigestBaseline'
  | 'Digest'
  | 'FollowItem';

function countsByLevel(): OptionalFields<HistogramBucket['counts']> {
  const levels: (Level | 'NONE')[] = [...LEVELS, 'NONE'];
  return Object.fromEntries(
    levels.map((level) => [level, { type: 'integer', minimum: 1 }]),
  ) as unknown as OptionalFields<HistogramBucket['counts']>;
}

const FIELD_TYPES: readonly FieldType[] = ['text', 'number', 'duration', 'size', 'boolean', 'level'];

const BUCKET = exactObject<{ startMs: number; count: number }>('One bucket of time.', {
  startMs: integer('Epoch milliseconds at which it begins.'),
  count: integer('Records.'),
});

const fields = {
  totalFields: integer('Number of fields, including those not returned.'),
  records: integer('Matching records that were examined.'),
  isSample: bool('Whether only parts of the range were examined, evenly chosen, because it is large.'),
};

const counts = {
  by: text('The field, as queries name it.'),
  others: integer('Counts of all values that are not in the list, together.'),
  missing: integer('Matching records without the field.'),
  distinct: integer('Number of different values; an estimate unless `isExact`.'),
  isExact: bool('Whether counts, order and `distinct` are exact for the covered range.'),
};

const BUCKET_MS = integer('Width of a bucket in milliseconds; absent unless buckets were requested.');

const ofMembers = {
  counted: nullable(
    ref('CountedPart'),
    'Where a member ran out of time: the part that every member that responded has counted. Null: everything.',
  ),
  members: listOf(ref('MemberReport'), 'One per queried member.'),
  ...coverageField,
};

const byMember = mapOf({ type: 'integer' } as Schema<number>, 'Records per member; members without any are absent.');

const SUMMARY = exactObject<FieldSummary>('A field of the examined records.', {
  name: text('As queries name it.'),
  types: listOf(
    oneOf('What values look like.', FIELD_TYPES),
    'Most frequent first; those of less than 5 % of its values are left out.',
  ),
  records: integer('Examined records that have the field.'),
  distinct: integer('Number of different values.'),
  isDistinctExact: bool('Whether `distinct` is exact for the examined records; otherwise estimated.'),
  examples: listOf({ type: 'string' } as Schema<string>, 'Some of its values, the most frequent ones first.'),
});

const VALUE = exactObject<TopValue>(
  'A value of the field.',
  {
    value: text('The value.'),
    count: integer('Matching records that have it; a lower bound if `error` is present.'),
  },
  {
    error: integer('The number of records is at most `count` plus this. Absent: the count is exact.'),
    buckets: listOf(BUCKET, 'Counts over time, in rising order; only if requested.'),
  },
);

/** Responses about fields. */
export const FIELD_SCHEMAS = {
  FieldSummary: SUMMARY,
  Fields: exactObject<LogFields>('The fields of matching records.', {
    fields: listOf(ref('FieldSummary'), 'Those of the most records first.'),
    ...fields,
    end: ref('ScanReport'),
  }),
  TopValue: VALUE,
  Top: exactObject<Top>(
    'Counts by value of a field. A record with several values counts once for each.',
    {
      ...counts,
      values: listOf(ref('TopValue'), 'Most frequent first, equal counts by value.'),
      end: ref('ScanReport'),
    },
    { bucketMs: BUCKET_MS },
  ),
  QueryExplanation: exactObject<QueryExplanation>('A query in words.', {
    query: text('The query as this version writes it; empty if every record matches.'),
    words: text('What it asks for, in English.'),
  }),
  ClusterFields: exactObject<SentTypes['ClusterFields']>(
    'The fields of matching records of all members.',
    {
      fields: listOf(
        extendedObject<ResponseTypes['FieldSummary'], { nodes: Record<string, number> }>(SUMMARY, 'A field.', {
          nodes: byMember,
        }),
        'Those of the most records first. Where several members have a field and `distinct` is not exact, it is a minimum.',
      ),
      ...fields,
      ...ofMembers,
    },
    archivePart,
  ),
  ClusterTop: exactObject<SentTypes['ClusterTop']>(
    'Counts by value of a field, of all members.',
    {
      ...counts,
      values: listOf(
        extendedObject<ResponseTypes['TopValue'], { nodes: Record<string, number> }>(VALUE, 'A value of the field.', {
          nodes: byMember,
        }),
        'Most frequent first, equal counts by value.',
      ),
      ...ofMembers,
    },
    { bucketMs: BUCKET_MS, ...archivePart },
  ),
} satisfies { [Name in FieldSchemaName]: Schema<SentTypes[Name]> };

type FieldSchemaName =
  | 'FieldSummary'
  | 'Fields'
  | 'TopValue'
  | 'Top'
  | 'QueryExplanation'
  | 'ClusterFields'
  | 'ClusterTop';
