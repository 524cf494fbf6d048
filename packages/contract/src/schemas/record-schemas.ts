import { LEVELS } from '../records/levels.ts';
import {
  bool,
  exactObject,
  integer,
  type JsonSchema,
  listOf,
  nullableInteger,
  nullableText,
  oneOf,
  type Properties,
  ref,
  text,
} from './schema-builders.ts';

/** Present and true, or absent. */
export const mark = (description: string): JsonSchema => ({ const: true, description });

export const END_REASON = oneOf('Why it ended.', ['exhausted', 'limit', 'time budget', 'cancelled']);

/** Coverage: what was scanned and found. The closing record of every response about records has it. */
const covered: Properties = {
  reason: END_REASON,
  records: integer('Records that match and were told or counted.'),
  scannedBytes: integer('Bytes of text scanned; each counts once.'),
  skippedBytes: integer('Bytes known from earlier scans to hold nothing asked for.'),
  scannedFiles: integer('Files scanned.'),
  coveredFromMs: nullableInteger(
    'Epoch milliseconds of the start of the time range, both ends included, of which every matching record is in the response. Null: there is none.',
  ),
  coveredToMs: nullableInteger('Epoch milliseconds of the end of that time range, which is included.'),
  problems: listOf(ref('FileProblem'), 'Files that could not be read, or not wholly.'),
  elapsedMs: integer('Milliseconds it took.'),
};

/** Absent where there is nothing to report, or from an older node. */
const coveredOptionally: Properties = {
  unreadBytes: integer(
    'Bytes not read because the time range lies elsewhere in the files. A record there that is more than a minute out of order would be missing.',
  ),
  limits: text(
    'Present when records may be missing because the node serves only the ends of its files: what the response is made from.',
  ),
  duplicates: listOf(ref('DuplicateFile'), 'Files that were left out because another one has all of their text.'),
};

/** What a follow tells beside records. */
export const FOLLOW_EVENTS: readonly JsonSchema[] = [
  exactObject('The name leads to another file now; what was left of the old one has been told.', {
    type: { const: 'rotated' },
    family: text('The log.'),
    from: text('Name of the old file, as far as it is known.'),
    to: text('Name of the file followed now.'),
  }),
  exactObject('The file became shorter; it is read from its start.', {
    type: { const: 'truncated' },
    file: text('File name.'),
    lostBytes: nullableInteger('Bytes that were cut off before they could be read, if that is known.'),
  }),
  exactObject('Records were not told. With both cursors they can be loaded by a search.', {
    type: { const: 'gap' },
    family: text('The log.'),
    reason: oneOf('Why.', ['slow', 'truncated', 'gone']),
    bytes: nullableInteger('Bytes not told, if that is known.'),
    after: nullableText('Cursor of the last record before the gap.'),
    until: nullableText('Cursor of the first record behind it.'),
  }),
  exactObject('The file, or the directory, is not there at the moment.', {
    type: { const: 'missing' },
    family: text('The log.'),
  }),
  exactObject(
    'A member that is followed through another node: that one lost the connection, and goes on behind the last record.',
    {
      type: { const: 'reconnecting' },
      reason: text('Why it was lost.'),
      waitMs: integer('Milliseconds until it tries again.'),
    },
  ),
  exactObject(
    'Logs were left out, because as many as the node follows at the same time are followed (`follow.max-logs`); or a member sent items that make no sense to the node that follows it.',
    {
      type: { const: 'skipped' },
      count: integer('Logs, or items, left out.'),
      detail: text('Which, with the first of them, and why.'),
    },
  ),
];

