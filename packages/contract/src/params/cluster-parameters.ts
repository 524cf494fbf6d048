import {
  computedDuration,
  cursor,
  flag,
  floors,
  labelName,
  labelPatterns,
  memberId,
  memberRole,
  nodePatterns,
  recordLimit,
  recordStore,
  sourceTexts,
  text,
  timestamp,
} from './codecs.ts';
import { FILTER_ROWS, SELECTION_ROWS } from './log-parameters.ts';
import type { ParameterRow } from './parameter.ts';
import { BACK_ROW, FIELDS_ROW, LAST_EVENT_ID_ROW, PAGE_ROWS, RAW_ROW, TIME_ROW } from './record-parameters.ts';

/* The parameters of the cluster's routes: those of a node, and which members are queried. */

/** Records of a slow member may arrive this late: a resumed follow repeats some rather than losing any. */
export const RESUME_OVERLAP_SECONDS = 5;
export const RESUME_OVERLAP_MS = RESUME_OVERLAP_SECONDS * 1000;

const AROUND_SPAN_MS = 5000;
const MAX_AROUND_SPAN_MS = 3_600_000;

/** Which members are queried. */
export const MEMBER_ROWS = [
  { name: 'nodes', field: 'nodes', codec: nodePatterns },
  { name: 'role', field: 'role', codec: memberRole },
  { name: 'label', field: 'labels', codec: labelPatterns },
] as const satisfies readonly ParameterRow[];

export const CONFIG_DIFF_ROWS = [
  ...MEMBER_ROWS,
  { name: 'by', field: 'by', codec: labelName, docs: 'diffBy' },
] as const satisfies readonly ParameterRow[];

/** Where records are read. */
export const STORE_ROWS = [
  { name: 'store', field: 'store', codec: recordStore },
  { name: 'floor', field: 'floors', codec: floors },
] as const satisfies readonly ParameterRow[];

export const CLUSTER_SEARCH_ROWS = [
  ...MEMBER_ROWS,
  ...STORE_ROWS,
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  ...PAGE_ROWS,
  { name: 'cursor', field: 'cursor', codec: cursor, docs: 'clusterCursor' },
  TIME_ROW,
  RAW_ROW,
  FIELDS_ROW,
] as const satisfies readonly ParameterRow[];

export const POSITIONS_ROW = {
  name: 'positions',
  field: 'positions',
  codec: text(),
} as const satisfies ParameterRow;

export const CLUSTER_FOLLOW_ROWS = [
  ...MEMBER_ROWS,
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  BACK_ROW,
  RAW_ROW,
  FIELDS_ROW,
  { ...TIME_ROW, docs: 'clusterFollowTime' },
  POSITIONS_ROW,
] as const satisfies readonly ParameterRow[];

export const CLUSTER_LAST_EVENT_ID_ROW = {
  ...LAST_EVENT_ID_ROW,
  docs: 'clusterLastEventId',
} as const satisfies ParameterRow;

export const MEMBER_ID_ROW = {
  name: 'id',
  in: 'path',
  required: true,
  field: 'id',
  codec: memberId,
} as const satisfies ParameterRow;

const aroundSpan = computedDuration({ example: '5s', minMs: 0, maxMs: MAX_AROUND_SPAN_MS });

export const AROUND_OWN_ROWS = [
  { name: 'node', field: 'node', codec: memberId },
  { name: 'cursor', field: 'cursor', codec: cursor, docs: 'aroundCursor' },
  { name: 'time', field: 'timeMs', codec: timestamp, docs: 'aroundTime' },
  { name: 'before', field: 'beforeMs', codec: aroundSpan, default: AROUND_SPAN_MS, docs: 'aroundBefore' },
  { name: 'after', field: 'afterMs', codec: aroundSpan, default: AROUND_SPAN_MS, docs: 'aroundAfter' },
  { name: 'limit', field: 'limit', codec: recordLimit, default: 100, docs: 'aroundLimit' },
] as const satisfies readonly ParameterRow[];

export const AROUND_ROWS = [...AROUND_OWN_ROWS, ...MEMBER_ROWS, ...STORE_ROWS] as const;

export const DOWNLOAD_OWN_ROWS = [
  { name: 'src', field: 'sources', codec: sourceTexts },
  { name: 'prefix', field: 'withNode', codec: flag, default: false },
] as const satisfies readonly ParameterRow[];

export const DOWNLOAD_ROWS = [DOWNLOAD_OWN_ROWS[0], MEMBER_ROWS[2], ...FILTER_ROWS, DOWNLOAD_OWN_ROWS[1]] as const;

export const TICKET_ROW = { name: 'ticket', field: 'ticket', codec: text() } as const satisfies ParameterRow;

export const TICKET_FOR_ROW = {
  name: 'for',
  required: true,
  field: 'for',
  codec: text(),
} as const satisfies ParameterRow;

export const VIEW_NAME_ROW = {
  name: 'name',
  in: 'path',
  required: true,
  field: 'name',
  codec: text(),
  docs: 'viewName',
} as const satisfies ParameterRow;

export const BUNDLE_OWN_ROWS = [
  { name: 'since', field: 'fromMs', codec: timestamp },
  { name: 'until', field: 'toMs', codec: timestamp, docs: 'bundleUntil' },
] as const satisfies readonly ParameterRow[];

export const BUNDLE_ROWS = [...BUNDLE_OWN_ROWS, ...MEMBER_ROWS] as const;
