import { MAX_REGEX_BYTES, MAX_TERM_BYTES } from '../query/scan-query.ts';
import type {
  AROUND_OWN_ROWS,
  BUNDLE_OWN_ROWS,
  PREFIX_ROW,
  TICKET_FOR_ROW,
  TICKET_ROW,
  VIEW_NAME_ROW,
} from './cluster-parameters.ts';
import type {
  EVENT_OWN_ROWS,
  HISTORY_OWN_ROWS,
  INCIDENT_OWN_ROWS,
  VERSION_NODE_ROW,
  VERSION_ROW,
} from './event-parameters.ts';
import {
  type CONFIG_ROWS,
  type FILE_ROWS,
  type FILTER_ROWS,
  MAX_TERMS,
  type MEMBER_ROWS,
  type RANGE_ROWS,
  type SELECTION_ROWS,
  type SOURCE_ROW,
  type STORE_ROWS,
  type VIEW_ROWS,
} from './log-parameters.ts';
import type { DocsKey, DocsOf, Parameter, ParameterDocs, ParameterRow } from './parameter.ts';
import {
  type BUCKET_ROWS,
  type BUDGET_ROW,
  type EXPLAIN_ROW,
  type FIELD_LIMIT_ROW,
  type FIELDS_ROW,
  type FOLLOW_ROWS,
  type GROUP_ROWS,
  type LAST_EVENT_ID_ROW,
  MAX_BACK_RECORDS,
  MAX_CONTEXT_RECORDS,
  MAX_FIELD_SUMMARIES,
  MAX_GIVEN_VALUES,
  MAX_TOP_VALUES,
  type PAGE_ROWS,
  type POSITION_ROWS,
  type RAW_ROW,
  RESUME_OVERLAP_SECONDS,
  type VALUE_ROWS,
} from './record-parameters.ts';

const NOT_IN_GRPC = { absent: 'gRPC has no such request' };

const SOURCE_DOCS: DocsOf<readonly [typeof SOURCE_ROW]> = {
  src: {
    meaning:
      'Logs: `FAMILY` (a live file with its rotated and compressed files, by the name that `/api/v1/log/files` returns) or `=FILE` on the selected nodes, `NODE/FAMILY` or `NODE/=FILE` on that node, which selects it, too. Names may have `*` and `?`; a family whose name has a slash is `/FAMILY`. May be given up to 64 times; without it, all logs.',
    proto: 'src',
    cli: { absent: 'the WHERE argument names logs and files' },
  },
};

