import { showHidden, unicodeEscape } from '@porthole/contract';
import { ProgramError } from '../exit.ts';
import { displayWidth } from './fit-columns.ts';

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

/** Columns of the text that are shown on each side of the character. */
const SHOWN_BEFORE = 50;
const SHOWN_AFTER = 20;

/** Two lines: the text, and a caret below the character at `position` (UTF-16), or behind its end. */
export function pointAt(text: string, position: number): string {
  const [before, after] = [oneLine(text.slice(0, position)), oneLine(text.slice(position))];
  const isCut = [before.length > SHOWN_BEFORE, after.length > SHOWN_AFTER];
  const head = `${isCut[0] ? '…' : ''}${before.slice(isCut[0] ? -SHOWN_BEFORE : 0)}`;
  const tail = `${after.slice(0, SHOWN_AFTER)}${isCut[1] ? '…' : ''}`;
  return `  ${head}${tail}\n  ${' '.repeat(displayWidth(head))}^`;
}

/** An error in a text on the command line, which shows where. */
export function errorAt(message: string, text: string, position: number): ProgramError {
  return new ProgramError(`${message}\n${pointAt(text, position)}`);
}

/** A tab or a newline would move the caret away. */
function oneLine(text: string): string {
  return visibleText(text).replace(/\s/g, ' ');
}
