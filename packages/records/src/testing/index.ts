/** What tests of every package use. Not published. */
export { IS_LONG_RUN, runs } from './runs.ts';
