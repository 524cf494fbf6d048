import type { ArgumentDefinition, FlagDefinition } from './command-definition.ts';
import { checkCountOrAll, checkTimeZone, checkWholeNumber } from './flag-checks.ts';

/** The node that requests go to. */
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
    about: 'file with the token for the node; PORTHOLE_TOKEN may hold the token itself',
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

/** Selects records. */
export const FILTER_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'since',
    short: 'S',
    value: 'time',
    about:
      'at or after this time: RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00, 15m (15 minutes ago) or epoch seconds',
  },
  { long: 'until', short: 'U', value: 'time', about: 'before this time, same format as --since' },
  {
    long: 'level',
    short: 'l',
    value: 'level',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    about: 'this level and above',
  },
  {
    long: 'grep',
    short: 'g',
    value: 'text',
    many: true,
    about: 'containing TEXT, ignoring case; repeat to require all',
  },
  { long: 'regex', short: 'E', value: 'pattern', about: 'matching this regular expression (RE2 syntax)' },
  {
    long: 'exclude',
    short: 'e',
    value: 'text',
    many: true,
    about: 'not containing TEXT, ignoring case; repeat to exclude more',
  },
  { long: 'case-sensitive', about: 'match case in --grep, --regex and --exclude' },
  { long: 'source', value: 'file:line', about: 'logged by this source file, or this line of it' },
  { long: 'component', value: 'name', about: 'logged by this component' },
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
    about: 'zone for local files whose timestamps have none',
  },
];

export const CONTEXT_FLAGS: readonly FlagDefinition[] = [
  { long: 'after-context', short: 'A', value: 'n', check: checkWholeNumber, about: 'show n records after each match' },
  {
    long: 'before-context',
    short: 'B',
    value: 'n',
    check: checkWholeNumber,
    about: 'show n records before each match',
  },
  {
    long: 'context',
    short: 'C',
    value: 'n',
    check: checkWholeNumber,
    about: 'show n records before and after each match',
  },
];

export const ROTATED_FLAG: FlagDefinition = {
  long: 'rotated',
  short: 'r',
  about: 'include the rotated files of the log',
};

export const CURSOR_FLAG: FlagDefinition = {
  long: 'cursor',
  value: 'cursor',
  about: 'continue after CURSOR (shown by -o json)',
};

export const RECORD_OUTPUT: FlagDefinition = {
  long: 'output',
  short: 'o',
  value: 'format',
  choices: ['pretty', 'raw', 'json', 'logfmt'],
  default: 'pretty on a terminal, else raw',
  about: 'output format',
};

export const PREFIX_FLAG: FlagDefinition = {
  long: 'prefix',
  value: 'when',
  alone: 'always',
  choices: ['auto', 'always', 'never'],
  default: 'auto: pretty output of several files',
  about: 'print the file name before each record',
};

export const TAIL_FLAG: FlagDefinition = {
  long: 'tail',
  short: 'n',
  value: 'n',
  check: checkCountOrAll,
  default: '200; all with --since or --cursor',
  about: 'show the newest n records, or all',
};

/** Selects members of a cluster. */
export const MEMBER_FLAGS: readonly FlagDefinition[] = [
  { long: 'all', short: 'a', about: 'logs of all nodes of the cluster; a file name selects that log on each node' },
  { long: 'role', value: 'role', about: 'like --all, only nodes with this role' },
];

/** The logs to read. */
export const SOURCE_ARGUMENT: ArgumentDefinition = {
  name: 'target',
  optional: true,
  many: true,
  complete: 'file',
  about:
    'a local file or directory, the URL of a node, the name of a log on the node at --url, or NODE:FILE or NODE: for nodes of its cluster (NODE may contain * and ?); default: all logs of the node at --url',
};
