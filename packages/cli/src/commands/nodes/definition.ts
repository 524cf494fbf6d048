import type { CommandDefinition } from '../../command-definition.ts';
import { parameterFlags } from '../../parameter-flags.ts';
import { NODE_FLAGS, OUTPUT_FLAGS, PAGER_FLAG, SHOWN_ZONE_FLAGS } from '../../shared-flags.ts';

export const NODES_COMMAND: CommandDefinition = {
  name: 'nodes',
  about: 'list the nodes of the cluster with their state, clock offset and recent errors',
  flags: [
    {
      long: 'output',
      short: 'o',
      value: 'format',
      choices: ['table', 'json', 'names'],
      default: 'table',
      about: 'output format; json prints one node per line',
    },
    ...parameterFlags('clusterLogSearch', ['label']),
    { long: 'by', value: 'label', about: 'group the nodes by their value of this label' },
    ...SHOWN_ZONE_FLAGS.map((flag) =>
      flag.long === 'utc' ? flag : { ...flag, default: "the system's", about: 'show times in this zone' },
    ),
    ...NODE_FLAGS,
    ...OUTPUT_FLAGS,
    PAGER_FLAG,
  ],
  isPaged: true,
  notes: [
    'Missing nodes are marked with !, and stderr shows the reason. STATE is up, unreachable (registered but not responding), failed (its registration expired without a clean shutdown), unregistered (the same, but it responds), left (shut down cleanly), degraded (up, but a health check fails), or unknown (not responding while the registry is unavailable). CLOCK is the offset of its clock from the clock of the queried node, with the uncertainty. ERRORS counts records of level error and above in the last 15 minutes.\n' +
      'Exit codes: 0 all nodes except those that left are up and healthy, 2 error, 3 some are not.',
  ],
  examples: [
    ['porthole nodes', 'the cluster of the local node'],
    ['porthole nodes --by zone', 'zone by zone'],
    ['porthole nodes --label zone=eu-* --label rack=7', 'the nodes of a rack in the zones of a region'],
    ['porthole nodes --url http://10.8.0.21:7300 -o names', 'only the ids'],
  ],
  commands: [
    {
      name: 'forget',
      about: 'remove a node that left or failed from the list, with its snapshot, on every node of the cluster',
      args: [{ name: 'node', complete: 'node', about: 'the id of the node' }],
      flags: [
        { long: 'yes', short: 'y', about: 'do not ask; needed if there is no terminal' },
        ...NODE_FLAGS,
        ...OUTPUT_FLAGS,
      ],
      notes: [
        'Says what will be deleted, and asks first. Needs the admin role if authentication is enabled. A node that is still registered cannot be forgotten; one that registers again reappears. Nodes are forgotten automatically after cluster.last-words-keep.\n' +
          'Exit codes: 0 forgotten, 1 not confirmed, 2 error, 3 some nodes did not respond and may still list it.',
      ],
      examples: [['porthole nodes forget storage-3', 'storage-3 was decommissioned']],
      load: () => import('./forget.ts'),
    },
  ],
  load: () => import('./nodes.ts'),
};
