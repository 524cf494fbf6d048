import { stripVTControlCharacters } from 'node:util';

/** Columns a text takes, without its colours. An upper bound: not all of these characters are two columns wide. */
export function displayWidth(text: string): number {
  return [...stripVTControlCharacters(text)].reduce((width, letter) => width + (MAY_BE_WIDE.test(letter) ? 2 : 1), 0);
}

/** Hangul, CJK, emoji and what follows; not punctuation, arrows and the like. */
const MAY_BE_WIDE = /[\u{1100}-\u{115f}\u{2300}-\u{10ffff}]/u;

/** Cuts a text without colours to a width, in the middle: names differ at their ends. */
export function cutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const letters = [...text];
  const room = Math.max(0, width - 1);
  const tail = takeWidth(letters.toReversed(), Math.floor(room / 2)).toReversed();
  const head = takeWidth(letters, room - displayWidth(tail.join('')));
  return `${head.join('')}…${tail.join('')}`;
}

/** As many of the letters as fit. */
export function takeWidth(letters: readonly string[], width: number): string[] {
  let used = 0;
  const end = letters.findIndex((letter) => {
    used += displayWidth(letter);
    return used > width;
  });
  return letters.slice(0, end < 0 ? undefined : end);
}

/** Cuts a text without colours to a width, at its end. */
export function cutEnd(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${takeWidth([...text], width - 1).join('')}…`;
}
