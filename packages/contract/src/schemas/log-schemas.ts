import type { FormatName } from '@porthole/logs/types';
import {
  bool,
  exactObject,
  integer,
  type JsonSchema,
  listOf,
  nullableInteger,
  nullableText,
  oneOf,
  ref,
  text,
} from './schema-builders.ts';

/** Every format by name; it does not compile with one missing. */
const FORMATS: Readonly<Record<FormatName | 'binary' | 'empty' | 'unreadable', true>> = {
  contract: true,
  'lindb-access': true,
  'lindb-slow-sql': true,
  json: true,
  glog: true,
  capnslog: true,
  tidb: true,
  log4j: true,
  'nginx-access': true,
  'nginx-error': true,
  syslog: true,
  'syslog-5424': true,
  iso: true,
  text: true,
  binary: true,
  empty: true,
  unreadable: true,
};

/** The shapes of what is told about files. */
export const LOG_SCHEMAS = {
  LogEntry: exactObject('One file of the log directory.', {
    name: text('File name.'),
    size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  }),
  LogList: listOf(ref('LogEntry'), 'Every log file, ordered by name.'),
  LogFile: exactObject('One file of the log directory in detail.', {
    name: text('File name.'),
    size: integer('Size in bytes.'),
    modifiedMs: integer('Epoch milliseconds of the last write.'),
    compressed: bool('Whether it is a .gz file.'),
    family: text('The log it belongs to: the name of its live file.'),
    state: oneOf('Whether it is being written or was rotated.', ['live', 'rotated']),
    format: oneOf('What the text looks like.', Object.keys(FORMATS)),
    firstTimeMs: nullableInteger('Epoch milliseconds of the first timestamp, if one was found.'),
    lastTimeMs: nullableInteger(
      'Epoch milliseconds of the last timestamp, if one was found; of a .gz file once its end was looked up.',
    ),
    problem: nullableText('Why the file could not be looked into.'),
  }),
  LogFiles: listOf(ref('LogFile'), 'Every log file, ordered by name.'),
} as const satisfies Record<string, JsonSchema>;
