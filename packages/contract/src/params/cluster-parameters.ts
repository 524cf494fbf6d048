import {
  computedDuration,
  cursor,
  flag,
  memberId,
  memberRole,
  nodePatterns,
  recordLimit,
  sourceTexts,
  text,
  timestamp,
} from './codecs.ts';
import { FILTER_ROWS, SELECTION_ROWS } from './filter-parameters.ts';
import type { Parameter } from './parameter.ts';
import {
  BACK_ROW,
  DIGEST_ROWS,
  HISTOGRAM_ROWS,
  LAST_EVENT_ID_ROW,
  PAGE_ROWS,
  RAW_ROW,
  TIME_ROW,
} from './record-parameters.ts';

/* The parameters of the cluster's routes: those of a node, and which members are queried. */

/** Records of a slow member may arrive this late: a resumed follow repeats some rather than losing any. */
export const RESUME_OVERLAP_MS = 5000;

const AROUND_SPAN_MS = 5000;
const MAX_AROUND_SPAN_MS = 3_600_000;

/** gRPC has no routes of the cluster. */
const NOT_IN_GRPC = { absent: 'gRPC serves a single node' };
const BROWSER_DOWNLOAD = { absent: 'a download for browsers; "porthole logs -o raw" prints the same' };

/** Which members are queried. */
export const MEMBER_ROWS = [
  {
    name: 'nodes',
    field: 'nodes',
    codec: nodePatterns,
    meaning:
      'Only this member: its id, or a pattern with `*` and `?`. May be given up to 64 times. An unknown id is 404 `MEMBER_NOT_FOUND`.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'arguments name nodes: NODE:FILE or NODE' },
  },
  {
    name: 'role',
    field: 'role',
    codec: memberRole,
    meaning: 'Only members with this role, and those whose role is not known yet.',
    proto: NOT_IN_GRPC,
    cli: { long: 'role', value: 'role', about: 'only nodes with this role' },
  },
] as const satisfies readonly Parameter[];

export const CLUSTER_SEARCH_ROWS = [
  ...MEMBER_ROWS,
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  ...PAGE_ROWS,
  {
    name: 'cursor',
    field: 'cursor',
    codec: cursor,
    meaning: 'Continue here: the `cursor` of the end of an earlier response. Give at most one of `cursor` and `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'the CLI pages by itself' },
  },
  TIME_ROW,
  RAW_ROW,
] as const satisfies readonly Parameter[];

export const CLUSTER_FOLLOW_ROWS = [
  ...MEMBER_ROWS,
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  BACK_ROW,
  RAW_ROW,
  { ...TIME_ROW, meaning: 'Start at this time, written like `from`.' },
  {
    name: 'positions',
    field: 'positions',
    codec: text(),
    meaning:
      'Continue after these records: `@`, then `id=cursor` of each member, joined by `|`; a cursor is that of the last record of a log, several logs joined by `~`, percent-encoded. Members and logs it does not name start at `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: 'the CLI resumes by itself' },
  },
] as const satisfies readonly Parameter[];

export const CLUSTER_LAST_EVENT_ID_ROW = {
  ...LAST_EVENT_ID_ROW,
  meaning: `The \`id\` of the last event seen: resumes ${RESUME_OVERLAP_MS / 1000} seconds before it, whatever the other parameters say.`,
} as const satisfies Parameter;

export const CLUSTER_HISTOGRAM_ROWS = [...MEMBER_ROWS, ...HISTOGRAM_ROWS] as const;

export const CLUSTER_DIGEST_ROWS = [...MEMBER_ROWS, ...DIGEST_ROWS] as const;

const aroundSpan = computedDuration({ example: '5s', minMs: 0, maxMs: MAX_AROUND_SPAN_MS });

