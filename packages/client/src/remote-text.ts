/*
 * Sanitizes text of another node, like a reason or a failing check. It is shown in terminals, too, so it is short, a single
 * line, and contains nothing that a terminal would act on.
 */

const MAX_CHARACTERS = 300;

/** Control characters, line and paragraph separators, and bidirectional marks. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

export function remoteText(text: string): string {
  const shown = text.slice(0, 2 * MAX_CHARACTERS).replace(UNSHOWABLE, ' ');
  return shown.length > MAX_CHARACTERS || text.length > 2 * MAX_CHARACTERS
    ? `${shown.slice(0, MAX_CHARACTERS)}...`
    : shown;
}

/** Maximum length of a file name. */
const MAX_NAME_BYTES = 255;

/** Whether this is a valid name of a log or file. */
export function isFileName(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > MAX_NAME_BYTES) return false;
  // A UTF-16 unit takes at most three bytes in UTF-8: short names need no check.
  return name.length * 3 <= MAX_NAME_BYTES || new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** Looks like an error code. */
export function isCodeLike(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code);
}
