import type { CommandDefinition } from '../../command-definition.ts';
import { parameterFlags } from '../../parameter-flags.ts';
import { NODE_FLAGS, OUTPUT_FLAGS, SHOWN_ZONE_FLAGS } from '../../shared-flags.ts';

export const BUNDLE_COMMAND: CommandDefinition = {
  name: 'bundle',
  about:
    'download a support bundle: configurations, logs of a time range, counts and health of all nodes in one archive',
  args: [
    {
      name: 'node',
      optional: true,
      many: true,
      complete: 'node',
      about: 'only these nodes: ids, or patterns with * and ?; default: all nodes of the cluster',
    },
  ],
  flags: [
    ...parameterFlags('bundle', ['since', 'until', 'role', 'label']),
    {
      long: 'output',
      short: 'o',
      value: 'file',
      complete: 'file',
      default: 'porthole-bundle-CLUSTER-TIME.zip in the working directory',
      about: 'output file, or - for stdout; an existing file is not overwritten',
    },
    ...SHOWN_ZONE_FLAGS.map((flag) => (flag.long === 'utc' ? flag : { ...flag, about: 'read times in this zone' })),
    ...NODE_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  notes: [
    'The nodes mask secrets. The archive is verified against the hashes of its manifest, renamed, and its name printed on stdout. Needs the admin role.\n' +
      'Exit codes: 0 complete, 2 error, 3 something is missing or truncated; stderr and the manifest list it.',
  ],
  examples: [
    ['porthole bundle', 'the last hour of all nodes'],
    ['porthole bundle -S "14:00" -U "14:30" "broker-*"', 'half an hour of the brokers'],
    ['porthole bundle -o - | ssh desk "cat > ticket-4711.zip"', 'to another machine'],
  ],
  commands: [
    {
      name: 'verify',
      about: 'check the files of a bundle against the hashes of its manifest and list what is missing',
      args: [{ name: 'file', about: 'the bundle', complete: 'file' }],
      flags: OUTPUT_FLAGS,
      notes: [
        'Exit codes: 0 intact and complete, 2 damaged, or not a bundle, 3 intact, but something was missing when it was created.',
      ],
      examples: [
        ['porthole bundle verify porthole-bundle-prod-20261115T120000Z.zip', 'check a bundle before using it'],
      ],
      load: () => import('./verify.ts'),
    },
  ],
  load: () => import('./bundle.ts'),
};
