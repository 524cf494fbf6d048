import { runs } from '@porthole/records/testing';
import fc from 'fast-check';

/** Of a property that does not say how many. */
const CASES = 50;

// The same cases on every run, so that a failure is due to the change at hand. SEED=random looks for new ones.
const { SEED = '20261115' } = process.env;
fc.configureGlobal({ numRuns: runs(CASES), ...(SEED !== 'random' && { seed: Number(SEED) }) });
