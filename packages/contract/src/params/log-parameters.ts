import { MAX_REGEX_BYTES, MAX_TERM_BYTES } from '../query/scan-query.ts';
import {
  caseSensitivity,
  choice,
  fileName,
  flag,
  floors,
  labelPatterns,
  level,
  memberRole,
  nodePatterns,
  query,
  recordStore,
  sourceTexts,
  text,
  texts,
  timestamp,
  viewSize,
} from './codecs.ts';
import type { ParameterRow } from './parameter.ts';

/* Which logs, and which records. A new filter is a row here and in parameter-docs.ts, its matching in `logs`, and where it is shown. */

/** Enough for what a person searches for, and few enough to match every byte of a log against all of them. */
export const MAX_TERMS = 32;

/** Which nodes. Without any, the node that receives the request answers alone. */
export const MEMBER_ROWS = [
  { name: 'nodes', field: 'nodes', codec: nodePatterns },
  { name: 'role', field: 'role', codec: memberRole },
  { name: 'label', field: 'labels', codec: labelPatterns },
] as const satisfies readonly ParameterRow[];

/** Where records are read. */
export const STORE_ROWS = [
  { name: 'store', field: 'store', codec: recordStore },
  { name: 'floor', field: 'floors', codec: floors },
] as const satisfies readonly ParameterRow[];

/** Which logs, perhaps of which nodes. */
export const SOURCE_ROW = { name: 'src', field: 'src', codec: sourceTexts } as const satisfies ParameterRow;

/** Which logs of which nodes. */
export const SELECTION_ROWS = [...MEMBER_ROWS, SOURCE_ROW, ...STORE_ROWS] as const;

/** Which records. Every condition that is given must hold. */
export const FILTER_ROWS = [
  { name: 'from', field: 'fromMs', codec: timestamp },
  { name: 'to', field: 'toMs', codec: timestamp },
  { name: 'level', field: 'minLevel', codec: level },
  { name: 'q', field: 'terms', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'regex', field: 'regex', codec: text({ maxBytes: MAX_REGEX_BYTES }) },
  { name: 'not', field: 'excluded', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'case', field: 'caseSensitive', codec: caseSensitivity },
  { name: 'source', field: 'source', codec: text({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'component', field: 'component', codec: text({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'query', field: 'query', codec: query },
] as const satisfies readonly ParameterRow[];

/** How a configuration is shown. */
export const CONFIG_ROWS = [
  { name: 'format', field: 'format', codec: choice(['toml', 'source']), default: 'toml', docs: 'configFormat' },
] as const satisfies readonly ParameterRow[];

/** Which files are described. */
export const LOG_FILES_ROWS = [...MEMBER_ROWS, SOURCE_ROW] as const;

/* The parameters of the routes that return the bytes of one file. */

export const DEFAULT_VIEW_BYTES = 1_048_576;

const REQUIRED_FILE_ROW = {
  name: 'file',
  required: true,
  field: 'file',
  codec: fileName,
  docs: 'requiredFile',
} as const satisfies ParameterRow;

export const VIEW_ROWS = [
  REQUIRED_FILE_ROW,
  { name: 'size', field: 'sizeBytes', codec: viewSize, default: DEFAULT_VIEW_BYTES },
] as const satisfies readonly ParameterRow[];

export const FILE_ROWS = [
  REQUIRED_FILE_ROW,
  { name: 'text', field: 'text', codec: flag },
] as const satisfies readonly ParameterRow[];

const header = text();

/** Byte ranges and conditional requests. */
export const RANGE_ROWS = [
  { name: 'Range', in: 'header', field: 'range', codec: header },
  { name: 'If-Range', in: 'header', field: 'ifRange', codec: header },
  { name: 'If-None-Match', in: 'header', field: 'ifNoneMatch', codec: header },
] as const satisfies readonly ParameterRow[];
