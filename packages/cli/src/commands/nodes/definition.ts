import type { CommandDefinition } from '../../command-definition.ts';
import { COLOR_FLAG, NODE_FLAGS, ZONE_FLAGS } from '../../shared-flags.ts';

export const NODES_COMMAND: CommandDefinition = {
  name: 'nodes',
  about: 'list the nodes of the cluster that a node knows: who answers, whose clock is off, who has errors',
  flags: [
    {
      long: 'output',
      short: 'o',
      value: 'format',
      choices: ['table', 'json', 'names'],
      default: 'table',
      about: 'how it is written; json is one node per line',
    },
    ...ZONE_FLAGS.filter(({ long }) => long === 'time-zone').map((flag) => ({
      ...flag,
      default: "the system's",
      about: 'show times in this zone',
    })),
    ...NODE_FLAGS,
    COLOR_FLAG,
  ],
  notes: [
    'A node that is missing has a ! in front of it, and stderr says why. STATE is up, unreachable (registered, but it does not respond), failed (its registration ended, and it did not say that it stops), left (it stopped in order), degraded (up, but a health check fails), or unknown (it does not respond, and the registry is away). CLOCK is how far a clock is ahead of the clock of the node that is asked, and how sure that is. ERRORS are records of level error and above in the last 15 minutes.\n' +
      'Exit codes: 0 all nodes that have not left are up and healthy, 2 error, 3 some are not.',
  ],
  examples: [
    ['porthole nodes', 'the cluster of the local node'],
    ['porthole nodes --url http://10.8.0.21:7300 -o names', 'only the ids'],
  ],
  commands: [
    {
      name: 'forget',
      about: 'remove a node that has left or failed from the list, with its snapshot, on every node of the cluster',
      args: [{ name: 'node', about: 'the id of the node' }],
      flags: [...NODE_FLAGS, COLOR_FLAG],
      notes: [
        'Needs the role admin where the nodes ask for credentials. A node that is still registered is not forgotten; one that is registered again is back. Nodes are forgotten by themselves after cluster.last-words-keep.\n' +
          'Exit codes: 0 forgotten, 2 error, 3 some nodes do not respond and may still list it.',
      ],
      examples: [['porthole nodes forget storage-3', 'it will not come back']],
      load: () => import('./forget.ts'),
    },
  ],
  load: () => import('./nodes.ts'),
};
