import type { TextRange } from '../formats/config-document.ts';
import { MASK } from './mask-ranges.ts';
import { SECRET_WORDS } from './secret-keys.ts';

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
  findInValue(text: string): TextRange[] {
    this.#longFinder ??= new NeedleFinder(this.#long);
    return this.#longFinder.find(text);
  }

  /** Copies in a comment, also of short values: in quotes, or as a word if the comment seems to be about secrets. */
  findInComment(text: string, isSuspect: () => boolean): TextRange[] {
    this.#shortFinder ??= new NeedleFinder(this.#short);
    const isCopy = (range: TextRange) =>
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

function isQuoted(text: string, { start, end }: TextRange): boolean {
  const quote = text[start - 1] ?? '';
  return /["'`]/.test(quote) && text[end] === quote;
}

/** A whole word after `:` or `=`, as in `Default: pw`. */
function isAssigned(text: string, range: TextRange): boolean {
  return isWord(text, range) && /[:=][ \t]*$/.test(text.slice(Math.max(0, range.start - 8), range.start));
}

function isOddWord(text: string, range: TextRange): boolean {
  return isWord(text, range) && !PLAIN_WORDS.has(text.slice(range.start, range.end).toLowerCase());
}

function isWord(text: string, { start, end }: TextRange): boolean {
  return !/^\w\w$/.test(text.slice(start - 1, start + 1)) && !/^\w\w$/.test(text.slice(end - 1, end + 1));
}

/** Code units per trie node in the edge map's keys. */
const UNITS = 65_536;

/**
 * Finds many strings in a text in one pass (Aho-Corasick), because a file can hold thousands of secrets, and looking
 * for each in every comment takes minutes. An empty needle is never found.
 */
export class NeedleFinder {
  readonly #edges = new Map<number, number>();
  readonly #parents: number[] = [0];
  readonly #units: number[] = [0];
  readonly #depths: number[] = [0];
  readonly #fails: number[] = [0];
  /** Length of the needle that ends at a node, 0 for none. */
  readonly #lengths: number[] = [0];
  /** The nearest node on the fail path, itself excluded, at which a needle ends. */
  readonly #shorter: number[] = [0];

  constructor(needles: Iterable<string>) {
    for (const needle of needles) this.#insert(needle);
    this.#link();
  }

  /** The longest accepted needle at each place; ranges can overlap. */
  find(text: string, accept: (range: TextRange) => boolean = () => true): TextRange[] {
    const found: TextRange[] = [];
    if (this.#parents.length === 1) return found;
    let node = 0;
    for (let index = 0; index < text.length; index++) {
      node = this.#step(node, text.charCodeAt(index));
      let match = this.#lengthAt(node) > 0 ? node : (this.#shorter[node] ?? 0);
      for (; match !== 0; match = this.#shorter[match] ?? 0) {
        const range = { start: index + 1 - this.#lengthAt(match), end: index + 1 };
        if (!accept(range)) continue;
        found.push(range);
        break;
      }
    }
    return found;
  }

  #lengthAt(node: number): number {
    return this.#lengths[node] ?? 0;
  }

  #insert(needle: string): void {
    let node = 0;
    for (let index = 0; index < needle.length; index++) {
      const unit = needle.charCodeAt(index);
      let next = this.#edges.get(node * UNITS + unit);
      if (next === undefined) {
        next = this.#parents.push(node) - 1;
        this.#units.push(unit);
        this.#depths.push(index + 1);
        this.#fails.push(0);
        this.#lengths.push(0);
        this.#shorter.push(0);
        this.#edges.set(node * UNITS + unit, next);
      }
      node = next;
    }
    this.#lengths[node] = needle.length;
  }

  /** Fail links need those of all shallower nodes, so the nodes are visited by depth. */
  #link(): void {
    const nodes = Uint32Array.from(this.#parents.keys()).sort((a, b) => this.#depthAt(a) - this.#depthAt(b));
    for (const node of nodes) {
      if (this.#depthAt(node) < 2) continue;
      const fail = this.#step(this.#fails[this.#parents[node] ?? 0] ?? 0, this.#units[node] ?? 0);
      this.#fails[node] = fail;
      this.#shorter[node] = this.#lengthAt(fail) > 0 ? fail : (this.#shorter[fail] ?? 0);
    }
  }

  #depthAt(node: number): number {
    return this.#depths[node] ?? 0;
  }

  #step(from: number, unit: number): number {
    let node = from;
    for (;;) {
      const next = this.#edges.get(node * UNITS + unit);
      if (next !== undefined) return next;
      if (node === 0) return 0;
      node = this.#fails[node] ?? 0;
    }
  }
}
