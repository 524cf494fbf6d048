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

/**
 * Characters that a page or a terminal interprets or does not show: controls, other line ends, bidirectional marks,
 * zero-width characters, tags and other ignorable code points, lone surrogates. The first group matches parts of a
 * visible emoji: its joiner and its variation selector.
 */
const HIDDEN =
  /((?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)(?:\ufe0f?\u200d(?=\p{Extended_Pictographic})|\ufe0f))|[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Most text has only these. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Makes hidden characters visible: anyone may write to a log, and a line must not read differently from what it
 * contains. Newlines and tabs are unchanged.
 */
export function showHidden(text: string, show: (character: string) => string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(HIDDEN, (found, emoji: string | undefined) =>
    emoji !== undefined || found === '\n' || found === '\t' ? found : show(found),
  );
}

/** Escapes as in JSON: a character above U+FFFF becomes two escapes. */
export function unicodeEscape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
