import type { CommandDefinition } from '../../command-definition.ts';
import { COLOR_FLAG, NODE_FLAGS } from '../../shared-flags.ts';

export const CONFIG_COMMAND: CommandDefinition = {
  name: 'config',
  about: 'what nodes are configured to do',
  commands: [
    {
      name: 'get',
      about: 'print the configuration of a node, or some keys of it; secrets are masked',
      args: [
        {
          name: 'node-or-key',
          optional: true,
          many: true,
          complete: 'file',
          about:
            'first the URL of a node, NODE: of the cluster, or a TOML file, if not the node of --url; then keys or tables: http, http.port',
        },
      ],
      flags: [
        {
          long: 'output',
          short: 'o',
          value: 'format',
          choices: ['toml', 'json', 'flat'],
          default: 'toml',
          about: 'how it is written; flat is one key = value per line, values as JSON',
        },
        ...NODE_FLAGS,
        COLOR_FLAG,
      ],
      examples: [
        ['porthole config get', 'all of it, as the node tells it'],
        ['porthole config get http.port -o flat', 'one key'],
        ['porthole config get /etc/lindb/broker.toml coordinator', 'a table of a file'],
        ['porthole config get broker-2: http', 'a table of another node of the cluster'],
      ],
      load: () => import('./get.ts'),
    },
    {
      name: 'diff',
      about: 'tell in which keys two configurations differ, or all of a cluster, role by role; exit code 1 if they do',
      args: [
        {
          name: 'a',
          optional: true,
          complete: 'file',
          about:
            'the URL of a node, NODE: of the cluster, or a TOML file; the whole cluster of the node of --url if absent',
        },
        { name: 'b', optional: true, complete: 'file', about: 'the other one' },
      ],
      flags: [
        {
          long: 'output',
          short: 'o',
          value: 'format',
          choices: ['table', 'unified', 'json'],
          default: 'table',
          about: 'how it is written',
        },
        { long: 'expected', about: 'of a cluster, also what is expected to differ: addresses, names, ports' },
        { long: 'role', value: 'role', about: 'of a cluster, only nodes of this role' },
        ...NODE_FLAGS,
        COLOR_FLAG,
      ],
      notes: [
        'Of a cluster, a value that is only written differently from what most have (5s and 5000ms) is shown and is no difference. Exit codes: 0 nothing differs, 1 something does, 2 error, 3 nothing differs, but not every node could be asked.',
      ],
      examples: [
        ['porthole config diff', 'which node of the cluster is configured differently'],
        ['porthole config diff http://10.8.0.21:7300 http://10.8.0.22:7300', 'two nodes'],
        ['porthole config diff http://10.8.0.21:7300 broker.toml -o unified', 'a node against a file'],
      ],
      load: () => import('./diff.ts'),
    },
  ],
};
