import { AROUND_ROWS, BUNDLE_ROWS, CONFIG_DIFF_ROWS } from './cluster-parameters.ts';
import { EVENT_RECORD_ROWS, HISTORY_ROWS, INCIDENT_ROWS } from './event-parameters.ts';
import { CONFIG_ROWS, FILE_ROWS, LOG_FILES_ROWS, MEMBER_ROWS, VIEW_ROWS } from './log-parameters.ts';
import type { ParameterRow } from './parameter.ts';
import {
  BUDGET_ROW,
  DIGEST_ROWS,
  FIELDS_ROWS,
  FOLLOW_ROWS,
  HISTOGRAM_ROWS,
  SEARCH_ROWS,
  TOP_ROWS,
} from './record-parameters.ts';

/** The parameters of each operation, by the name that the client has for it. */
export const REQUEST_ROWS = {
  config: CONFIG_ROWS,
  viewLog: VIEW_ROWS,
  openLog: FILE_ROWS,
  settings: MEMBER_ROWS,
  configDiff: CONFIG_DIFF_ROWS,
  configHistory: HISTORY_ROWS,
  logFiles: LOG_FILES_ROWS,
  search: [...SEARCH_ROWS, BUDGET_ROW],
  follow: FOLLOW_ROWS,
  histogram: [...HISTOGRAM_ROWS, BUDGET_ROW],
  digest: [...DIGEST_ROWS, BUDGET_ROW],
  fields: [...FIELDS_ROWS, BUDGET_ROW],
  top: [...TOP_ROWS, BUDGET_ROW],
  around: AROUND_ROWS,
  events: [...EVENT_RECORD_ROWS, BUDGET_ROW],
  followEvents: EVENT_RECORD_ROWS,
  // The client reads a report as JSON.
  incident: INCIDENT_ROWS.filter(({ name }) => name !== 'format'),
  bundle: BUNDLE_ROWS,
} as const satisfies Record<string, readonly ParameterRow[]>;

/** An operation that takes parameters. */
export type RequestId = keyof typeof REQUEST_ROWS;
