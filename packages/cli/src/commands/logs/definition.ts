import type { CommandDefinition, FlagDefinition } from '../../command-definition.ts';
import { checkCountOrAll, checkSpan, checkWholeNumber } from '../../flag-checks.ts';
import {
  COLOR_FLAG,
  CONTEXT_FLAGS,
  CURSOR_FLAG,
  FILTER_FLAGS,
  MEMBER_FLAGS,
  NODE_FLAGS,
  PREFIX_FLAG,
  RECORD_OUTPUT,
  ROTATED_FLAG,
  SOURCE_ARGUMENT,
  TAIL_FLAG,
  ZONE_FLAGS,
} from '../../shared-flags.ts';

function output(choices: readonly string[], about = 'how it is written'): FlagDefinition {
  return { long: 'output', short: 'o', value: 'format', choices, default: choices[0] ?? '', about };
}

const RECORD_FLAGS = [...CONTEXT_FLAGS, ...FILTER_FLAGS, ROTATED_FLAG, CURSOR_FLAG, RECORD_OUTPUT, PREFIX_FLAG];

const END_FLAGS = [...MEMBER_FLAGS, ...ZONE_FLAGS, ...NODE_FLAGS, COLOR_FLAG];

export const LOGS_COMMAND: CommandDefinition = {
  name: 'logs',
  about: 'read logs of a node, or files here: the newest records, live, by time, level and text',
  args: [SOURCE_ARGUMENT],
  flags: [
    { long: 'follow', short: 'f', about: 'go on with what is written from now on, through rotation' },
    TAIL_FLAG,
    ...RECORD_FLAGS,
    ...END_FLAGS,
  ],
  notes: [
    'Exit codes: 0 records were found, 1 none matches, 2 error, 3 some files or nodes could not be read, 130 interrupted, 143 terminated.',
  ],
  examples: [
    ['porthole logs', 'the newest 200 records of the local node'],
    ['porthole logs -f -l warn', 'warnings and errors as they come'],
    ['porthole logs broker.log -S "yesterday 14:00" -U "yesterday 15:00"', 'one hour of one log'],
    ['porthole logs ./some.log -l error -C 3', 'errors of a file here, with 3 records around each'],
    ['porthole logs /var/log/lindb -g timeout -o json', 'a directory, as JSON'],
    ['porthole logs --all -f -l error', 'errors of all nodes of the cluster as they come'],
    ["porthole logs 'broker-*:lind-broker.log' -S 10m", 'one log of some nodes, merged by time'],
  ],
  load: () => import('./logs.ts'),
  commands: [
    {
      name: 'ls',
      about: 'list log files: size, age, format, times',
      args: [
        {
          ...SOURCE_ARGUMENT,
          about: 'a directory here, the URL of a node, or NODE: of its cluster; the node of --url if absent',
        },
      ],
      flags: [output(['table', 'json', 'names']), ...END_FLAGS],
      examples: [
        ['porthole logs ls /var/log', 'the files of a directory'],
        ['porthole logs ls --all', 'the files of all nodes of the cluster'],
      ],
      load: () => import('./ls.ts'),
    },
    {
      name: 'search',
      about: 'find every record with a text, newest first, in rotated and compressed files too',
      args: [
        { name: 'text', about: 'what to look for, in any case; "" for everything the flags let through' },
        SOURCE_ARGUMENT,
      ],
      flags: [
        {
          long: 'limit',
          short: 'n',
          value: 'n',
          check: checkCountOrAll,
          default: '1000',
          about: 'at most n records, or all',
        },
        { long: 'oldest', about: 'oldest first' },
        ...RECORD_FLAGS,
        ...END_FLAGS,
      ],
      examples: [
        ['porthole logs search timeout', 'on the local node, in all logs'],
        ['porthole logs search "connection reset" ./logs -S 2h -o json', 'in a directory, of the last two hours'],
      ],
      load: () => import('./search.ts'),
    },
    {
      name: 'digest',
      about: 'group records by level and by the place in the code that wrote them',
      args: [SOURCE_ARGUMENT],
      flags: [
        {
          long: 'limit',
          short: 'n',
          value: 'n',
          check: checkWholeNumber,
          default: '50',
          about: 'at most n groups, the largest',
        },
        { long: 'new-since', value: 'time', about: 'mark groups that were never seen before this time' },
        { long: 'only-new', about: 'only those groups; needs --new-since' },
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        output(['table', 'json']),
        ...END_FLAGS,
      ],
      examples: [['porthole logs digest -l warn --new-since 1h', 'which warnings are new']],
      load: () => import('./digest.ts'),
    },
    {
      name: 'histogram',
      about: 'count records over time, by level',
      args: [SOURCE_ARGUMENT],
      flags: [
        { long: 'bucket', value: 'span', about: 'width of a bucket, like 1m; chosen to fit --buckets if absent' },
        { long: 'buckets', value: 'n', check: checkWholeNumber, default: '40', about: 'about so many buckets' },
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        output(['chart', 'json', 'tsv']),
        ...END_FLAGS,
      ],
      examples: [['porthole logs histogram -S 24h -l error', 'when the errors were']],
      load: () => import('./histogram.ts'),
    },
    {
      name: 'moment',
      about: 'tell what every node of the cluster said around one record, or around a time',
      args: [{ name: 'node', optional: true, many: true, about: 'only these nodes: ids, or patterns with * and ?' }],
      flags: [
        { long: 'at', value: 'node:cursor', about: 'around this record; -o json tells node and cursor of each' },
        { long: 'time', short: 't', value: 'time', about: 'around this time, written like --since' },
        {
          long: 'around',
          value: 'span',
          check: checkSpan,
          default: '5s',
          about: 'so long before and after it, at most 1h',
        },
        {
          long: 'limit',
          short: 'n',
          value: 'n',
          check: checkWholeNumber,
          default: '100',
          about: 'at most n records of each node, those next to the moment',
        },
        { long: 'role', value: 'role', about: 'only nodes of this role' },
        output(['pretty', 'json', 'logfmt']),
        PREFIX_FLAG,
        ...ZONE_FLAGS.filter(({ long }) => long === 'time-zone'),
        ...NODE_FLAGS,
        COLOR_FLAG,
      ],
      notes: ['In pretty output > marks the record itself, ~ one whose order with the one above is not sure.'],
      examples: [
        ['porthole logs moment --time "14:03:20" --around 10s', 'twenty seconds of all nodes'],
        ['porthole logs moment --at broker-1:CURSOR', 'around a record that was found'],
      ],
      load: () => import('./around.ts'),
    },
    {
      name: 'download',
      about: 'fetch log files from a node as they are on its disk',
      args: [
        {
          name: 'file',
          many: true,
          about: 'names of files, as "porthole logs ls" tells them; NODE:FILE of another node of the cluster',
        },
      ],
      flags: [
        {
          long: 'to',
          value: 'path',
          complete: 'file',
          default: 'the working directory',
          about: 'a directory, a file name, or - for stdout',
        },
        { long: 'force', about: 'write over files that exist' },
        ...NODE_FLAGS,
        COLOR_FLAG,
      ],
      examples: [
        ['porthole logs download broker.log broker.log.1.gz --to /tmp', 'two files'],
        ['porthole logs download broker-2:broker.log', 'of another node'],
      ],
      load: () => import('./download.ts'),
    },
  ],
};
