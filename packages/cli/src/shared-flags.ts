import type { ArgumentDefinition, FlagDefinition } from './command-definition.ts';
import { checkTimeZone, checkWholeNumber, RECORD_FORMATS } from './flag-checks.ts';
import { FILTERS, parameterFlags, toFlag } from './parameter-flags.ts';

/** The node that requests go to, and how. */
export const NODE_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'url',
    value: 'url',
    default: 'that of the context in use, else http://127.0.0.1:7300',
    about: 'address of the node; also PORTHOLE_URL',
  },
  // Not "--context": that is the context of a match, as in grep.
  {
    long: 'use-context',
    short: 'c',
    value: 'name',
    complete: 'context',
    about: 'address and credentials of this context, see "porthole context"; also PORTHOLE_CONTEXT',
  },
  {
    long: 'token-file',
    value: 'file',
    complete: 'file',
    about: 'file with the token for the node; PORTHOLE_TOKEN may hold the token itself',
  },
  {
    long: 'ca-file',
    value: 'file',
    complete: 'file',
    default: 'the authorities that Node.js knows',
    about: 'certificates (PEM) of the authorities to trust for an https address',
  },
  { long: 'cert-file', value: 'file', complete: 'file', about: 'client certificate (PEM); needs --key-file' },
  { long: 'key-file', value: 'file', complete: 'file', about: 'private key (PEM) of the client certificate' },
];

/** How a command prints. */
export const OUTPUT_FLAGS: readonly FlagDefinition[] = [
  {
    long: 'color',
    value: 'when',
    alone: 'always',
    choices: ['auto', 'always', 'never'],
    default: 'auto: on terminals, unless NO_COLOR is set',
    about: 'colours',
  },
  { long: 'no-color', about: 'no colours, like --color never' },
  { long: 'quiet', short: 'q', about: 'print only data and errors: no progress, notes or warnings' },
];

/** For commands whose output may be long. */
export const PAGER_FLAG: FlagDefinition = {
  long: 'no-pager',
  about: 'do not show long output on a terminal with PORTHOLE_PAGER, PAGER or less',
};

/** Of commands that send requests to a node. */
export const NODE_OUTPUT_FLAGS: readonly FlagDefinition[] = [...NODE_FLAGS, ...OUTPUT_FLAGS];

/** The format of what a command prints; the first is the default. */
export function outputFlag(choices: readonly string[], about = 'output format'): FlagDefinition {
  return { long: 'output', short: 'o', value: 'format', choices, default: choices[0] ?? '', about };
}

/** Accepted before the command as well; those that a command does not have are ignored there. */
export const GLOBAL_FLAGS: readonly FlagDefinition[] = [
  ...NODE_FLAGS,
  ...OUTPUT_FLAGS,
  PAGER_FLAG,
  { long: 'version', short: 'V', about: 'print the version' },
];

/** Selects records: every filter of the parameter table. */
export const FILTER_FLAGS: readonly FlagDefinition[] = [
  ...FILTERS.flatMap(toFlag).map((flag): FlagDefinition => {
    if (flag.long === 'component') return { ...flag, complete: 'component' };
    return flag.long === 'query' ? { ...flag, once: true } : flag;
  }),
  { long: 'explain', about: 'print the filters as one query and in words, and do nothing else' },
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
  { long: 'utc', about: 'short for --time-zone UTC' },
  {
    long: 'log-zone',
    value: 'zone',
    check: checkTimeZone,
    default: "the system's",
    about: 'zone for local files whose timestamps have none',
  },
];

/** Those of commands that read no local files. */
export const SHOWN_ZONE_FLAGS: readonly FlagDefinition[] = ZONE_FLAGS.filter(({ long }) => long !== 'log-zone');

/** Of commands that print times, perhaps many of them. */
export const PAGED_NODE_FLAGS: readonly FlagDefinition[] = [...SHOWN_ZONE_FLAGS, ...NODE_OUTPUT_FLAGS, PAGER_FLAG];

/** Formats of local files. */
export const CONFIG_FLAG: FlagDefinition = {
  long: 'config',
  value: 'file',
  complete: 'file',
  about: 'settings file (TOML) whose log.formats apply to local files; also PORTHOLE_CONFIG',
};

/** The journal of another machine, or of a mounted disk. */
export const JOURNAL_FLAG: FlagDefinition = {
  long: 'journal-dir',
  value: 'dir',
  complete: 'file',
  default: "this machine's",
  about: 'directory of the files that journal: reads; also PORTHOLE_LOG_JOURNAL_DIR',
};

export const RECURSIVE_FLAG: FlagDefinition = {
  long: 'recursive',
  short: 'R',
  about: 'read the directories below a local directory, too; a node has the setting log.recursive',
};

export const CONTEXT_FLAGS: readonly FlagDefinition[] = [
  ...parameterFlags('logSearch', ['after-context', 'before-context']),
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

export const RECORD_OUTPUT: FlagDefinition = {
  long: 'output',
  short: 'o',
  value: 'format',
  choices: RECORD_FORMATS,
  default: 'pretty on a terminal, else raw; table with --fields',
  about: 'output format',
};

export const TEMPLATE_FLAG: FlagDefinition = {
  long: 'template',
  value: 'text',
  about: "print each record like this, with fields in braces: '{time} {level} {shard}'; {{ for a brace",
};

export const PREFIX_FLAG: FlagDefinition = {
  long: 'prefix',
  value: 'when',
  alone: 'always',
  choices: ['auto', 'always', 'never'],
  default: 'auto: pretty output of several files, raw output of several nodes',
  about: 'print the file, or node and file, before each record',
};

/** Selects members of a cluster. */
export const MEMBER_FLAGS: readonly FlagDefinition[] = [
  { long: 'all', short: 'a', about: 'logs of all nodes of the cluster; a file name selects that log on each node' },
  ...parameterFlags('logSearch', ['role'], { about: 'like --all, only nodes with this role' }),
  ...parameterFlags('logSearch', ['label'], {
    about:
      'like --all, only nodes with this label, like zone=a or zone=eu-*; repeat for other names, or other values of a name',
  }),
  ...parameterFlags('logSearch', ['store']),
];

/** Members of the cluster. */
export const NODES_ARGUMENT: ArgumentDefinition = {
  name: 'node',
  optional: true,
  many: true,
  complete: 'node',
  about: 'only these nodes: ids, or patterns with * and ?; default: all nodes of the cluster',
};

/** The logs to read. */
export const SOURCE_ARGUMENT: ArgumentDefinition = {
  name: 'target',
  optional: true,
  many: true,
  complete: 'source',
  about:
    'a local file or directory, - for standard input, the URL of a node, the name of a log on the node at --url, NODE:FILE or NODE: for nodes of its cluster (NODE may contain * and ?), or journal: or journal:UNIT for the systemd journal of this machine; default: what is piped in, else all logs of the node at --url',
};