/** The shapes of what is told about records. */
export const RECORD_SCHEMAS = {
  FoundRecord: exactObject(
    'A record and where it stands.',
    {
      type: { const: 'record' },
      file: text('File it was found in.'),
      offset: integer('Where it starts in the uncompressed text, in bytes.'),
      bytes: integer('Its length in bytes, its last newline included.'),
      cursor: text('Names this record, also after rotation and compression.'),
      message: text('What it says, without the columns told apart; continuation lines included.'),
    },
    {
      timeMs: integer('Epoch milliseconds.'),
      level: oneOf('Severity.', LEVELS),
      source: text('`file:line` of the code that wrote it.'),
      tags: listOf({ type: 'string' }, 'Names of the component that wrote it.'),
      context: {
        type: 'object',
        additionalProperties: true,
        description: 'Fields of a structured record. Numbers are written as the log has them.',
      },
      contextText: text(
        'The context as text, as the log has it: only where a JSON parser may change it (large numbers, `1.0`, equal or numeric keys).',
      ),
      cut: mark('The text is longer than what is shown: read the rest by its offset.'),
      continued: mark('Not the start of a record: the next part of one that is too long to be one.'),
      unfinished: mark('Follow: its line has no end yet; the rest comes as a continued record.'),
      raw: text('Its text as it stands in the file.'),
      before: listOf(ref('FoundRecord'), 'Records before it.'),
      after: listOf(ref('FoundRecord'), 'Records after it.'),
    },
  ),
  DuplicateFile: exactObject('A file that was left out because another one has all of its text.', {
    file: text('File name.'),
    sameAs: text('The file that was read instead.'),
  }),
  FileProblem: exactObject('A file that could not be read, or not wholly.', {
    file: text('File name.'),
    code: text('What kind of problem it is.'),
    detail: text('What was wrong.'),
  }),
  SearchEnd: exactObject(
    'The closing record of every search: why it ended and its coverage.',
    {
      type: { const: 'end' },
      ...covered,
      cursor: nullableText('Goes on exactly where this answer stopped; null when nothing is left.'),
    },
    coveredOptionally,
  ),
  SearchItem: { description: 'One line of a search.', oneOf: [ref('FoundRecord'), ref('SearchEnd')] },
  ScanReport: exactObject('Why a count ended and its coverage.', covered, coveredOptionally),
  HistogramBucket: exactObject('The records of one stretch of time.', {
    startMs: integer('Epoch milliseconds at which it begins.'),
    counts: exactObject('Records per level; levels without records are absent.', {}, countsByLevel()),
  }),
  Histogram: exactObject('Counts per stretch of time and level.', {
    bucketMs: integer('Width of a bucket in milliseconds.'),
    buckets: listOf(ref('HistogramBucket'), 'Those with records, in rising order.'),
    untimed: integer('Records that match but have no time.'),
    end: ref('ScanReport'),
  }),
  DigestGroup: exactObject('Records of one level from one place in the code, or of one shape.', {
    level: { type: ['string', 'null'], enum: [...LEVELS, null], description: 'Severity.' },
    source: nullableText('`file:line` of the code that wrote them.'),
    shape: nullableText('Where there is no source: the message, its changing parts replaced by `*`.'),
    count: integer('Records.'),
    firstMs: nullableInteger('Epoch milliseconds of the first.'),
    lastMs: nullableInteger('Epoch milliseconds of the last.'),
    isNew: bool('Whether the first is not older than `newSince`.'),
    sample: ref('FoundRecord'),
  }),
  Digest: exactObject('Records grouped by level and place in the code.', {
    groups: listOf(ref('DigestGroup'), 'The largest first.'),
    totalGroups: integer('Groups there are, told or not.'),
    ungrouped: integer('Records of groups that were given up because there were too many.'),
    end: ref('ScanReport'),
  }),
  FollowItem: {
    description: 'The data of one event; its `type` is the name of the event.',
    oneOf: [
      ref('FoundRecord'),
      ...FOLLOW_EVENTS,
      exactObject('The last event.', {
        type: { const: 'end' },
        reason: oneOf('Why.', ['cancelled', 'stopping']),
      }),
    ],
  },
} as const satisfies Record<string, JsonSchema>;

function countsByLevel(): Properties {
  const levels = [...LEVELS, 'NONE'] as const;
  return Object.fromEntries(levels.map((level) => [level, { type: 'integer', minimum: 1 }]));
}
