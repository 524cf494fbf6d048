/** Only this much of a message determines its shape: beyond that, messages hardly differ in kind. */
const SHAPE_CHARACTERS = 800;
const SHAPE_WORDS = 64;

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS', 'CONNECT', 'TRACE']);

/** An apostrophe within a word is no quote. */
const QUOTED = /"[^"]*"|(?<![\w)])'[^']*'(?!\w)/g;
const REQUEST = /^"[A-Z]+ \//;

const DAYS = new Set(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']);
const MONTHS = new Set(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']);

const NUMBER = /^[<>~(]?[-+]?\d+(?:[.,]\d+)*$/;
/** With punctuation behind it. */
const MAX_UNIT_CHARACTERS = 16;
const UNIT =
  /^(?:[kmgt]?i?b|[kmgt]?bytes?|[nuµm]?s|m?secs?|(?:micro|milli|nano)?seconds?|min(?:ute)?s?|h(?:ours?)?|days?)\b/i;

/**
 * What messages of one kind have in common: the words of the first line, with what varies by its type replaced by `*`
 * (numbers, addresses, paths, quoted values, sizes, names of users). `mergeShapes` finds what varies by position.
 */
export function messageShape(message: string): string {
  const newline = message.indexOf('\n');
  const end = newline < 0 ? message.length : newline;
  const isCut = end > SHAPE_CHARACTERS;
  const line = isCut || newline >= 0 ? message.slice(0, Math.min(end, SHAPE_CHARACTERS)) : message;
  const { words, kinds } = splitWords(maskQuoted(line));
  // The last word may be cut in two.
  if (isCut) words.pop();
  let shape = '';
  let at = 0;
  for (let count = 0; at < words.length && count < SHAPE_WORDS; count++) {
    const end = valueEnd(words, kinds[at] ?? 0, at);
    const word = end > at + 1 ? quantityShape(words, at, end) : wordShape(words, kinds[at] ?? 0, at);
    shape = count === 0 ? word : `${shape} ${word}`;
    at = end;
  }
  if (!isCut && at >= words.length) return shape;
  return shape === '' ? '*' : `${shape} *`;
}

/** Whether this word is the path of a request, which distinguishes requests. */
export function isRoute(words: readonly string[], at: number): boolean {
  return at === 1 && METHODS.has(words[0] ?? '') && (words[1] ?? '').startsWith('/');
}

function maskQuoted(line: string): string {
  if (!line.includes('"') && !line.includes("'")) return line;
  return line.replace(QUOTED, (quoted) => (REQUEST.test(quoted) ? quoted : '*'));
}

function wordShape(words: readonly string[], kind: number, at: number): string {
  const word = words[at] ?? '';
  if (isNamed(words, at) || isDatePart(words, at)) return maskWord(word);
  if (isRoute(words, at)) return routeShape(word);
  return needsLook(kind, word) ? typedWord(word, kind) : word;
}

/**
 * The end of a value of several words: a number and its unit, also with the same in a larger unit, as in
 * `3637 bytes (3.55 KB)`. Else that of the word.
 */
function valueEnd(words: readonly string[], kind: number, at: number): number {
  if (!isNumberLike(kind)) return at + 1;
  const unit = words[at + 1];
  if (unit === undefined || !isUnit(unit) || !NUMBER.test(words[at] ?? '')) return at + 1;
  const number = words[at + 2];
  const larger = words[at + 3] ?? '';
  const isRepeated = number?.startsWith('(') && readTail(unit) === '' && NUMBER.test(number);
  return isRepeated && isUnit(larger) && readTail(larger).startsWith(')') ? at + 4 : at + 2;
}

function quantityShape(words: readonly string[], at: number, end: number): string {
  const tail = readTail(words[end - 1] ?? '');
  // The parenthesis of the larger unit belongs to the value.
  return `${words[at]?.startsWith('(') ? '(' : ''}*${end - at > 2 ? tail.slice(1) : tail}`;
}

function isUnit(word: string): boolean {
  if (word.length > MAX_UNIT_CHARACTERS) return false;
  const [unit] = UNIT.exec(word) ?? [];
  return unit !== undefined && readTail(word).length === word.length - unit.length;
}

/** Punctuation at the end of a word. */
function readTail(word: string): string {
  return /[^\w%µ*]*$/.exec(word)?.[0] ?? '';
}

function isNamed(words: readonly string[], at: number): boolean {
  const before = words[at - 1];
  if (before?.length !== 4 || (before !== 'user' && before !== 'User')) return false;
  return /^\w/.test(words[at] ?? '');
}

/** `Sun Jul 17`: the name of a day or month before a number. */
function isDatePart(words: readonly string[], at: number): boolean {
  const word = words[at] ?? '';
  if (word.length !== 3) return false;
  const next = words[at + 1] ?? '';
  return (MONTHS.has(word) && /^\d/.test(next)) || (DAYS.has(word) && (MONTHS.has(next) || /^\d/.test(next)));
}

/** The path without its query, segments with digits replaced. */
function routeShape(path: string): string {
  const [route = ''] = path.split('?', 1);
  const segments = route.split('/').map((segment) => (/\d/.test(segment) ? '*' : segment));
  const shape = segments.join('/');
  return route.length < path.length && !shape.endsWith('*') ? `${shape}*` : shape;
}

/** The words between white space, and for each which kinds of characters it has. */
function splitWords(line: string): { words: string[]; kinds: number[] } {
  const words: string[] = [];
  const kinds: number[] = [];
  let start = -1;
  let kind = 0;
  for (let at = 0; at <= line.length; at++) {
    const code = at < line.length ? line.charCodeAt(at) : 32;
    if (code > 32) {
      if (start < 0) {
        start = at;
        kind = 0;
      }
      kind |= WORD_KINDS[code] ?? OTHER;
    } else if (start >= 0) {
      words.push(line.slice(start, at));
      kinds.push(kind);
      start = -1;
    }
  }
  return { words, kinds };
}

/* What varies in a word by its type. */

/** Kinds of characters, as bits. */
const DIGIT = 1;
/** Characters that make a word worth a look even without a digit. */
const MARK = 2;
/** Where a word is split into pieces that vary by themselves. */
const DELIMITER = 4;
/** `a` to `f`. */
const HEX = 8;
const LETTER = 16;
const OTHER = 32;

/** The kind of each UTF-16 code unit: a table of all of them is read without a check of its bounds. */
const WORD_KINDS: Uint8Array = new Uint8Array(0x10000).fill(OTHER);
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
function needsLook(kinds: number, word: string): boolean {
  if ((kinds & (DIGIT | MARK)) !== 0 || word === NO_NAME) return true;
  return kinds === HEX && word.length >= HEX_CHARACTERS;
}

/** Whether a word with these kinds of characters can be a number, with a sign or parenthesis. */
function isNumberLike(kinds: number): boolean {
  return (kinds & (DIGIT | MARK | HEX | LETTER)) === DIGIT;
}

/** A word with its variable parts replaced by `*`. */
function typedWord(given: string, kinds: number): string {
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
function maskWord(word: string): string {
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
