import { EVENT_KINDS } from '../events.ts';
import { choice, choices, flag, memberId, query, text, timestamp, wholeNumber } from './codecs.ts';
import { FILTER_ROWS, MEMBER_ROWS } from './log-parameters.ts';
import type { ParameterRow } from './parameter.ts';
import {
  BACK_ROW,
  BUDGET_ROW,
  FIELDS_ROW,
  PAGE_ROWS,
  POSITION_ROWS,
  POSITIONS_ROW,
  RAW_ROW,
} from './record-parameters.ts';

/* The parameters of events, of the history of configurations, and of incidents. */

export const EVENT_OWN_ROWS = [
  { name: 'kind', field: 'kinds', codec: choices(EVENT_KINDS) },
  { name: 'follow', field: 'follow', codec: flag },
] as const satisfies readonly ParameterRow[];

/** Events are not in logs, nor in the archive. */
export const EVENT_ROWS = [
  ...EVENT_OWN_ROWS,
  ...MEMBER_ROWS,
  ...FILTER_ROWS,
  ...PAGE_ROWS,
  ...POSITION_ROWS,
  RAW_ROW,
  FIELDS_ROW,
  BACK_ROW,
  POSITIONS_ROW,
] as const;

export const HISTORY_OWN_ROWS = [
  { name: 'key', field: 'key', codec: text({ maxBytes: 1024 }), docs: 'historyKey' },
  { name: 'at', field: 'atMs', codec: timestamp, docs: 'historyAt' },
  {
    name: 'limit',
    field: 'limit',
    codec: wholeNumber({ minimum: 1, maximum: 500 }),
    default: 50,
    docs: 'historyLimit',
  },
] as const satisfies readonly ParameterRow[];

export const HISTORY_ROWS = [...MEMBER_ROWS, ...HISTORY_OWN_ROWS] as const;

export const VERSION_ROW = {
  name: 'version',
  in: 'path',
  required: true,
  field: 'version',
  codec: text(),
  docs: 'configVersion',
} as const satisfies ParameterRow;

/** Whose configuration; of the node that receives the request unless given. */
export const VERSION_NODE_ROW = {
  name: 'nodes',
  field: 'node',
  codec: memberId,
  docs: 'versionNode',
} as const satisfies ParameterRow;

export const INCIDENT_FORMATS = ['json', 'markdown', 'html'] as const;

export const INCIDENT_OWN_ROWS = [
  { name: 'from', field: 'fromMs', codec: timestamp, docs: 'incidentFrom' },
  { name: 'to', field: 'toMs', codec: timestamp, docs: 'incidentTo' },
  { name: 'query', field: 'query', codec: query },
  { name: 'format', field: 'format', codec: choice(INCIDENT_FORMATS), default: 'json', docs: 'incidentFormat' },
] as const satisfies readonly ParameterRow[];

export const INCIDENT_ROWS = [...MEMBER_ROWS, ...INCIDENT_OWN_ROWS, BUDGET_ROW] as const;
