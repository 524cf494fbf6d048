import { computedDuration, cursor, flag, labelName, memberId, recordLimit, text, timestamp } from './codecs.ts';
import { FILTER_ROWS, MEMBER_ROWS, SELECTION_ROWS } from './log-parameters.ts';
import type { ParameterRow } from './parameter.ts';

/* The parameters of routes that only a cluster has: comparisons, moments, downloads, bundles. */

const AROUND_SPAN_MS = 5000;
const MAX_AROUND_SPAN_MS = 3_600_000;

export const CONFIG_DIFF_ROWS = [
  ...MEMBER_ROWS,
  { name: 'by', field: 'by', codec: labelName, docs: 'diffBy' },
] as const satisfies readonly ParameterRow[];

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

export const AROUND_ROWS = [...AROUND_OWN_ROWS, ...SELECTION_ROWS] as const;

export const PREFIX_ROW = {
  name: 'prefix',
  field: 'withNode',
  codec: flag,
  default: false,
} as const satisfies ParameterRow;

export const DOWNLOAD_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, PREFIX_ROW] as const;

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
