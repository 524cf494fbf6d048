import { PortholeError } from '../errors/errors.ts';
import { type Query, singleValue } from '../params/query.ts';
import { type FileRequest, parseFileRequest } from './file-request.ts';

export interface ViewRequest extends FileRequest {
  /** At most this many bytes, from the end of the (uncompressed) text. */
  sizeBytes: number;
}

export const DEFAULT_VIEW_BYTES = 1_048_576;

/** `size` counts bytes; absent or empty it is 1 MiB; one that exceeds every file means the whole file. */
export function parseViewRequest(query: Query): ViewRequest {
  const { file } = parseFileRequest(query);
  return { file, sizeBytes: parseSize(singleValue(query, 'size')) };
}

function parseSize(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_VIEW_BYTES;
  const size = /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (size === 0) throw new PortholeError('SIZE_INVALID', 'size must be a positive whole number of bytes');
  return Math.min(size, Number.MAX_SAFE_INTEGER);
}
