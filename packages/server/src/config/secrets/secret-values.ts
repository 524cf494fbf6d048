import { MASK, type MaskRange } from './mask-ranges.ts';
import { NeedleFinder } from './needle-finder.ts';
import { SECRET_WORDS } from './secret-words.ts';

/** From this length on copies are masked anywhere in a text; shorter values occur in ordinary words. */
const MIN_LENGTH = 6;

/** The same for numbers, which occur in other numbers by chance: sizes, ids, timestamps. */
const MIN_DIGITS = 8;

/** Long enough, but ordinary in a configuration file: as a password it is no secret, and masking each use ruins the text. */
const PLAIN_WORDS: ReadonlySet<string> = new Set([
  ...[...SECRET_WORDS].filter((word) => word.length >= 4),
  ...['default', 'example', 'localhost', 'public', 'private', 'enabled', 'disabled', 'required', 'optional'],
  ...['number', 'string', 'boolean', 'server', 'client', 'database', 'system', 'username', 'anonymous'],
]);

/** The secret values of one document, to mask their copies where no key name gives them away. */
export class SecretValues {
  readonly #long = new Set<string>();
  readonly #short = new Set<string>();
  #longFinder: NeedleFinder | undefined;
  #shortFinder: NeedleFinder | undefined;

  /** `raw` is the value as it is written, escapes included: comments repeat that form. */
  add(value: string, raw: string = value): void {
    for (const form of [value, raw, JSON.stringify(value).slice(1, -1), encodedForUrl(value)]) this.#addForm(form);
    if (!/[\r\n]/.test(value)) return;
    for (const line of value.split(/[\r\n]+/)) {
      // Comments repeat a value of several lines line by line. The first line of every PEM block is the same.
      if (isLong(line.trim()) && !line.trim().startsWith('-----')) this.#addForm(line.trim());
    }
  }

  /** All values that are too long to occur by chance, in every form they were added in. */
  get long(): ReadonlySet<string> {
    return this.#long;
  }

  /** Whether this text is a secret that is too long to occur by chance. */
  has(text: string): boolean {
    return this.#long.has(text);
  }

  /** Copies of the long values. */
  findInValue(text: string): MaskRange[] {
    this.#longFinder ??= new NeedleFinder(this.#long);
    return this.#longFinder.find(text);
  }

  /** Copies in a comment, also of short values: in quotes, or as a word if the comment seems to be about secrets. */
  findInComment(text: string, isSuspect: () => boolean): MaskRange[] {
    this.#shortFinder ??= new NeedleFinder(this.#short);
    const isCopy = (range: MaskRange) =>
      isQuoted(text, range) || ((isAssigned(text, range) || isOddWord(text, range)) && isSuspect());
    return [...this.findInValue(text), ...this.#shortFinder.find(text, isCopy)];
  }

  #addForm(form: string): void {
    // A mask is not a secret.
    if (form.trim() === '' || form.includes(MASK)) return;
    (isLong(form) ? this.#long : this.#short).add(form);
    this.#longFinder = undefined;
    this.#shortFinder = undefined;
  }
}

function isLong(value: string): boolean {
  if (value.length < MIN_LENGTH || PLAIN_WORDS.has(value.toLowerCase())) return false;
  return !/^[\d.,:/_TZ+ -]+$/i.test(value) || isRareNumber(value);
}

/** Not a date or a time, which stand in every line of a log. */
function isRareNumber(value: string): boolean {
  const digits = value.replace(/\D/g, '');
  if (digits.length < MIN_DIGITS || /^\d{1,2}:\d\d|^\d{4}-\d\d-\d\d/.test(value)) return false;
  return digits !== value || !/^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])/.test(value);
}

function encodedForUrl(value: string): string {
  // A lone surrogate cannot be encoded, and cannot stand in a URL either.
  return /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
}

function isQuoted(text: string, { start, end }: MaskRange): boolean {
  const quote = text[start - 1] ?? '';
  return /["'`]/.test(quote) && text[end] === quote;
}

/** A whole word after `:` or `=`, as in `Default: pw`. */
function isAssigned(text: string, range: MaskRange): boolean {
  return isWord(text, range) && /[:=][ \t]*$/.test(text.slice(Math.max(0, range.start - 8), range.start));
}

function isOddWord(text: string, range: MaskRange): boolean {
  return isWord(text, range) && !PLAIN_WORDS.has(text.slice(range.start, range.end).toLowerCase());
}

function isWord(text: string, { start, end }: MaskRange): boolean {
  return !/^\w\w$/.test(text.slice(start - 1, start + 1)) && !/^\w\w$/.test(text.slice(end - 1, end + 1));
}
