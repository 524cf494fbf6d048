import { PATTERN_NAMES } from '@porthole/logs';
import { list } from '../kinds/list.ts';
import { onOff } from '../kinds/on-off.ts';
import { choice } from '../kinds/text-kinds.ts';
import { setting } from './setting-row.ts';

/** What of the text of logs leaves the node. */
export const LOGS_ROWS = {
  scrub: setting({
    name: 'scrub',
    kind: onOff(),
    default: true,
    about: "Mask the secrets of the configurations this node knows (its own and its service's) in log text.",
  }),
  scrubPatterns: setting({
    name: 'scrub-patterns',
    kind: list(choice(PATTERN_NAMES), { plural: 'pattern names' }),
    default: [],
    about: `Mask also what looks like a secret: ${PATTERN_NAMES.map((name) => `\`"${name}"\``).join(', ')}. Only while \`logs.scrub\` is on.`,
  }),
} as const;
