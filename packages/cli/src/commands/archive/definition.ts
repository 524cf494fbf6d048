import type { CommandDefinition, FlagDefinition } from '../../command-definition.ts';
import {
  MEMBER_FLAGS,
  NODE_OUTPUT_FLAGS,
  NODES_ARGUMENT,
  OUTPUT_FLAGS,
  outputFlag,
  PAGED_NODE_FLAGS,
  PAGER_FLAG,
} from '../../shared-flags.ts';

const OUTPUT = outputFlag(['table', 'json'], 'output format; json prints one object per line');

const ROLE = MEMBER_FLAGS.filter(({ long }) => long === 'role').map((flag) => ({
  ...flag,
  about: 'only nodes with this role',
}));

export const ARCHIVE_COMMAND: CommandDefinition = {
  name: 'archive',
  about: 'set up and check the archive: records in ClickHouse that outlive the disks of their nodes',
  commands: [
    {
      name: 'init',
      about: 'create or upgrade the tables of the archive; may be run again at any time',
      flags: async () => {
        const { SERVE_FLAGS } = await import('../serve/setting-flags.ts');
        const isUsed = ({ long }: FlagDefinition) => long === 'config' || long.startsWith('archive-');
        return [
          { long: 'dry-run', about: 'print the SQL statements instead of running them' },
          ...SERVE_FLAGS.filter(isUsed),
          ...OUTPUT_FLAGS,
        ];
      },
      notes: [
        'Reads the settings of "porthole serve" from flags, environment and settings file. The user needs the right to create a database and tables: docs/archive.md has the grants of all users.\n' +
          'On servers older than 19.6, which do not delete old records by themselves, it also deletes days older than archive.keep: run it daily there.',
      ],
      examples: [
        ['porthole archive init --archive-url http://10.8.0.9:8123 --dry-run', 'what it would run'],
        ['porthole archive init --config /etc/porthole.toml', 'with the settings of a node'],
      ],
      load: async () => ({ run: (await import('./archive.ts')).init }),
    },
    {
      name: 'status',
      about: 'show what each node has shipped to the archive, and how far behind it is',
      flags: [OUTPUT, ...ROLE, ...PAGED_NODE_FLAGS],
      notes: [
        'FROM and SHIPPED TO are the time range of which all records are in the archive, by the clock of each node. LOST counts bytes that were deleted on disk before they could be shipped. Nodes that no longer exist are marked "past".\n' +
          'Exit codes: 0 ok, 2 error, 3 a node is stuck or more than 5 minutes behind, has lost records, or ships nothing, or the archive cannot be read. Why a node is stuck, and since when, is printed below the table.',
      ],
      examples: [['porthole archive status', 'all nodes of the cluster of the local node']],
      isPaged: true,
      load: async () => ({ run: (await import('./archive.ts')).status }),
    },
    {
      name: 'verify',
      about: 'compare the number of records per node and day in the archive with those on the disks of the nodes',
      args: [{ ...NODES_ARGUMENT, about: 'only these nodes: ids, or patterns with * and ?' }],
      flags: [
        {
          long: 'since',
          short: 'S',
          value: 'time',
          default: '7d',
          about: 'days from this time on, same format as in "porthole logs"',
        },
        OUTPUT,
        ...ROLE,
        ...NODE_OUTPUT_FLAGS,
        PAGER_FLAG,
      ],
      notes: [
        'Days are those of UTC. The archive may have more than a disk, which no longer has everything; it must never have less. The last two minutes are left out: they may not have been shipped yet.\n' +
          'Exit codes: 0 the archive has everything, 1 records are missing in it, 2 error, 3 some nodes did not respond.',
      ],
      examples: [['porthole archive verify -S 30d', 'the last 30 days of all nodes']],
      isPaged: true,
      load: async () => ({ run: (await import('./archive.ts')).verify }),
    },
  ],
};
