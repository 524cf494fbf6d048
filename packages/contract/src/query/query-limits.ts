/* Limits of conditions. A query is parsed on every request, and every byte of a log is matched against all of its terms. */

export const MAX_TERM_BYTES = 1024;
export const MAX_REGEX_BYTES = 2048;

/** In UTF-16 units. Fits into a URL with everything else. */
export const MAX_QUERY_LENGTH = 4096;
/** Levels of NOT, AND and OR inside each other, and of parentheses. */
export const MAX_QUERY_DEPTH = 20;
export const MAX_QUERY_TERMS = 64;
/** Each takes memory for its automaton in every scanning thread. */
export const MAX_QUERY_REGEXES = 8;
