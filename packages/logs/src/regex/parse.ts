import { addAll, addRange, anyCharacter, type CharSet, emptySet, escapedSet, namedSet, negated } from './char-set.ts';

/** A condition on a position. The beginning and the end of the text count as those of a line. */
export type Assertion = 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** The syntax tree of a pattern. */
export type Syntax =
  | { kind: 'set'; set: CharSet }
  | { kind: 'assertion'; assertion: Assertion }
  | { kind: 'sequence'; parts: readonly Syntax[] }
  | { kind: 'choice'; choices: readonly Syntax[] }
  | { kind: 'repeat'; of: Syntax; min: number; max: number };

const ASSERTIONS: Record<string, Assertion> = {
  A: 'line-start',
  z: 'line-end',
  b: 'word-edge',
  B: 'no-word-edge',
};

interface Flags {
  /** Case is ignored. */
  fold: boolean;
  dotAll: boolean;
}

/**
 * Parses an RE2 pattern that the engine has accepted. `undefined` for unsupported syntax, which is rarely used and then
 * only costs speed.
 */
export function parseRegex(pattern: string, { caseSensitive = false } = {}): Syntax | undefined {
  try {
    const parser = new Parser(new PatternReader(pattern));
    return parser.parse({ fold: !caseSensitive, dotAll: false });
  } catch (error) {
    if (error instanceof UnknownSyntax) return undefined;
    throw error;
  }
}

class Parser {
  readonly #reader: PatternReader;

  constructor(reader: PatternReader) {
    this.#reader = reader;
  }

  parse(flags: Flags): Syntax {
    const syntax = this.#choice(flags);
    if (!this.#reader.atEnd) throw new UnknownSyntax();
    return syntax;
  }

  /** Up to the end, or to a closing parenthesis. */
  #choice(given: Flags): Syntax {
    // Flags set within a group apply up to its end, across its alternatives.
    const flags = { ...given };
    const choices = [this.#sequence(flags)];
    while (this.#reader.take('|')) choices.push(this.#sequence(flags));
    return choices.length === 1 && choices[0] ? choices[0] : { kind: 'choice', choices };
  }

  #sequence(flags: Flags): Syntax {
    const parts: Syntax[] = [];
    while (!this.#reader.atEnd && !this.#reader.sees('|') && !this.#reader.sees(')')) {
      const part = this.#atom(flags);
      if (part) parts.push(this.#repeated(part));
    }
    return { kind: 'sequence', parts };
  }

  /** `undefined` for flags alone. */
  #atom(flags: Flags): Syntax | undefined {
    const reader = this.#reader;
    if (reader.take('(')) return this.#group(flags);
    if (reader.take('[')) return { kind: 'set', set: parseClass(reader, flags) };
    if (reader.take('.')) return { kind: 'set', set: anyCharacter({ newlines: flags.dotAll }) };
    if (reader.take('^')) return { kind: 'assertion', assertion: 'line-start' };
    if (reader.take('$')) return { kind: 'assertion', assertion: 'line-end' };
    if (reader.sees('*') || reader.sees('+') || reader.sees('?')) throw new UnknownSyntax();
    if (reader.take('\\')) return this.#escape(flags);
    return character(reader.next(), flags);
  }

  #escape(flags: Flags): Syntax {
    const letter = this.#reader.peek();
    const assertion = Object.hasOwn(ASSERTIONS, letter) ? ASSERTIONS[letter] : undefined;
    const set = escapedSet(letter, flags);
    if (!assertion && !set) return character(this.#reader.escapedCode(), flags);
    this.#reader.next();
    return assertion ? { kind: 'assertion', assertion } : { kind: 'set', set: set ?? emptySet() };
  }

  #group(flags: Flags): Syntax | undefined {
    const reader = this.#reader;
    let inner = flags;
    if (reader.take('?') && !reader.takeMatch(/^P?<[\p{L}\p{N}_]+>/u)) {
      const [, on = '', off = '', end] = reader.takeMatch(/^([imsU]*)(?:-([imsU]*))?([:)])/) ?? [];
      if (end === undefined) throw new UnknownSyntax();
      inner = { ...flags };
      apply(inner, on, true);
      apply(inner, off, false);
      if (end === ')') {
        Object.assign(flags, inner);
        return undefined;
      }
    }
    const group = this.#choice(inner);
    if (!reader.take(')')) throw new UnknownSyntax();
    return group;
  }

  #repeated(part: Syntax): Syntax {
    const reader = this.#reader;
    let syntax = part;
    for (;;) {
      const counts = this.#counts();
      if (!counts) return syntax;
      const [min, max] = counts;
      // Greedy or not makes no difference to whether it matches.
      reader.take('?');
      syntax = { kind: 'repeat', of: syntax, min, max };
    }
  }

  #counts(): [number, number] | undefined {
    const reader = this.#reader;
    if (reader.take('*')) return [0, Infinity];
    if (reader.take('+')) return [1, Infinity];
    if (reader.take('?')) return [0, 1];
    const [, min, comma, max] = reader.takeMatch(/^\{(\d+)(,?)(\d*)\}/) ?? [];
    if (min === undefined) return undefined;
    if (comma === '' && max !== '') throw new UnknownSyntax();
    return [Number(min), comma === '' ? Number(min) : max === '' ? Infinity : Number(max)];
  }
}

