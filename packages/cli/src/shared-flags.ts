import type { ArgumentDefinition, FlagDefinition } from './command-definition.ts';
import { checkCountOrAll, checkTimeZone, checkWholeNumber } from './flag-checks.ts';

/** Which node is asked, and how the answer looks. */
export const NODE_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'url',
    value: 'url',
    default: 'http://127.0.0.1:7300',
    about: 'address of the node; also PORTHOLE_URL',
  },
  {
    long: 'token-file',
    value: 'file',
    complete: 'file',
    about: 'file that holds the token of the node; the token itself may stand in PORTHOLE_TOKEN',
  },
];

export const COLOR_FLAG: FlagDefinition = {
  long: 'color',
  value: 'when',
  alone: 'always',
  choices: ['auto', 'always', 'never'],
  default: 'auto: on terminals, unless NO_COLOR is set',
  about: 'colours',
};

/** Which records are wanted. */
export const FILTER_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'since',
    short: 'S',
    value: 'time',
    about:
      'from this time on: RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00, 15m (15 minutes ago) or epoch seconds',
  },
  { long: 'until', short: 'U', value: 'time', about: 'before this time, written like --since' },
  {
    long: 'level',
    short: 'l',
    value: 'level',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    about: 'this level or a higher one',
  },
  { long: 'grep', short: 'g', value: 'text', many: true, about: 'with this text, in any case; given twice, both' },
  { long: 'regex', short: 'E', value: 'pattern', about: 'matching this regular expression (RE2 syntax)' },
  { long: 'exclude', short: 'e', value: 'text', many: true, about: 'without this text' },
  { long: 'case-sensitive', about: 'letter case counts in --grep, --regex and --exclude' },
  { long: 'source', value: 'place', about: 'written by this code: file or file:line' },
  { long: 'component', value: 'name', about: 'with this tag' },
];

export const ZONE_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'time-zone',
    short: 'z',
    value: 'zone',
    check: checkTimeZone,
    default: 'the zone of the logs',
    about: 'show and read times in this zone',
  },
  {
    long: 'log-zone',
    value: 'zone',
    check: checkTimeZone,
    default: "the system's",
    about: 'zone in which local files were written, where their times do not tell',
  },
];

export const CONTEXT_FLAGS: readonly FlagDefinition[] = [
  { long: 'after-context', short: 'A', value: 'n', check: checkWholeNumber, about: 'n records after each one found' },
  { long: 'before-context', short: 'B', value: 'n', check: checkWholeNumber, about: 'n records before each one found' },
  { long: 'context', short: 'C', value: 'n', check: checkWholeNumber, about: 'n records before and after' },
];

export const ROTATED_FLAG: FlagDefinition = {
  long: 'rotated',
  short: 'r',
  about: 'with a file, also those it was rotated to',
};

export const CURSOR_FLAG: FlagDefinition = {
  long: 'cursor',
  value: 'cursor',
  about: 'go on behind the record with this cursor (-o json tells them)',
};

export const RECORD_OUTPUT: FlagDefinition = {
  long: 'output',
  short: 'o',
  value: 'format',
  choices: ['pretty', 'raw', 'json', 'logfmt'],
  default: 'pretty on a terminal, else raw',
  about: 'how records are written',
};

export const PREFIX_FLAG: FlagDefinition = {
  long: 'prefix',
  value: 'when',
  alone: 'always',
  choices: ['auto', 'always', 'never'],
  default: 'auto: pretty output of several files',
  about: 'the name of the file in front of each record',
};

export const TAIL_FLAG: FlagDefinition = {
  long: 'tail',
  short: 'n',
  value: 'n',
  check: checkCountOrAll,
  default: '200; all with --since or --cursor',
  about: 'the newest n records, or all',
};

/** Whose logs, of a cluster. */
export const MEMBER_FLAGS: readonly FlagDefinition[] = [
  { long: 'all', short: 'a', about: 'of all nodes of the cluster that the node knows; a name is then a log of each' },
  { long: 'role', value: 'role', about: 'the same, only nodes of this role' },
];

/** Where the logs are. */
export const SOURCE_ARGUMENT: ArgumentDefinition = {
  name: 'where',
  optional: true,
  many: true,
  complete: 'file',
  about:
    'a file or directory here, the URL of a node, the name of a log on the node of --url, or NODE:FILE or NODE: for nodes of its cluster (NODE may hold * and ?); all its logs if absent',
};
