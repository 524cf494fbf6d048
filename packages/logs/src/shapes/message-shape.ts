import { splitWords } from './split-words.ts';
import { isNumberLike, maskWord, needsLook, typedWord } from './typed-word.ts';

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

/** Whether this word is the path of a request, which tells requests apart. */
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
