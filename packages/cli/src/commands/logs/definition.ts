import type { CommandDefinition } from '../../command-definition.ts';
import { checkCountFromZero, checkCountOrAll, checkSpan } from '../../flag-checks.ts';
import { parameterFlags } from '../../parameter-flags.ts';
import {
  CONFIG_FLAG,
  CONTEXT_FLAGS,
  FILTER_FLAGS,
  JOURNAL_FLAG,
  MEMBER_FLAGS,
  NODE_OUTPUT_FLAGS,
  outputFlag,
  PAGER_FLAG,
  PREFIX_FLAG,
  RECORD_OUTPUT,
  RECURSIVE_FLAG,
  ROTATED_FLAG,
  SOURCE_ARGUMENT,
  TEMPLATE_FLAG,
  ZONE_FLAGS,
} from '../../shared-flags.ts';

const RECORD_FLAGS = [
  ...CONTEXT_FLAGS,
  ...FILTER_FLAGS,
  ROTATED_FLAG,
  ...parameterFlags('logSearch', ['cursor']),
  ...parameterFlags('logSearch', ['fields'], { complete: 'field' }),
  RECORD_OUTPUT,
  TEMPLATE_FLAG,
  PREFIX_FLAG,
];

const END_FLAGS = [
  ...MEMBER_FLAGS,
  ...ZONE_FLAGS,
  RECURSIVE_FLAG,
  CONFIG_FLAG,
  JOURNAL_FLAG,
  ...NODE_OUTPUT_FLAGS,
  PAGER_FLAG,
];

