/*
 * JSON of another node is measured before it is parsed: a parser turns three bytes into an object of fifty, and sixteen
 * million brackets into a gigabyte, blocking the thread meanwhile.
 */

/** Deeper than any response; record contexts may have 250 levels. */
const MAX_DEPTH = 260;

/** Objects and lists in one text: a list of 100,000 files has as many. */
const MAX_CONTAINERS = 262_144;

/** Values of any kind in one text. */
const MAX_VALUES = 2_097_152;

/** A shorter text cannot contain too many values: each needs at least two characters. */
const FEW_VALUES_CHARACTERS = 2 * MAX_VALUES;

/** A shorter text cannot be too deep: each level has two brackets. Most records are shorter. */
const SHALLOW_CHARACTERS = 2 * MAX_DEPTH;

/** Thrown for JSON beyond the limits; the message names the limit. */
export class JsonTooLarge extends RangeError {}

/** Like `JSON.parse`, but throws `JsonTooLarge` before parsing text that exceeds the limits. */
export function parseBoundedJson(text: string): unknown {
  checkJsonBounds(text);
  return JSON.parse(text);
}

/** Whether a text, JSON or not, is within the limits. */
export function isBoundedJson(text: string): boolean {
  try {
    checkJsonBounds(text);
    return true;
  } catch (error) {
    if (!(error instanceof JsonTooLarge)) throw error;
    return false;
  }
}

function checkJsonBounds(text: string): void {
  if (text.length < SHALLOW_CHARACTERS) return;
  if (text.length < FEW_VALUES_CHARACTERS && hasFewContainers(text)) return;
  measure(text);
}

/** Whether there are fewer opening brackets than the allowed depth. Fast: most texts have a handful. */
function hasFewContainers(text: string): boolean {
  let left = MAX_DEPTH;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) if (--left < 0) return false;
  }
  return true;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function measure(text: string): void {
  let depth = 0;
  let containers = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COMMA:
        if (++values > MAX_VALUES) throw new JsonTooLarge(`it has more than ${MAX_VALUES} values`);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values++;
        if (++containers > MAX_CONTAINERS)
          throw new JsonTooLarge(`it has more than ${MAX_CONTAINERS} objects and lists`);
        if (++depth > MAX_DEPTH) throw new JsonTooLarge(`it is nested more than ${MAX_DEPTH} levels deep`);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        break;
    }
  }
}

/** Position of the closing quote of the string that starts here; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
