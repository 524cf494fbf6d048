import fc from 'fast-check';

// The same cases on every run, so that a failure is due to the change at hand. SEED=random looks for new ones.
const { SEED = '20261115' } = process.env;
fc.configureGlobal(SEED === 'random' ? {} : { seed: Number(SEED) });
