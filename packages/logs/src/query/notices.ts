/** Codes of problems with files that do not mean missing data: left out on purpose, or read in spite of it. */
export const NOTICES: ReadonlySet<string> = new Set(['NO_TIMES', 'LEFT_OUT', 'NUL_BYTES']);
