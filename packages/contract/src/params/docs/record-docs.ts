import { MAX_REGEX_BYTES, MAX_TERM_BYTES } from '../../query/query-limits.ts';
import {
  type FILE_ROWS,
  type FILTER_ROWS,
  MAX_TERMS,
  type RANGE_ROWS,
  type SELECTION_ROWS,
  type VIEW_ROWS,
} from '../log-parameters.ts';
import type { DocsOf } from '../parameter.ts';
import {
  type BUDGET_ROW,
  type FIELDS_ROW,
  type FOLLOW_ROWS,
  type LAST_EVENT_ID_ROW,
  MAX_BACK_RECORDS,
  MAX_CONTEXT_RECORDS,
  type PAGE_ROWS,
  type POSITION_ROWS,
  type RAW_ROW,
} from '../record-parameters.ts';

const BY_ARGUMENT = { absent: 'the WHERE argument names logs and files' };

export const SELECTION_DOCS: DocsOf<typeof SELECTION_ROWS> = {
  file: {
    meaning: 'One file, by name. Without `file` and `family`, all files; not both.',
    proto: 'file',
    cli: BY_ARGUMENT,
  },
  family: {
    meaning:
      'One log: the live file and its rotated and compressed files, by the family name that `/api/v1/log/files` returns.',
    proto: 'family',
    cli: BY_ARGUMENT,
  },
};

export const FILTER_DOCS: DocsOf<typeof FILTER_ROWS> = {
  from: {
    meaning:
      'Records at or after this time: RFC 3339, `2026-11-15 14:05`, `14:05`, `yesterday 18:00`, `15m` (15 minutes ago), epoch seconds or ms.',
    proto: 'from_ms',
    cli: {
      long: 'since',
      short: 'S',
      value: 'time',
      about:
        'at or after this time: RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00, 15m (15 minutes ago) or epoch seconds',
    },
  },
  to: {
    meaning: 'Records before this time, written like `from`.',
    proto: 'to_ms',
    cli: { long: 'until', short: 'U', value: 'time', about: 'before this time, same format as --since' },
  },
  level: {
    meaning:
      'This level or a higher one; letter case is ignored, other common names such as `warning`, `err` or `critical` are accepted too. Records without a level never match.',
    proto: 'min_level',
    cli: { long: 'level', short: 'l', value: 'level', about: 'this level and above' },
  },
  q: {
    meaning: `A text that must occur in the record. Repeat to require all. \`q\` and \`not\` together at most ${MAX_TERMS} times, each at most ${MAX_TERM_BYTES} bytes.`,
    proto: 'terms',
    cli: { long: 'grep', short: 'g', value: 'text', about: 'containing TEXT, ignoring case; repeat to require all' },
  },
  regex: {
    meaning: `A regular expression that must match somewhere in the record, in RE2 syntax, so that no pattern can stall the node; at most ${MAX_REGEX_BYTES} bytes.`,
    proto: 'regex',
    cli: { long: 'regex', short: 'E', value: 'pattern', about: 'matching this regular expression (RE2 syntax)' },
  },
  not: {
    meaning: 'A text that must not occur in the record. Repeat to exclude several.',
    proto: 'excluded',
    cli: {
      long: 'exclude',
      short: 'e',
      value: 'text',
      about: 'not containing TEXT, ignoring case; repeat to exclude more',
    },
  },
  case: {
    meaning: 'Whether letter case counts in `q`, `not` and `regex`.',
    defaultText: 'insensitive',
    proto: 'case_sensitive',
    cli: { long: 'case-sensitive', on: 'sensitive', about: 'match case in --grep, --regex and --exclude' },
  },
  source: {
    meaning: 'The call site that wrote the record: `file` or `file:line`.',
    proto: 'source',
    cli: { long: 'source', value: 'file:line', about: 'logged by this source file, or this line of it' },
  },
  component: {
    meaning: 'One of the tags of the record, ignoring case.',
    proto: 'component',
    cli: { long: 'component', value: 'name', about: 'logged by this component' },
  },
  query: {
    meaning:
      'A query by field, such as `level>=warn shard=13 cost>500ms -"timeout"`, in the language of docs/query.md. Where it is wrong, the error 400 `QUERY_INVALID` has the `position`.',
    proto: 'query',
    cli: {
      long: 'query',
      short: 'Q',
      value: 'query',
      about: 'matching this query by field, like \'level>=warn shard=13 cost>500ms -"timeout"\'',
    },
  },
};

const HTTP_HEADER = { absent: 'a header of HTTP' };
const RESUMED = { absent: 'the CLI resumes by itself' };