const FILTER_DOCS: DocsOf<typeof FILTER_ROWS> = {
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

const HTTP_ONLY = { absent: 'there over HTTP only' };
const HTTP_HEADER = { absent: 'a header of HTTP' };
const RESUMED = { absent: 'the CLI resumes by itself' };

const FILE_DOCS: DocsOf<typeof VIEW_ROWS | typeof FILE_ROWS | typeof RANGE_ROWS> = {
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

const PAGE_DOCS: DocsOf<typeof PAGE_ROWS> = {
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

const SEARCH_DOCS: DocsOf<typeof POSITION_ROWS | readonly [typeof RAW_ROW, typeof FIELDS_ROW, typeof BUDGET_ROW]> = {
  cursor: {
    meaning:
      'Start next to this record, in either order, or continue here: the `cursor` of the end of an earlier response. Give at most one of `cursor`, `record`, `time` and `offset`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  record: {
    meaning: 'Start at this record of the responding node (its cursor); newest first: with the records before it.',
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
  until: {
    meaning: 'Stop before the record of this cursor, of the responding node; logs without one in it are not read.',
    proto: 'until',
    cli: PAGED_BY_CURSOR,
  },
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

const FOLLOW_DOCS: DocsOf<readonly FollowRow[]> = {
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
    meaning: 'Start after this record of the responding node. Join the cursors of several logs with `~`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  positions: {
    meaning:
      'Continue after these records of several nodes: `@`, then `id=cursor` of each node, joined by a vertical bar; a cursor is that of the last record of a log, several logs joined by `~`, percent-encoded. Nodes and logs it does not name start at `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'the CLI resumes by itself' },
  },
  'Last-Event-ID': {
    meaning: `The \`id\` of the last event seen: resumes after it, whatever the other parameters say; of several nodes, ${RESUME_OVERLAP_SECONDS} seconds before it. Browsers send it when they reconnect.`,
    proto: { absent: 'a header of HTTP' },
    cli: { absent: 'the CLI resumes by itself' },
  },
};

const COUNT_DOCS: DocsOf<
  typeof BUCKET_ROWS | typeof GROUP_ROWS | typeof VALUE_ROWS | readonly [typeof FIELD_LIMIT_ROW, typeof EXPLAIN_ROW]
> = {
  bucket: {
    meaning:
      'Width of a bucket: `1m`, or milliseconds. Without it, the width is chosen to give about `buckets` buckets.',
    proto: 'bucket_ms',
    cli: {
      long: 'bucket',
      value: 'span',
      about: 'bucket width, like 1m; default: chosen to give about --buckets buckets',
    },
  },
  buckets: {
    meaning: 'About this many buckets, where the width is chosen: 1 to 1000.',
    proto: 'buckets',
    cli: { long: 'buckets', value: 'n', about: 'approximate number of buckets', default: '40' },
  },
  groupLimit: {
    meaning: 'Return at most this many groups, the largest ones: 1 to 1000.',
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n largest groups' },
  },
  newSince: {
    meaning:
      'Mark groups that have no record older than this time, written like `from`: also none before `from`. What was compared is in `baseline`.',
    proto: 'new_since_ms',
    cli: { long: 'new-since', value: 'time', about: 'mark groups with no older record, also none before --since' },
  },
  onlyNew: {
    meaning: '`true`: return only the groups marked new, and those of which it is not known; needs `newSince`.',
    proto: 'only_new',
    cli: { long: 'only-new', about: 'show only those groups; needs --new-since' },
  },
  fieldLimit: {
    meaning: `Return at most this many fields, those of the most records first: 1 to ${MAX_FIELD_SUMMARIES}.`,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n most frequent fields' },
  },
  by: {
    meaning: 'The field whose values are counted, as queries name it: `shard`, `level`, `context.level`.',
    proto: 'by',
    cli: { absent: 'an argument names the field' },
  },
  topLimit: {
    meaning: `Return at most this many values, the most frequent ones: 1 to ${MAX_TOP_VALUES}.`,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n most frequent values' },
  },
  value: {
    meaning: `Count only this value, and all others together. May be given up to ${MAX_GIVEN_VALUES} times.`,
    proto: 'values',
    cli: { long: 'value', value: 'value', about: 'count only this value, and all others together; may be repeated' },
  },
  topBucket: {
    meaning: 'Count over time, too: width of a bucket, `1m`, or milliseconds.',
    proto: 'bucket_ms',
    cli: { long: 'bucket', value: 'span', about: 'count over time, too, in buckets of this width, like 1m' },
  },
  topBuckets: {
    meaning: 'Count over time, too, in about this many buckets, 1 to 1000; the width is chosen unless given.',
    proto: 'buckets',
    cli: { long: 'buckets', value: 'n', about: 'count over time, too, in about n buckets' },
  },
  explainedQuery: {
    meaning: 'The query, in the language of docs/query.md.',
    proto: 'query',
    cli: { absent: 'commands that take --query explain it' },
  },
};

const BROWSER_DOWNLOAD = { absent: 'a download for browsers; "porthole logs -o raw" prints the same' };

const MEMBER_DOCS: DocsOf<typeof MEMBER_ROWS> = {
  nodes: {
    meaning:
      'A node: its id, or a pattern with `*` and `?`; `*` is all. Separate several by commas, or repeat the parameter, up to 64. Without `nodes`, `role` and `label`, the node that receives the request answers alone. An unknown id is 404 `MEMBER_NOT_FOUND`.',
    proto: 'nodes',
    cli: { absent: 'arguments name nodes: NODE:FILE or NODE' },
  },
  role: {
    meaning: 'Nodes with this role, and those whose role is not known yet.',
    proto: 'role',
    cli: { long: 'role', value: 'role', about: 'only nodes with this role' },
  },
  label: {
    meaning:
      'Nodes with this label: `zone=a`; the value may have `*` and `?`. May be given up to 64 times: of each name one value must match. Nodes whose labels are not known yet are included.',
    proto: 'labels',
    cli: {
      long: 'label',
      value: 'name=value',
      about: 'only nodes with this label, like zone=a or zone=eu-*; repeat for other names, or other values of a name',
    },
  },
};

const STORE_DOCS: DocsOf<typeof STORE_ROWS> = {
  store: {
    meaning:
      'Where records are read. `nodes`: what members have on disk. `archive`: what they have shipped to the archive. `auto`: from members what they still have, and everything older, or of nodes that no longer exist, from the archive, if the responding node has one (`archive.url`).',
    defaultText: 'auto; of the node that answers alone, nodes',
    proto: 'store',
    cli: {
      long: 'store',
      value: 'store',
      about: 'where records are read: auto, nodes or archive; auto reads older ones from the archive, if there is one',
    },
  },
  floor: {
    meaning:
      'Only records at or after this time, by the clock of the member that logged them: `ID=MS`, in epoch milliseconds, `*=MS` for all other members. Records without a timestamp are left out. Those before it are read from the archive.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'set by store=auto' },
  },
};

const CLUSTER_DOCS = {
  diffBy: {
    meaning: 'The name of a label: only members of the same role with the same value of it are compared.',
    proto: NOT_IN_GRPC,
    cli: { long: 'by', value: 'label', about: 'for a cluster, compare only nodes with the same value of this label' },
  },
  id: {
    meaning: 'Id of the member, as `/api/v1/nodes` returns it.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'arguments name nodes' },
  },
} as const satisfies Readonly<Record<string, ParameterDocs>>;

const AROUND_DOCS: DocsOf<typeof AROUND_OWN_ROWS> = {
  node: {
    meaning: 'The member whose record `cursor` names.',
    proto: NOT_IN_GRPC,
    cli: {
      long: 'at',
      value: 'node:cursor',
      about: 'around this record; -o json shows the node and cursor of records',
    },
  },
  aroundCursor: {
    meaning: 'The record to show the surroundings of; needs `node`. Give this or `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: '--at gives node and cursor' },
  },
  aroundTime: {
    meaning: 'The time to show the surroundings of, by the clock of the responding node.',
    proto: NOT_IN_GRPC,
    cli: { long: 'time', short: 't', value: 'time', about: 'around this time, same format as --since' },
  },
  aroundBefore: {
    meaning: 'How long before it, like `30s`, at most `1h`.',
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { long: 'around', value: 'span', about: 'how long before and after, at most 1h' },
  },
  aroundAfter: {
    meaning: 'How long after it, like `30s`, at most `1h`.',
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { absent: '--around gives both' },
  },
  aroundLimit: {
    meaning:
      'Return at most this many records of each member, the ones closest to that time: 1 to `search.max-records`.',
    proto: NOT_IN_GRPC,
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records per node, the closest ones' },
  },
};

const DOWNLOAD_DOCS: DocsOf<
  readonly [typeof PREFIX_ROW, typeof TICKET_ROW, typeof TICKET_FOR_ROW, typeof VIEW_NAME_ROW]
> = {
  prefix: {
    meaning: '`true`: each record begins with the id of its node and a colon.',
    defaultText: 'false',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  ticket: {
    meaning: 'Replaces the `Authorization` header; must be the last parameter.',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  for: { meaning: 'Path and query of the download.', proto: NOT_IN_GRPC, cli: BROWSER_DOWNLOAD },
  viewName: {
    meaning: 'The name of the view: up to 80 characters.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'only the console has views' },
  },
};

const BUNDLE_DOCS: DocsOf<typeof BUNDLE_OWN_ROWS> = {
  since: {
    meaning:
      'Logs from this time on: RFC 3339, `2026-11-15 14:05`, `14:05`, `15m` (15 minutes ago), epoch seconds or ms.',
    defaultText: '1h',
    proto: NOT_IN_GRPC,
    cli: FILTER_DOCS.from.cli,
  },
  bundleUntil: {
    meaning: 'Logs before this time, written like `since`.',
    defaultText: 'now',
    proto: NOT_IN_GRPC,
    cli: FILTER_DOCS.to.cli,
  },
};

const CONFIG_DOCS: DocsOf<typeof CONFIG_ROWS> = {
  configFormat: {
    meaning:
      "`toml`, or `source`: the text of the service's files as it is written, with its secrets masked. For a configuration in TOML they are the same.",
    proto: 'format',
    cli: { absent: 'config get has it as an output format: -o source' },
  },
};

type IncidentRow = Exclude<(typeof INCIDENT_OWN_ROWS)[number], { name: 'query' }>;

const EVENT_DOCS: DocsOf<
  | typeof EVENT_OWN_ROWS
  | typeof HISTORY_OWN_ROWS
  | readonly [typeof VERSION_ROW, typeof VERSION_NODE_ROW]
  | readonly IncidentRow[]
> = {
  kind: {
    meaning: 'Only events of this kind. Repeat for several.',
    proto: 'kinds',
    cli: { long: 'kind', value: 'kind', about: 'only events of this kind; repeat for several' },
  },
  follow: {
    meaning:
      '`true`: events as they happen, as server-sent events like those of `/api/v1/log/follow`. Starts at `back`, `time` or `cursor`, or at the end.',
    proto: { absent: 'a method of its own' },
    cli: { long: 'follow', short: 'f', about: 'go on with events as they happen' },
  },
  historyKey: {
    meaning: 'Only configurations in which this key, or one below it, has changed.',
    proto: 'key',
    cli: { absent: 'an argument names the key' },
  },
  historyAt: {
    meaning: 'Only the configuration at this time, written like `from`.',
    proto: 'at_ms',
    cli: { absent: 'an argument of "config at"' },
  },
  historyLimit: {
    meaning: 'Return at most this many, the newest ones: 1 to 500.',
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'the newest n configurations' },
  },
  configVersion: {
    meaning: 'The version, as the history returns it.',
    proto: 'version',
    cli: { absent: 'the CLI asks by time' },
  },
  versionNode: {
    meaning: 'The id of the node whose configuration it is. Default: the node that receives the request.',
    proto: { absent: 'a node is asked for its own' },
    cli: { absent: 'the flag --node of the history' },
  },
  incidentFrom: {
    meaning: 'Where to look: from this time on, written as in a search. Default: an hour before `to`.',
    proto: 'from_ms',
    cli: { long: 'from', short: 'S', value: 'time', about: 'look from this time on: 03:00, yesterday 18:00, 2h ...' },
  },
  incidentTo: {
    meaning: 'Where to look: before this time, written like `from`. Default: now.',
    proto: 'to_ms',
    cli: { long: 'to', short: 'U', value: 'time', about: 'look before this time, same format as --from' },
  },
  incidentFormat: {
    meaning: 'How the report is written: `json`, `markdown`, or `html`, a page that needs nothing else.',
    proto: HTTP_ONLY,
    cli: { absent: '--output selects the format' },
  },
};

const DOCS = {
  ...CONFIG_DOCS,
  ...EVENT_DOCS,
  ...SOURCE_DOCS,
  ...FILTER_DOCS,
  ...PAGE_DOCS,
  ...SEARCH_DOCS,
  ...FOLLOW_DOCS,
  ...COUNT_DOCS,
  ...FILE_DOCS,
  ...MEMBER_DOCS,
  ...STORE_DOCS,
  ...CLUSTER_DOCS,
  ...AROUND_DOCS,
  ...DOWNLOAD_DOCS,
  ...BUNDLE_DOCS,
};

/** Rows joined with their docs. Does not compile for a row without docs. */
export function documentParameters<const Rows extends readonly ParameterRow[]>(
  rows: Rows & ([DocsKey<Rows[number]>] extends [keyof typeof DOCS] ? unknown : never),
): readonly Parameter[] {
  return rows.map((row) => ({ ...row, ...DOCS[(row.docs ?? row.name) as keyof typeof DOCS] }));
}
