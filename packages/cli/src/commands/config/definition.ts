import type { CommandDefinition } from '../../command-definition.ts';
import { parameterFlags } from '../../parameter-flags.ts';
import { NODE_OUTPUT_FLAGS, OUTPUT_FLAGS, outputFlag, PAGED_NODE_FLAGS, PAGER_FLAG } from '../../shared-flags.ts';

export const CONFIG_COMMAND: CommandDefinition = {
  name: 'config',
  about: 'show and compare configurations of nodes, and write a settings file',
  commands: [
    {
      name: 'init',
      about: 'write a settings file with every setting as a comment, and the schema that editors check it with',
      args: [
        {
          name: 'file',
          optional: true,
          complete: 'file',
          about: 'the file to write, or - for stdout; default: porthole.toml',
        },
      ],
      flags: [{ long: 'force', about: 'replace the file if it exists' }, ...OUTPUT_FLAGS],
      notes: [
        'The schema is porthole.schema.json beside the file, which names it in its first line, for editors like those with Taplo or Even Better TOML.',
      ],
      examples: [
        ['porthole config init', 'porthole.toml in the working directory'],
        ['porthole config init /etc/porthole/porthole.toml', 'somewhere else'],
      ],
      load: () => import('./init.ts'),
    },
    {
      name: 'get',
      about: 'print the configuration of a node, or some of its keys; secrets are masked',
      args: [
        {
          name: 'node-or-key',
          optional: true,
          many: true,
          complete: 'key',
          about:
            'optionally the URL of a node, NODE: for a node of the cluster, or a configuration file; then keys or tables: http, http.port',
        },
      ],
      flags: [
        outputFlag(
          ['toml', 'source', 'json', 'flat', 'value'],
          'output format; source prints the text as the service has it; flat prints one key = value per line, values as JSON; value only the values of keys, texts without quotes',
        ),
        ...NODE_OUTPUT_FLAGS,
        PAGER_FLAG,
      ],
      examples: [
        ['porthole config get', 'all of it'],
        ['porthole config get http.port -o flat', 'one key'],
        ['port=$(porthole config get http.port -o value)', 'its value, for a script'],
        ['porthole config get /etc/lindb/broker.toml coordinator', 'a table of a file'],
        ['porthole config get broker-2: -o source', "the service's own text, in its own format"],
        ['porthole config get broker-2: http', 'a table of another node of the cluster'],
      ],
      isPaged: true,
      load: () => import('./get.ts'),
    },
    {
      name: 'diff',
      about:
        'compare two configurations, or those of all nodes of the cluster, role by role; exit code 1 if they differ',
      args: [
        {
          name: 'a',
          optional: true,
          complete: 'file',
          about:
            'the URL of a node, NODE: for a node of the cluster, or a configuration file; default: the whole cluster',
        },
        { name: 'b', optional: true, complete: 'file', about: 'the other one' },
      ],
      flags: [
        outputFlag(['table', 'unified', 'json']),
        {
          long: 'expected',
          about: 'for a cluster, also show keys that are expected to differ: addresses, names, ports',
        },
        ...parameterFlags('configDiff', ['role', 'label', 'by']),
        ...NODE_OUTPUT_FLAGS,
        PAGER_FLAG,
      ],
      notes: [
        'For a cluster, values that are equal but written differently from the majority (5s and 5000ms) are shown but do not count as a difference. Exit codes: 0 no difference, 1 differences found, 2 error, 3 no difference, but some nodes did not respond.',
      ],
      examples: [
        ['porthole config diff', 'which node of the cluster is configured differently'],
        ['porthole config diff --by zone', 'the same, each zone for itself'],
        ['porthole config diff http://10.8.0.21:7300 http://10.8.0.22:7300', 'two nodes'],
        ['porthole config diff http://10.8.0.21:7300 broker.toml -o unified', 'a node against a file'],
      ],
      isPaged: true,
      load: () => import('./diff.ts'),
    },
    {
      name: 'history',
      about: 'when the configurations of nodes have changed, and how; secrets are masked',
      args: [{ name: 'key', optional: true, complete: 'key', about: 'only changes of this key or table' }],
      flags: [
        { long: 'node', value: 'node', complete: 'node', about: 'only this node of the cluster' },
        ...parameterFlags('configHistory', ['limit'], { default: '20' }),
        outputFlag(['text', 'json'], 'output format; json prints one configuration per line'),
        ...PAGED_NODE_FLAGS,
      ],
      notes: ['Exit codes: 0 found, 1 nothing has changed, 2 error, 3 some nodes did not respond.'],
      examples: [
        ['porthole config history', 'what has changed on any node, oldest first'],
        ['porthole config history storage.wal', 'when this table has changed'],
      ],
      isPaged: true,
      load: () => import('./history.ts'),
    },
    {
      name: 'at',
      about: 'print the configuration of a node as it was at a time, or some of its keys',
      args: [
        { name: 'time', about: 'RFC 3339, 2026-11-15 14:05, 14:05, yesterday 18:00 or 15m (15 minutes ago)' },
        { name: 'key', optional: true, many: true, complete: 'key', about: 'keys or tables' },
      ],
      flags: [
        { long: 'node', value: 'node', complete: 'node', about: 'this node of the cluster' },
        ...PAGED_NODE_FLAGS,
      ],
      notes: ['Exit codes: 0 found, 1 no such key, 2 error.'],
      examples: [
        ['porthole config at 03:12', 'all of it'],
        ['porthole config at 03:12 storage.wal --node storage-3', 'a table of another node'],
      ],
      isPaged: true,
      load: async () => ({ run: (await import('./history.ts')).runAt }),
    },
  ],
};
