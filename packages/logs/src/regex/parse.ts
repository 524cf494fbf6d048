import { addRange, anyCharacter, type CharSet, emptySet, escapedSet } from './char-set.ts';
import { parseClass } from './parse-class.ts';
import { PatternReader, UnknownSyntax } from './pattern-reader.ts';
import type { Assertion, Syntax } from './syntax.ts';

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
