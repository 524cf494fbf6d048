import type { MaskRange } from './mask-ranges.ts';

/** Where a secret stands in a text, and whether it is one for sure: only then are its copies masked elsewhere too. */
export interface Credential extends MaskRange {
  certain: boolean;
}