export const AROUND_ROWS = [
  {
    name: 'node',
    field: 'node',
    codec: memberId,
    meaning: 'The member whose record `cursor` names.',
    proto: NOT_IN_GRPC,
    cli: { long: 'at', value: 'node:cursor', about: 'around this record (-o json shows its node and cursor)' },
  },
  {
    name: 'cursor',
    field: 'cursor',
    codec: cursor,
    meaning: 'The record to show the surroundings of; needs `node`. Give this or `time`.',
    proto: NOT_IN_GRPC,
    cli: { absent: '--at gives node and cursor' },
  },
  {
    name: 'time',
    field: 'timeMs',
    codec: timestamp,
    meaning: 'The time to show the surroundings of, by the clock of the responding node.',
    proto: NOT_IN_GRPC,
    cli: { long: 'time', short: 't', value: 'time', about: 'around this time, written like --since' },
  },
  {
    name: 'before',
    field: 'beforeMs',
    codec: aroundSpan,
    meaning: 'How long before it, like `30s`, at most `1h`.',
    default: AROUND_SPAN_MS,
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { long: 'around', value: 'duration', about: 'this long before and after it, at most 1h' },
  },
  {
    name: 'after',
    field: 'afterMs',
    codec: aroundSpan,
    meaning: 'How long after it, like `30s`, at most `1h`.',
    default: AROUND_SPAN_MS,
    defaultText: '5s',
    proto: NOT_IN_GRPC,
    cli: { absent: '--around gives both' },
  },
  {
    name: 'limit',
    field: 'limit',
    codec: recordLimit,
    meaning:
      'Return at most this many records of each member, the ones closest to that time: 1 to `search.max-records`.',
    default: 100,
    proto: NOT_IN_GRPC,
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records of each node, the closest ones' },
  },
  ...MEMBER_ROWS,
] as const satisfies readonly Parameter[];

export const DOWNLOAD_ROWS = [
  {
    name: 'src',
    field: 'sources',
    codec: sourceTexts,
    meaning:
      'Logs to read: `NODE`, `NODE/FAMILY` or `NODE/=FILE`; NODE may contain `*` and `?`. May be given up to 64 times; without it, all logs of all members.',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
  ...FILTER_ROWS,
  {
    name: 'prefix',
    field: 'withNode',
    codec: flag,
    meaning: '`true`: each record begins with the id of its node and a colon.',
    default: false,
    defaultText: 'false',
    proto: NOT_IN_GRPC,
    cli: BROWSER_DOWNLOAD,
  },
] as const satisfies readonly Parameter[];

export const TICKET_ROW = {
  name: 'ticket',
  field: 'ticket',
  codec: text(),
  meaning: 'Replaces the `Authorization` header; must be the last parameter.',
  proto: NOT_IN_GRPC,
  cli: BROWSER_DOWNLOAD,
} as const satisfies Parameter;

export const TICKET_FOR_ROW = {
  name: 'for',
  required: true,
  field: 'for',
  codec: text(),
  meaning: 'Path and query of the download.',
  proto: NOT_IN_GRPC,
  cli: BROWSER_DOWNLOAD,
} as const satisfies Parameter;

const [SINCE, UNTIL] = FILTER_ROWS;

export const BUNDLE_ROWS = [
  {
    ...SINCE,
    name: 'since',
    meaning:
      'Logs from this time on: RFC 3339, `2026-11-15 14:05`, `14:05`, `15m` (15 minutes ago), epoch seconds or ms.',
    defaultText: '1h',
    proto: NOT_IN_GRPC,
    cli: { ...SINCE.cli, default: '1h' },
  },
  {
    ...UNTIL,
    name: 'until',
    meaning: 'Logs before this time, written like `since`.',
    defaultText: 'now',
    proto: NOT_IN_GRPC,
    cli: { ...UNTIL.cli, default: 'now' },
  },
  ...MEMBER_ROWS,
] as const satisfies readonly Parameter[];

export const MEMBER_ID_ROW = {
  name: 'id',
  in: 'path',
  required: true,
  field: 'id',
  codec: memberId,
  meaning: 'Id of the member, as `/api/v1/cluster/nodes` returns it.',
  proto: NOT_IN_GRPC,
  cli: { absent: 'arguments name nodes' },
} as const satisfies Parameter;