export const LOGS_COMMAND: CommandDefinition = {
  name: 'logs',
  about: 'read logs of nodes or local files: newest records, live, by time, level and text',
  args: [SOURCE_ARGUMENT],
  flags: [
    { long: 'follow', short: 'f', about: 'keep printing new records (survives rotation)' },
    ...parameterFlags('logFollow', ['tail'], { check: checkCountFromZero }),
    ...RECORD_FLAGS,
    ...END_FLAGS,
  ],
  notes: [
    'Exit codes: 0 records found, 1 no record matches, 2 error, 3 some files or nodes could not be read, 130 interrupted, 143 terminated.',
  ],
  examples: [
    ['porthole logs', 'the newest 200 records of the local node'],
    ['porthole logs -f -l warn', 'warnings and errors as they are logged'],
    ['porthole logs broker.log -S "yesterday 14:00" -U "yesterday 15:00"', 'one hour of one log'],
    ['porthole logs ./some.log -l error -C 3', 'errors in a local file, with 3 records of context'],
    ['porthole logs /var/log/lindb -g timeout -o json', 'a directory, as JSON'],
    ['porthole logs --all -f -l error', 'errors of all nodes of the cluster as they are logged'],
    ['porthole logs journal:nginx -f', 'a unit of the systemd journal, live'],
    ["porthole logs 'broker-*:lind-broker.log' -S 10m", 'one log of several nodes, merged by time'],
  ],
  isPaged: true,
  load: () => import('./logs.ts'),
  commands: [
    {
      name: 'ls',
      about: 'list log files: size, state, format, first and last timestamp',
      args: [
        {
          ...SOURCE_ARGUMENT,
          about: 'a local directory, the URL of a node, or NODE: for a node of its cluster; default: the node at --url',
        },
      ],
      flags: [outputFlag(['table', 'json', 'names']), ...END_FLAGS],
      examples: [
        ['porthole logs ls /var/log', 'the files of a directory'],
        ['porthole logs ls --all', 'the files of all nodes of the cluster'],
      ],
      isPaged: true,
      load: () => import('./ls.ts'),
    },
    {
      name: 'formats',
      about: 'show what log files are read as: time, level, zone, samples, and lines that do not fit',
      args: [
        {
          ...SOURCE_ARGUMENT,
          name: 'file',
          about:
            'a local file or directory, a log of the node, NODE:FILE, or the URL of a node; default: the node at --url',
        },
      ],
      flags: [
        outputFlag(['text', 'json'], 'output format; json prints one file per line'),
        ...ZONE_FLAGS.filter(({ long }) => long === 'log-zone'),
        RECURSIVE_FLAG,
        CONFIG_FLAG,
        ...NODE_OUTPUT_FLAGS,
        PAGER_FLAG,
      ],
      notes: [
        'Parts of samples are coloured, or without colours named below the line. For a single file it ends with an example of a format for log.formats, see docs/formats.md.\n' +
          'Exit codes: 0 shown, 1 no files, 2 error, 3 some files could not be read.',
      ],
      examples: [
        ['porthole logs formats ./app.log', 'how a local file is read, and how to change that'],
        ['porthole logs formats ./app.log --log-zone Europe/Berlin', 'with another zone for timestamps without one'],
        ['porthole logs formats broker-2:broker.log -o json', 'a file of another node of the cluster'],
      ],
      isPaged: true,
      load: () => import('./formats.ts'),
    },
    {
      name: 'search',
      about: 'find records containing a text, newest first, including rotated and compressed files',
      args: [{ name: 'text', about: 'text to find, ignoring case; "" matches every record' }, SOURCE_ARGUMENT],
      flags: [
        ...parameterFlags('logSearch', ['limit'], { check: checkCountOrAll }),
        ...parameterFlags('logSearch', ['oldest']),
        ...RECORD_FLAGS,
        ...END_FLAGS,
      ],
      examples: [
        ['porthole logs search timeout', 'all logs of the local node'],
        ['porthole logs search "connection reset" ./logs -S 2h -o json', 'the last two hours of a local directory'],
      ],
      isPaged: true,
      load: async () => ({ run: (await import('./logs.ts')).search }),
    },
    {
      name: 'digest',
      about: 'group records by level and source location',
      args: [SOURCE_ARGUMENT],
      flags: [
        ...parameterFlags('logDigest', ['limit', 'new-since', 'only-new']),
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        outputFlag(['table', 'json']),
        ...END_FLAGS,
      ],
      examples: [['porthole logs digest -l warn --new-since 1h', 'which warnings are new']],
      isPaged: true,
      load: async () => ({ run: (await import('./counts.ts')).digest }),
    },
    {
      name: 'histogram',
      about: 'count records over time, by level',
      args: [SOURCE_ARGUMENT],
      flags: [
        ...parameterFlags('logHistogram', ['bucket', 'buckets']),
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        outputFlag(['chart', 'json', 'tsv']),
        ...END_FLAGS,
      ],
      examples: [['porthole logs histogram -S 24h -l error', 'errors of the last day over time']],
      isPaged: true,
      load: async () => ({ run: (await import('./counts.ts')).histogram }),
    },
    {
      name: 'top',
      about: 'count records by the value of a field',
      args: [
        { name: 'field', complete: 'field', about: 'the field, as "porthole logs fields" lists it' },
        SOURCE_ARGUMENT,
      ],
      flags: [
        ...parameterFlags('logTop', ['limit', 'value', 'bucket', 'buckets']),
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        outputFlag(['table', 'json', 'csv']),
        ...END_FLAGS,
      ],
      notes: [
        'Counts are exact unless a field has very many values: then >= marks a lower bound and ~ an estimate.',
        'With --buckets or --bucket, each value shows its counts over time instead of a bar.',
      ],
      examples: [
        ['porthole logs top shard -l error -S 1h', 'which shards log errors'],
        ['porthole logs top level --all --buckets 40', 'levels of all nodes of the cluster, over time'],
        ["porthole logs top uri ./access.log -Q 'status>=500'", 'failing pages in a local file'],
      ],
      isPaged: true,
      load: async () => ({ run: (await import('./counts.ts')).top }),
    },
    {
      name: 'fields',
      about: 'list the fields of records: types, number of records and of different values, examples',
      args: [SOURCE_ARGUMENT],
      flags: [
        ...parameterFlags('logFields', ['limit']),
        ...FILTER_FLAGS,
        ROTATED_FLAG,
        outputFlag(['table', 'json', 'names']),
        ...END_FLAGS,
      ],
      notes: ['For a large range a sample is examined, which a note says; ~ marks an estimated number of values.'],
      examples: [['porthole logs fields -S 1h', 'what can be asked by -Q and counted by "porthole logs top"']],
      isPaged: true,
      load: async () => ({ run: (await import('./counts.ts')).fields }),
    },
    {
      name: 'around',
      about: 'show what every node of the cluster logged around a record or a time',
      args: [
        {
          ...SOURCE_ARGUMENT,
          about: `only these nodes: ids, or patterns with * and ?; or, as for "porthole logs", ${SOURCE_ARGUMENT.about.replace(/; default: .*$/, '')}; default: all nodes of the cluster`,
        },
      ],
      flags: [
        ...parameterFlags('logAround', ['at', 'time']),
        ...parameterFlags('logAround', ['around'], { check: checkSpan }),
        ...parameterFlags('logAround', ['limit']),
        ...FILTER_FLAGS.filter(({ long }) => !['since', 'until', 'explain'].includes(long)),
        ROTATED_FLAG,
        outputFlag(['pretty', 'json', 'logfmt']),
        PREFIX_FLAG,
        ...END_FLAGS,
      ],
      notes: [
        'In pretty output, > marks the record itself and ~ a record whose order relative to the one above is uncertain.',
      ],
      examples: [
        ['porthole logs around --time "14:03:20" --around 10s', 'twenty seconds of all nodes'],
        ['porthole logs around --at broker-1:CURSOR', 'around a record found before'],
        ["porthole logs around --time 14:03 -Q 'level>=warn' 'storage-*:'", 'warnings of some nodes'],
        ['porthole logs around --time 14:03 ./app.log ./db.log', 'two local files'],
      ],
      isPaged: true,
      load: () => import('./around.ts'),
    },
    {
      name: 'download',
      about: 'download log files from a node, byte for byte',
      args: [
        {
          name: 'file',
          many: true,
          complete: 'log',
          about: 'file names as listed by "porthole logs ls"; NODE:FILE for another node of the cluster',
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
        { long: 'force', about: 'overwrite existing files' },
        ...NODE_OUTPUT_FLAGS,
      ],
      examples: [
        ['porthole logs download broker.log broker.log.1.gz --to /tmp', 'two files'],
        ['porthole logs download broker-2:broker.log', 'from another node of the cluster'],
      ],
      load: () => import('./download.ts'),
    },
  ],
};
