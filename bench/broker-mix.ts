import type { LineMix } from './log-lines.ts';

/** In about 20 lines of a log of 1 GiB. */
export const RARE_TEXT = 'Compaction aborted';

/** In no line. */
export const ABSENT_TEXT = 'segment checksum mismatch';

/** Ordinary lines have the shard before the time it took; only those with the rare text have it behind. */
export const RARE_ORDER_REGEX = 'took":"[0-9]{3}ms.*shard';

/** Needs a text that is rare. */
export const RARE_TEXT_REGEX = 'Compaction aborted after [0-9]+ of [0-9]+ files';

/** Needs one of two texts, the second of them in no line. */
export const CHOICE_REGEX = 'Compaction aborted after [0-9]+ of|lease of shard [0-9]+ lost';

/** Needs no text at all: every line has to be tried, from each of its digits on. In no line. */
export const DIGITS_REGEX = '[0-9]{9}:[a-z]{3}';

const RARE_EVERY = 320_000;
const RARE_AT = 77_777;

/** A hundred errors within 400 lines, then nothing for an hour: 0.02 % of the lines. */
const BURST_EVERY = 500_000;
const BURST_AT = 200_000;
const BURST_LINES = 400;
const ERROR_EVERY = 4;

/** And one now and then. */
const SINGLE_EVERY = 300_007;
const SINGLE_AT = 123_456;

/** As a broker in production writes: 2 % warnings, few errors and most of those at once. */
export const BROKER_MIX: LineMix = {
  levelFor(number, hash) {
    const inBurst = (number % BURST_EVERY) - BURST_AT;
    if (inBurst >= 0 && inBurst < BURST_LINES && inBurst % ERROR_EVERY === 0) return 'ERROR';
    if (number % SINGLE_EVERY === SINGLE_AT) return 'ERROR';
    return (hash >>> 8) % 50 === 0 ? 'WARN' : 'INFO';
  },
  specialFor(number) {
    if (number % RARE_EVERY !== RARE_AT) return undefined;
    const files = number % 90;
    return `tsdb/compact.go:310\t[tsdb] [compact]: ${RARE_TEXT} after ${files} of 96 files\t{"took":"${100 + files}ms","retries":3,"shard":${files % 64}}`;
  },
};
