/*
 * What SQL knows of a condition. The one evaluator of queries is the engine's; SQL only narrows down which rows it has to
 * see. So each condition has two bounds, and where they are the same, SQL has decided it.
 */

/** Two conditions of SQL: every matching row fulfils `may`, and every row that fulfils `must` matches. */
export interface Bounds {
  may: string;
  must: string;
}

const TRUE = '1';
const FALSE = '0';

export const ALWAYS: Bounds = exactly(TRUE);
export const NEVER: Bounds = exactly(FALSE);

/** SQL knows nothing of it. */
export const UNKNOWN: Bounds = { may: TRUE, must: FALSE };

/** SQL decides it. */
export function exactly(sql: string): Bounds {
  return { may: sql, must: sql };
}

/** SQL can only rule it out. */
export function atMost(sql: string): Bounds {
  return { may: sql, must: FALSE };
}

export function isExact({ may, must }: Bounds): boolean {
  return may === must;
}

export function allOf(bounds: readonly Bounds[]): Bounds {
  return joinBounds('AND', bounds);
}

export function anyOf(bounds: readonly Bounds[]): Bounds {
  return joinBounds('OR', bounds);
}

function joinBounds(word: 'AND' | 'OR', bounds: readonly Bounds[]): Bounds {
  const join = (side: keyof Bounds) =>
    joined(
      word,
      bounds.map((each) => each[side]),
    );
  return { may: join('may'), must: join('must') };
}

export function noneOf({ may, must }: Bounds): Bounds {
  return { may: negated(must), must: negated(may) };
}

/** Simplified, so that the SQL stays readable in the server's log. No conditions: all of none hold, one of none does not. */
export function joined(word: 'AND' | 'OR', conditions: readonly string[]): string {
  const [neutral, absorbing] = word === 'AND' ? [TRUE, FALSE] : [FALSE, TRUE];
  const parts = [...new Set(conditions)].filter((sql) => sql !== neutral);
  if (parts.includes(absorbing)) return absorbing;
  const [only = neutral] = parts;
  return parts.length <= 1 ? only : `(${parts.join(` ${word} `)})`;
}

function negated(sql: string): string {
  if (sql === TRUE) return FALSE;
  return sql === FALSE ? TRUE : `NOT (${sql})`;
}
