/*
 * Texts that another node wrote about itself: a reason, a check that fails. They are shown beside our own words, in
 * terminals too, so they are short, of one line, and hold nothing that a terminal would obey.
 */

const MAX_CHARACTERS = 300;

/** Controls, line and paragraph separators, and marks that turn the direction of what follows. */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

export function remoteText(text: string): string {
  const shown = text.slice(0, 2 * MAX_CHARACTERS).replace(UNSHOWABLE, ' ');
  return shown.length > MAX_CHARACTERS || text.length > 2 * MAX_CHARACTERS
    ? `${shown.slice(0, MAX_CHARACTERS)}...`
    : shown;
}

/** The longest name that a file can have. */
const MAX_NAME_BYTES = 255;

/** Whether a log or a file can have this name. */
export function isFileName(name: unknown): name is string {
  if (typeof name !== 'string' || name.length > MAX_NAME_BYTES) return false;
  // A character takes at most three bytes in UTF-8 per unit: short names need no look.
  return name.length * 3 <= MAX_NAME_BYTES || new TextEncoder().encode(name).length <= MAX_NAME_BYTES;
}

/** As our codes are written, and no longer than one could be. */
export function isCodeLike(code: unknown): code is string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code);
}
