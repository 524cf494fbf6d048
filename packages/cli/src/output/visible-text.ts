/** Controls, other line ends, and marks that turn the direction of text around. */
const ACTED_ON = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * The text with every character that a terminal would act on shown instead, because logs are written by anyone and it
 * could move the cursor, hide text or talk to the terminal. Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(ACTED_ON, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(character);
  });
}

/** The same for a text that is JSON, and stays so: what JSON itself does not escape. */
export function visibleJson(json: string): string {
  return json.replace(ACTED_ON, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
