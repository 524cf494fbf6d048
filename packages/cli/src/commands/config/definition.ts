import type { CommandDefinition } from '../../definition.ts';
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
            'first the URL of a node or a TOML file, if not the node of --url; then keys or tables: http, http.port',
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
      ],
      load: () => import('./get.ts'),
    },
    {
      name: 'diff',
      about: 'tell in which keys two configurations differ; exit code 1 if they do',
      args: [
        { name: 'a', complete: 'file', about: 'the URL of a node, or a TOML file' },
        { name: 'b', complete: 'file', about: 'the other one' },
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
        ...NODE_FLAGS.filter(({ long }) => long !== 'url'),
        COLOR_FLAG,
      ],
      examples: [
        ['porthole config diff http://10.8.0.21:7300 http://10.8.0.22:7300', 'two nodes'],
        ['porthole config diff http://10.8.0.21:7300 broker.toml -o unified', 'a node against a file'],
      ],
      load: () => import('./diff.ts'),
    },
  ],
};
