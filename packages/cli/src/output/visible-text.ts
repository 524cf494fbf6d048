import { showHidden } from '@porthole/contract';

/**
 * The text with every character that a terminal would act on, or not show, replaced by its code, because logs are
 * written by anyone and it could move the cursor, hide text or talk to the terminal. Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return showHidden(text, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(character);
  });
}

/** The same for a text that is JSON, and stays so: what JSON itself does not escape. */
export function visibleJson(json: string): string {
  return showHidden(json, unicodeEscape).replace(/[\n\t]/g, unicodeEscape);
}

/** As JSON writes it: a character beyond the first 65,536 is two. */
export function unicodeEscape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
