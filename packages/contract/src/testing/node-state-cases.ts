import { CANCELLATION_CASES } from './node-state-cases/cancellation-cases.ts';
import { COUNT_CASES } from './node-state-cases/count-cases.ts';
import { FOLLOW_CASES } from './node-state-cases/follow-cases.ts';
import { FOLLOW_CHANGE_CASES } from './node-state-cases/follow-change-cases.ts';
import { NODE_CASES } from './node-state-cases/node-cases.ts';
import type { NodeStateCase } from './node-state-cases/node-state-case.ts';
import { OPEN_CASES } from './node-state-cases/open-cases.ts';
import { POSITION_CASES } from './node-state-cases/position-cases.ts';
import { QUERY_CASES } from './node-state-cases/query-cases.ts';
import { REFUSAL_CASES } from './node-state-cases/refusal-cases.ts';
import { SEARCH_CASES } from './node-state-cases/search-cases.ts';
import { SHARED_CONFIG, sharedFiles } from './node-state-cases/shared-files.ts';
import { VALIDATION_CASES } from './node-state-cases/validation-cases.ts';
import { VIEW_CASES } from './node-state-cases/view-cases.ts';

export { maskTimings } from './node-state-cases/mask-timings.ts';
export type { CaseDir, CaseFiles, ImplementationName, NodeStateCase } from './node-state-cases/node-state-case.ts';
export { catchFailure, search } from './node-state-cases/responses.ts';

/** Cases with the same result for every implementation of `NodeState`. */
export const NODE_STATE_CASES: readonly NodeStateCase[] = [
  ...NODE_CASES,
  ...VIEW_CASES,
  ...OPEN_CASES,
  ...SEARCH_CASES,
  ...POSITION_CASES,
  ...COUNT_CASES,
  ...QUERY_CASES,
  ...FOLLOW_CASES,
  ...FOLLOW_CHANGE_CASES,
  ...CANCELLATION_CASES,
  ...REFUSAL_CASES,
  ...VALIDATION_CASES,
];

/** The files and the configuration of all cases without files of their own. */
export const SHARED = { files: sharedFiles(), config: SHARED_CONFIG };
