import { fileName, flag, text, viewSize } from './codecs.ts';
import { BY_ARGUMENT } from './filter-parameters.ts';
import type { Parameter } from './parameter.ts';

/* The parameters of the routes that return the bytes of one file. */

export const DEFAULT_VIEW_BYTES = 1_048_576;

const REQUIRED_FILE_ROW = {
  name: 'file',
  required: true,
  field: 'file',
  codec: fileName,
  meaning: 'Name of the log file, as `/api/v1/log/list` returns it.',
  proto: 'file',
  cli: BY_ARGUMENT,
} as const satisfies Parameter;

export const VIEW_ROWS = [
  REQUIRED_FILE_ROW,
  {
    name: 'size',
    field: 'sizeBytes',
    codec: viewSize,
    meaning: 'At most this many bytes, from the end; larger than the file: all of it.',
    default: DEFAULT_VIEW_BYTES,
    proto: 'size',
    cli: { absent: '"porthole logs" prints records, not bytes' },
  },
] as const satisfies readonly Parameter[];

export const FILE_ROWS = [
  REQUIRED_FILE_ROW,
  {
    name: 'text',
    field: 'text',
    codec: flag,
    meaning:
      '`true`: the uncompressed text of a `.gz` file, with secrets masked. Byte ranges then count in that text, as the offsets of records do.',
    proto: 'text',
    cli: { absent: '"porthole logs download" copies files as they are' },
  },
] as const satisfies readonly Parameter[];

const BYTE_RANGE = {
  in: 'header',
  codec: text(),
  proto: { absent: 'a header of HTTP' },
  cli: { absent: 'the CLI resumes by itself' },
} as const;

/** Byte ranges and conditional requests. */
export const RANGE_ROWS = [
  { ...BYTE_RANGE, name: 'Range', field: 'range', meaning: 'One byte range, e.g. `bytes=-65536`.' },
  { ...BYTE_RANGE, name: 'If-Range', field: 'ifRange', meaning: 'ETag or date that the range depends on.' },
  { ...BYTE_RANGE, name: 'If-None-Match', field: 'ifNoneMatch', meaning: 'ETags the client already has.' },
] as const satisfies readonly Parameter[];
