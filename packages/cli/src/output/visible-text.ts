import { showHidden, unicodeEscape } from '@porthole/contract';

/**
 * Escapes every character that a terminal would act on or not show: log text is untrusted and could move the cursor, hide
 * text or query the terminal. Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return showHidden(text, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(character);
  });
}

/** The same for JSON text, which stays valid JSON. */
export function visibleJson(json: string): string {
  return showHidden(json, unicodeEscape).replace(/[\n\t]/g, unicodeEscape);
}
