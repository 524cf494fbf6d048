/*
 * Text in other languages, one function for each: a text of logs or requests must not mean more than itself there. Regular
 * expressions are quoted by `escapeRegex` (`@porthole/logs/query`), queries by `format-query.ts`, SQL by `archive`.
 */

/** The longest part of an invalid value that errors repeat. */
const SHOWN_CHARACTERS = 60;

/** An invalid value as errors quote it. */
export function quoteInput(text: string): string {
  return text.length > SHOWN_CHARACTERS
    ? `${JSON.stringify(text.slice(0, SHOWN_CHARACTERS))}...`
    : JSON.stringify(text);
}

/** One word for sh, bash and zsh. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