export const FILE_DOCS: DocsOf<typeof VIEW_ROWS | typeof FILE_ROWS | typeof RANGE_ROWS> = {
  requiredFile: {
    meaning: 'Name of the log file, as `/api/v1/log/list` returns it.',
    proto: 'file',
    cli: { absent: 'the WHERE argument names logs and files' },
  },
  size: {
    meaning: 'At most this many bytes, from the end; larger than the file: all of it.',
    proto: 'size',
    cli: { absent: '"porthole logs" prints records, not bytes' },
  },
  text: {
    meaning:
      '`true`: the uncompressed text of a compressed file, with secrets masked. Byte ranges then count in that text, as the offsets of records do.',
    proto: 'text',
    cli: { absent: '"porthole logs download" copies files as they are' },
  },
  Range: { meaning: 'One byte range, e.g. `bytes=-65536`.', proto: HTTP_HEADER, cli: RESUMED },
  'If-Range': { meaning: 'ETag or date that the range depends on.', proto: HTTP_HEADER, cli: RESUMED },
  'If-None-Match': { meaning: 'ETags the client already has.', proto: HTTP_HEADER, cli: RESUMED },
};

const PAGED_BY_CURSOR = { absent: 'the CLI pages by cursor' };

export const PAGE_DOCS: DocsOf<typeof PAGE_ROWS> = {
  order: {
    meaning: 'Which records come first.',
    proto: 'order',
    cli: { long: 'oldest', on: 'oldest', about: 'oldest first' },
  },
  limit: {
    meaning: 'Return at most this many records: 1 to `search.max-records`.',
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records, or all', default: '1000' },
  },
  before: {
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) before each match, matching or not.`,
    proto: 'before',
    cli: { long: 'before-context', short: 'B', value: 'n', about: 'show n records before each match', default: '' },
  },
  after: {
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) after each match, matching or not.`,
    proto: 'after',
    cli: { long: 'after-context', short: 'A', value: 'n', about: 'show n records after each match', default: '' },
  },
};

export const SEARCH_DOCS: DocsOf<
  typeof POSITION_ROWS | readonly [typeof RAW_ROW, typeof FIELDS_ROW, typeof BUDGET_ROW]
> = {
  cursor: {
    meaning:
      'Start next to this record, in either order: use it to continue (pagination). Give at most one of `cursor`, `record`, `time` and `offset`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  record: {
    meaning: 'Start at this record (its cursor); newest first: with the records before it.',
    proto: 'record',
    cli: PAGED_BY_CURSOR,
  },
  time: {
    meaning: 'Start at this time, written like `from`; newest first: with the records before it.',
    proto: 'time_ms',
    cli: { absent: '--since and --until' },
  },
  offset: {
    meaning: 'Start at the record that contains this byte of the uncompressed text; needs `file`.',
    proto: 'offset',
    cli: PAGED_BY_CURSOR,
  },
  until: { meaning: 'Stop before the record of this cursor.', proto: 'until', cli: PAGED_BY_CURSOR },
  raw: {
    meaning: '`true`: each record also has its text exactly as the file contains it.',
    proto: 'raw',
    cli: { absent: '--output selects the form of records' },
  },
  fields: {
    meaning:
      'Each record also has these fields by name, as queries name them; separate names by commas or repeat the parameter, `*` for all, at most 64.',
    proto: 'fields',
    cli: {
      long: 'fields',
      value: 'names',
      about: 'print these fields of each record, separated by commas; also time, node and file',
    },
  },
  budget: {
    meaning:
      'Stop scanning after this long, like `5s`; the end then has the reason `time budget`. `search.budget` applies too.',
    proto: 'budget_ms',
    cli: { absent: 'commands continue until everything is scanned' },
  },
};

type FollowRow = Exclude<
  (typeof FOLLOW_ROWS)[number] | typeof LAST_EVENT_ID_ROW,
  (typeof SELECTION_ROWS | typeof FILTER_ROWS)[number] | typeof RAW_ROW | typeof FIELDS_ROW
>;

export const FOLLOW_DOCS: DocsOf<readonly FollowRow[]> = {
  back: {
    meaning: `Start this many records back, at most ${MAX_BACK_RECORDS}. Without \`back\`, \`time\` and \`cursor\`, start at the end.`,
    proto: 'back',
    cli: {
      long: 'tail',
      short: 'n',
      value: 'n',
      about: 'show the newest n records, or all',
      default: '200; all with --since or --cursor',
    },
  },
  followTime: {
    meaning:
      'Start at this time, written like `from`. Together with `cursor`: where logs start that the cursor does not name, unless its newest record is older.',
    proto: 'time_ms',
    cli: { absent: '--since and --until' },
  },
  followCursor: {
    meaning: 'Start after this record. Join the cursors of several logs with `~`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  'Last-Event-ID': {
    meaning:
      'The `id` of the last event seen: resumes after it, whatever the other parameters say. Browsers send it when they reconnect.',
    proto: { absent: 'a header of HTTP' },
    cli: { absent: 'the CLI resumes by itself' },
  },
};
