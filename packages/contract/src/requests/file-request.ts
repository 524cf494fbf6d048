import { PortholeError } from '../errors/errors.ts';
import { type Query, singleValue, trueOrFalse } from '../params/query.ts';

/** Names one log file. Whether the name is a safe one is decided by the log directory, before it touches the disk. */
export interface FileRequest {
  file: string;
  /** A compressed file as its uncompressed text, which the offsets of records count in. */
  text?: boolean;
}

export function parseFileRequest(query: Query): FileRequest {
  const file = singleValue(query, 'file');
  if (!file) throw new PortholeError('FILE_NAME_MISSING', 'give the name of a log file: ?file=NAME');
  return { file, ...(trueOrFalse(query, 'text') && { text: true }) };
}
