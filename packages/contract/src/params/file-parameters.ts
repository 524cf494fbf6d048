import { fileName, flag, text, viewSize } from './codecs.ts';
import type { ParameterRow } from './parameter.ts';

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
