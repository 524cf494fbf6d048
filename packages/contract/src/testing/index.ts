/** What the tests of other packages use of this one: helpers, and internals that have no public entry. Not published. */
export { LEVEL_NAMES } from '@porthole/logs/query';
export {
  type CaseDir,
  type CaseFiles,
  catchFailure,
  type ImplementationName,
  maskTimings,
  NODE_STATE_CASES,
  type NodeStateCase,
  SHARED,
  search,
} from './node-state-cases.ts';
export { pathOfAll } from './path-of-all.ts';
export { randomQuery } from './random-query.ts';
export {
  CURSOR,
  DAY,
  SELECTION_CASES,
  SELECTION_FILES,
  type SelectionCase,
  selectionNames,
} from './selection-cases.ts';
