import { PortholeError } from './errors.ts';
import { type Query, single } from './query.ts';

/** Names one log file. Whether the name is a safe one is decided by the log directory, before it touches the disk. */
export interface FileRequest {
  file: string;
}

export function parseFileRequest(query: Query): FileRequest {
  const file = single(query, 'file');
  if (!file) throw new PortholeError('FILE_NAME_MISSING', 'give the name of a log file: ?file=NAME');
  return { file };
}
