import type { LogEntry, LogFileDetails } from '@porthole/logs/types';
import type { SentTypes } from './response-types.ts';
import {
  bool,
  exactObject,
  integer,
  listOf,
  nullableInteger,
  nullableText,
  oneOf,
  ref,
  type Schema,
  text,
} from './schema-builders.ts';

/** Responses about files. */
export const LOG_SCHEMAS = {
  LogEntry: exactObject<LogEntry>('One file of the log directory.', {
    name: text('File name.'),
    size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  }),
  LogList: listOf(ref('LogEntry'), 'Every log file, ordered by name.'),
  LogFile: exactObject<LogFileDetails>('One file of the log directory in detail.', {
    name: text('File name.'),
    size: integer('Size in bytes.'),
    modifiedMs: integer('Epoch milliseconds of the last write.'),
    compressed: bool(
      'Whether it is compressed, by the ending of its name. The text of .gz, .zst, .xz and .bz2 files is read.',
    ),
    family: text('The log it belongs to: the name of its live file.'),
    state: oneOf('Whether it is being written or was rotated.', ['live', 'rotated']),
    format: text('The detected format; "binary", "empty" and "unreadable" are files without one.'),
    firstTimeMs: nullableInteger('Epoch milliseconds of the first timestamp, if one was found.'),
    lastTimeMs: nullableInteger(
      'Epoch milliseconds of the last timestamp, if one was found; of a compressed file, once its end was read.',
    ),
    problem: nullableText('Why the file could not be read.'),
  }),
  LogFiles: listOf(ref('LogFile'), 'Every log file, ordered by name.'),
} satisfies { [Name in 'LogEntry' | 'LogList' | 'LogFile' | 'LogFiles']: Schema<SentTypes[Name]> };
