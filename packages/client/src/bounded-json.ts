/*
 * JSON of another node is measured before it is parsed: a parser makes of three bytes an object of fifty, and of sixteen
 * million brackets a gigabyte, in one go, while nothing else runs.
 */

/** Deeper than any response; records may hold contexts of 250 levels. */
const MAX_DEPTH = 260;

/** Objects and lists in one text: a list of 100,000 files has as many. */
const MAX_CONTAINERS = 262_144;

/** Values of any kind in one text. */
const MAX_VALUES = 2_097_152;

/** A text as short as this cannot hold too many values: at least two characters stand for each. */
const FEW_VALUES_CHARACTERS = 2 * MAX_VALUES;

/** Beyond what a parser may be given; the message says which limit. */
export class JsonTooLarge extends RangeError {}

/** Like `JSON.parse`. Throws `JsonTooLarge` for what would cost more than a response may, before it is parsed. */
export function parseBoundedJson(text: string): unknown {
  checkJsonBounds(text);
  return JSON.parse(text);
}

/** Whether a parser may be given this text, JSON or not. */
export function isBoundedJson(text: string): boolean {
  try {
    checkJsonBounds(text);
    return true;
  } catch {
    return false;
  }
}

function checkJsonBounds(text: string): void {
  if (text.length < FEW_VALUES_CHARACTERS && hasFewContainers(text)) return;
  measure(text);
}

/** Whether there are no more openings than may lie within each other. Most texts have a handful, found at native speed. */
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

/** Position of the quote that ends the string which begins here; the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