function apply(flags: Flags, letters: string, value: boolean): void {
  if (letters.includes('i')) flags.fold = value;
  if (letters.includes('s')) flags.dotAll = value;
}

function character(code: number, flags: Flags): Syntax {
  const set: CharSet = emptySet();
  addRange(set, [code, code], flags);
  return { kind: 'set', set };
}

/** Parses a class whose opening bracket has been read. */
function parseClass(reader: PatternReader, { fold }: { fold: boolean }): CharSet {
  const isNegated = reader.take('^');
  const set = emptySet();
  // A leading closing bracket is a plain character.
  for (let isFirst = true; isFirst || !reader.take(']'); isFirst = false) {
    const part = namedPart(reader, fold);
    if (part) {
      addAll(set, part);
      continue;
    }
    const first = code(reader);
    const isRange = reader.sees('-') && !reader.sees('-]');
    if (isRange) reader.take('-');
    const last = isRange ? code(reader) : first;
    if (last < first) throw new UnknownSyntax();
    addRange(set, [first, last], { fold });
  }
  return isNegated ? negated(set) : set;
}

/** A named class within the class. */
function namedPart(reader: PatternReader, fold: boolean): CharSet | undefined {
  const named = reader.takeMatch(/^\[:(\^?)(\w+):\]/);
  if (named) {
    const set = namedSet(named[2] ?? '', { fold });
    if (!set) throw new UnknownSyntax();
    return named[1] === '^' ? negated(set) : set;
  }
  const escaped = reader.takeMatch(/^\\([dDwWsS])/);
  return escaped ? escapedSet(escaped[1] ?? '', { fold }) : undefined;
}

function code(reader: PatternReader): number {
  return reader.take('\\') ? reader.escapedCode() : reader.next();
}

/** Syntax that is not supported here. Never leaves this folder. */
class UnknownSyntax extends Error {}

const CONTROLS: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** A pattern being read, character by character. */
class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get atEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  peek(): string {
    return this.#pattern[this.#at] ?? '';
  }

  sees(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  /** Consumes the text if it is next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** The same for a regex, which must start with `^`. */
  takeMatch(form: RegExp): RegExpExecArray | undefined {
    const found = form.exec(this.#pattern.slice(this.#at, this.#at + MAX_FORM));
    if (found) this.#at += found[0].length;
    return found ?? undefined;
  }

  /** The code of the next character. */
  next(): number {
    const code = this.#pattern.codePointAt(this.#at);
    if (code === undefined) throw new UnknownSyntax();
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  /** The character denoted by what follows a backslash. */
  escapedCode(): number {
    const hex = this.takeMatch(/^x(?:([0-9a-f]{2})|\{([0-9a-f]{1,6})\})/i);
    if (hex) return Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
    const code = this.next();
    const letter = String.fromCodePoint(code);
    if (Object.hasOwn(CONTROLS, letter)) return CONTROLS[letter] ?? code;
    // Punctuation stands for itself; other letters and digits mean something else.
    if (code >= 0x80 || /[0-9A-Za-z]/.test(letter)) throw new UnknownSyntax();
    return code;
  }
}

/** Counts, flags and group names are short. */
const MAX_FORM = 100;
