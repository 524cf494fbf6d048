import type { CommandDefinition } from '../../command-definition.ts';
import { COLOR_FLAG, FILTER_FLAGS, NODE_FLAGS, ZONE_FLAGS } from '../../shared-flags.ts';

export const BUNDLE_COMMAND: CommandDefinition = {
  name: 'bundle',
  about: 'fetch a support bundle: configurations, logs of a time, counts and health of all nodes in one archive',
  args: [
    {
      name: 'node',
      optional: true,
      many: true,
      about: 'only of these nodes: ids, or patterns with * and ?; of all nodes of the cluster if absent',
    },
  ],
  flags: [
    ...FILTER_FLAGS.filter(({ long }) => long === 'since').map((flag) => ({ ...flag, default: '1h' })),
    ...FILTER_FLAGS.filter(({ long }) => long === 'until').map((flag) => ({ ...flag, default: 'now' })),
    { long: 'role', value: 'role', about: 'only of nodes of this role' },
    {
      long: 'output',
      short: 'o',
      value: 'file',
      complete: 'file',
      default: 'porthole-bundle-CLUSTER-TIME.zip in the working directory',
      about: 'where it is written, or - for stdout; a file that exists is left alone',
    },
    ...ZONE_FLAGS.filter(({ long }) => long === 'time-zone').map((flag) => ({
      ...flag,
      about: 'read times in this zone',
    })),
    ...NODE_FLAGS,
    COLOR_FLAG,
  ],
  notes: [
    'Secrets are masked by the nodes. What was written is held against the hashes of its manifest before it gets its name, which is then told on stdout. The node asks for the role admin.\n' +
      'Exit codes: 0 all is there, 2 error, 3 something is missing or cut; stderr and the manifest say what.',
  ],
  examples: [
    ['porthole bundle', 'the last hour of all nodes'],
    ['porthole bundle -S "14:00" -U "14:30" "broker-*"', 'half an hour of the brokers'],
    ['porthole bundle -o - | ssh desk "cat > ticket-4711.zip"', 'to another machine'],
  ],
  commands: [
    {
      name: 'verify',
      about: 'hold the files of a bundle against the hashes of its manifest, and tell what it lacks',
      args: [{ name: 'file', about: 'the bundle', complete: 'file' }],
      flags: [COLOR_FLAG],
      notes: ['Exit codes: 0 it is whole, 2 it is damaged or none, 3 something was missing or cut when it was made.'],
      examples: [['porthole bundle verify porthole-bundle-prod-20261115T120000Z.zip', 'as it was made?']],
      load: () => import('./verify.ts'),
    },
  ],
  load: () => import('./bundle.ts'),
};
