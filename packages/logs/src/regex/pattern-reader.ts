/** Syntax that is not supported here. Never leaves this folder. */
export class UnknownSyntax extends Error {}

const CONTROLS: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** A pattern being read, character by character. */
export class PatternReader {
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
