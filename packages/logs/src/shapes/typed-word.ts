/* What varies in a word by its type. */

/** Kinds of characters, as bits. */
export const DIGIT = 1;
/** Characters that make a word worth a look even without a digit. */
const MARK = 2;
/** Where a word is split into pieces that vary by themselves. */
const DELIMITER = 4;
/** `a` to `f`. */
const HEX = 8;
const LETTER = 16;
export const OTHER = 32;

/** The kind of each UTF-16 code unit: a table of all of them is read without a check of its bounds. */
export const WORD_KINDS: Uint8Array = new Uint8Array(0x10000).fill(OTHER);
for (let code = 0; code < 128; code++) WORD_KINDS[code] = classify(String.fromCharCode(code));

const URL = /[a-z][a-z0-9+.-]*:\/\/[^\s"'<>()[\]{},;]*/gi;
/** IPv6 and hardware addresses, and times. */
const COLONS = /(?<![\w.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?!\w)/gi;
/** Names of protocols and the like, not numbered things: `SOCKS5`, `IPV6`, `SHA1`. */
const NAME_WITH_DIGIT = /^[A-Z]{2,}\d$/;
const DOTTED = /[^.]\.[^.]/;
const SEVERAL = /\*(?:[:,]\*)+/g;

/** In place of a value that is not known: `connection from 10.0.0.1 () at`. */
const NO_NAME = '()';

/** Hexadecimal numbers without a digit are recognized from this length on. */
const HEX_CHARACTERS = 8;

function classify(character: string): number {
  if (/\d/.test(character)) return DIGIT;
  if (character === '=') return MARK | DELIMITER;
  if (/[/\\]/.test(character)) return MARK;
  if (/[:,;()[\]{}<>"'|]/.test(character)) return DELIMITER;
  if (/[a-f]/i.test(character)) return HEX;
  return /[a-z]/i.test(character) ? LETTER : OTHER;
}

/** Whether a word with these kinds of characters can have a part that varies by its type. */
export function needsLook(kinds: number, word: string): boolean {
  if ((kinds & (DIGIT | MARK)) !== 0 || word === NO_NAME) return true;
  return kinds === HEX && word.length >= HEX_CHARACTERS;
}

/** Whether a word with these kinds of characters can be a number, with a sign or parenthesis. */
export function isNumberLike(kinds: number): boolean {
  return (kinds & (DIGIT | MARK | HEX | LETTER)) === DIGIT;
}

/** A word with its variable parts replaced by `*`. */
export function typedWord(given: string, kinds: number): string {
  if ((kinds & DELIMITER) === 0) return isVariable(given, given, given.length) ? '*' : given;
  if (given === NO_NAME) return '(*)';
  const word = replaceWhole(given);
  let shape = '';
  let start = 0;
  for (let at = 0; at <= word.length; at++) {
    if (at < word.length && ((WORD_KINDS[word.charCodeAt(at)] ?? OTHER) & DELIMITER) === 0) continue;
    if (at > start) {
      const piece = word.slice(start, at);
      shape += isVariable(piece, word, at) ? '*' : piece;
    }
    if (at < word.length) shape += word.charAt(at);
    start = at + 1;
  }
  return shape.includes('*:*') || shape.includes('*,*') ? shape.replace(SEVERAL, '*') : shape;
}

/** The word replaced, but for punctuation at its end. */
export function maskWord(word: string): string {
  const end = /[,;:.!?)\]}>]*$/.exec(word)?.index ?? word.length;
  return `*${word.slice(end)}`;
}

function replaceWhole(word: string): string {
  const colon = word.indexOf(':');
  if (colon < 0) return word;
  const local = word.includes('://', colon) ? word.replace(URL, '*') : word;
  if (!local.includes(':', colon + 1)) return local;
  return local.replace(COLONS, (found) => (/\d/.test(found) ? '*' : found));
}

/** Whether a piece of a word, up to this index, varies by its type. */
function isVariable(piece: string, word: string, end: number): boolean {
  let kinds = 0;
  for (let at = 0; at < piece.length; at++) kinds |= WORD_KINDS[piece.charCodeAt(at)] ?? OTHER;
  if ((kinds & DIGIT) !== 0) return (kinds & (HEX | LETTER)) === 0 || !NAME_WITH_DIGIT.test(piece);
  if ((kinds & MARK) !== 0) return piece.length > 1 && (piece.includes('\\') || isPath(piece));
  if (kinds === HEX) return piece.length >= HEX_CHARACTERS;
  if ((kinds & OTHER) === 0 || !DOTTED.test(piece)) return false;
  // A host or class as a value (`rhost=example.org`), or with its port or line (`example.org:443`).
  return word[end - piece.length - 1] === '=' || (word[end] === ':' && /\d/.test(word[end + 1] ?? ''));
}

function isPath(piece: string): boolean {
  return /^[.~]{0,2}\//.test(piece) || piece.includes('.') || piece.indexOf('/') !== piece.lastIndexOf('/');
}
