import type { CommandDefinition, FlagDefinition } from '../../command-definition.ts';
import { NODE_FLAGS, OUTPUT_FLAGS } from '../../shared-flags.ts';

/** A context keeps the paths of these files. */
const FILE_FLAGS = NODE_FLAGS.filter(({ long }) => long.endsWith('-file')).map(
  ({ default: _default, ...flag }): FlagDefinition =>
    flag.long === 'token-file' ? { ...flag, about: 'file with the token for the node' } : flag,
);

const NAME = { name: 'name', about: 'the name of the context', complete: 'context' } as const;

function output(choices: readonly string[]): FlagDefinition {
  return { long: 'output', short: 'o', value: 'format', choices, default: choices[0] ?? '', about: 'output format' };
}

export const CONTEXT_COMMAND: CommandDefinition = {
  name: 'context',
  about: 'name nodes with their addresses and credentials, for -c NAME and PORTHOLE_CONTEXT',
  notes: [
    'Contexts are in $XDG_CONFIG_HOME/porthole/contexts.json (~/.config), readable by its owner only. They name the files of credentials, which are sent to the address of the context only.',
  ],
  commands: [
    {
      name: 'add',
      about: 'add a context',
      args: [
        { name: 'name', about: 'letters, digits, dots, dashes and underscores' },
        { name: 'url', about: 'address of the node' },
      ],
      flags: [...FILE_FLAGS, { long: 'force', about: 'replace the context of this name' }, ...OUTPUT_FLAGS],
      examples: [
        [
          'porthole context add prod https://10.8.0.21:7300 --token-file ~/prod.token --ca-file ca.pem',
          'a node with TLS',
        ],
        ['porthole nodes -c prod', 'its cluster'],
      ],
      load: () => import('./add.ts'),
    },
    {
      name: 'list',
      about: 'list the contexts; * marks the one in use',
      flags: [output(['table', 'json', 'names']), ...OUTPUT_FLAGS],
      load: () => import('./list.ts'),
    },
    {
      name: 'show',
      about: 'print one context, by default the one in use',
      args: [{ ...NAME, optional: true }],
      flags: [output(['text', 'json']), ...OUTPUT_FLAGS],
      load: () => import('./show.ts'),
    },
    {
      name: 'use',
      about: 'use a context where no --url, -c, PORTHOLE_URL or PORTHOLE_CONTEXT names another node',
      args: [NAME],
      flags: OUTPUT_FLAGS,
      load: () => import('./use.ts'),
    },
    {
      name: 'remove',
      about: 'remove a context; its files are kept',
      args: [NAME],
      flags: OUTPUT_FLAGS,
      load: () => import('./remove.ts'),
    },
  ],
};
