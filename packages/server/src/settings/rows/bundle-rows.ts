import { duration, size } from '../kinds/number-kinds.ts';
import { setting } from './setting-row.ts';

/** What a support bundle may cost. Below 4 GiB an archive can be read by every program there is. */
export const BUNDLE_ROWS = {
  maxBytes: setting({
    name: 'max-bytes',
    kind: size({ min: '1MiB', max: '3GiB' }),
    default: 256 * 1024 ** 2,
    about:
      'How large the files of a support bundle may be together, before they are compressed. Configurations come first; of logs that do not fit, the newest part is kept.',
  }),
  timeoutMs: setting({
    name: 'timeout',
    kind: duration({ min: '1s', max: '1d' }),
    default: 600_000,
    about: 'How long making a support bundle may take; it then ends with what it has, and says what is missing.',
  }),
} as const;
