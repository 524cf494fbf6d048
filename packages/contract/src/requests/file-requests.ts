import { PortholeError } from '../errors/errors.ts';
import { FILE_ROWS, VIEW_ROWS } from '../params/log-parameters.ts';
import { encodeParameters, parseParameters } from '../params/parameter.ts';
import type { Query } from '../params/query.ts';

/** Names one log file. The log directory decides whether the name is safe, before it touches the disk. */
export interface FileRequest {
  file: string;
  /** The uncompressed text of a compressed file, which the offsets of records count in. */
  text?: boolean;
}

export interface ViewRequest extends FileRequest {
  /** At most this many bytes, from the end of the (uncompressed) text. */
  sizeBytes: number;
}

export function parseFileRequest(query: Query): FileRequest {
  const { file, ...rest } = parseParameters(FILE_ROWS, query);
  return { file: requireFile(file), ...rest };
}

export function parseViewRequest(query: Query): ViewRequest {
  const { file, sizeBytes } = parseParameters(VIEW_ROWS, query);
  return { file: requireFile(file), sizeBytes };
}

export function encodeFile(request: FileRequest): URLSearchParams {
  return encodeParameters(FILE_ROWS, request);
}

/** Without a size, the default of the node applies. */
export function encodeView(request: FileRequest & Partial<ViewRequest>): URLSearchParams {
  return encodeParameters(VIEW_ROWS, request);
}

function requireFile(file: string | undefined): string {
  if (file === undefined) throw new PortholeError('FILE_NAME_MISSING', 'give the name of a log file: ?file=NAME');
  return file;
}
