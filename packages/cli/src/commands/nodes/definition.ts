import type { CommandDefinition } from '../../definition.ts';
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
    'A node that does not answer has a ! in front of it, and stderr says why. CLOCK is how far a clock is ahead of the clock of the node that is asked, and how sure that is. ERRORS are records of level error and above in the last 15 minutes.\n' +
      'Exit codes: 0 all nodes answer, 2 error, 3 some do not.',
  ],
  examples: [
    ['porthole nodes', 'the cluster of the local node'],
    ['porthole nodes --url http://10.8.0.21:7300 -o names', 'only the ids'],
  ],
  load: () => import('./nodes.ts'),
};
