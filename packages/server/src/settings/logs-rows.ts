import { PATTERN_NAMES } from '@porthole/logs';
import { listOf } from './list-of.ts';
import { onOff } from './on-off.ts';
import { setting } from './setting-row.ts';
import { choice } from './text-kinds.ts';

/** What of the text of logs leaves the node. */
export const LOGS_ROWS = {
  scrub: setting({
    name: 'scrub',
    kind: onOff(),
    default: true,
    about:
      'Mask the secrets of the configurations this node knows, its own and that of the service beside it, in the text of logs.',
  }),
  scrubPatterns: setting({
    name: 'scrub-patterns',
    kind: listOf(choice(PATTERN_NAMES), { plural: 'pattern names' }),
    default: [],
    about: `Mask also what looks like a secret: ${PATTERN_NAMES.map((name) => `\`"${name}"\``).join(', ')}. Only while \`logs.scrub\` is on.`,
  }),
} as const;
