import { duration, size } from '../kinds/number-kinds.ts';
import { setting } from './setting-row.ts';

/** What a support bundle may cost. Below 4 GiB an archive can be read by every program there is. */
export const BUNDLE_ROWS = {
  maxBytes: setting({
    name: 'max-bytes',
    kind: size({ min: '1MiB', max: '3GiB' }),
    default: 256 * 1024 ** 2,
    about:
      'Maximum total size of the files in a support bundle, before compression. Configurations come first; of logs that do not fit, the newest part is included.',
  }),
  timeoutMs: setting({
    name: 'timeout',
    kind: duration({ min: '1s', max: '1d' }),
    default: 600_000,
    about:
      'Time limit for creating a support bundle. When it is reached, the bundle ends with what was collected and lists what is missing.',
  }),
} as const;
