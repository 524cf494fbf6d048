import type { CharSet } from './char-set.ts';

/** A condition on a position. The beginning and the end of the text count as those of a line. */
export type Assertion = 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** The syntax tree of a pattern. */
export type Syntax =
  | { kind: 'set'; set: CharSet }
  | { kind: 'assertion'; assertion: Assertion }
  | { kind: 'sequence'; parts: readonly Syntax[] }
  | { kind: 'choice'; choices: readonly Syntax[] }
  | { kind: 'repeat'; of: Syntax; min: number; max: number };
