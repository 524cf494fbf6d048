import type { ScanKernel } from '../kernel/scan-kernel.ts';
import { Automaton } from './automaton.ts';
import { buildNfa } from './nfa.ts';
import { parseRegex, type Syntax } from './parse.ts';
import { requiredTexts, type TextSet } from './required-texts.ts';

/** Counts are exact up to the first of these; if that is too costly, up to the next. */
const MAX_REPEATS = [1000, 16, 4, 1];

/** Skips text in which a regex cannot match, much faster than the regex itself. Built when first needed. */
export class RegexPrefilter {
  readonly #pattern: string;
  readonly #caseSensitive: boolean;
  #parsed: { syntax: Syntax | undefined } | undefined;
  #textSets: readonly TextSet[] | undefined;
  #automaton: Automaton | undefined;
  /** How many of the repeat limits have been tried. */
  #tried = 0;

  constructor(pattern: string, { caseSensitive = false } = {}) {
    this.#pattern = pattern;
    this.#caseSensitive = caseSensitive;
  }

  /** Sets of ASCII texts; every match contains one text of each set, in either case unless case matters. */
  get textSets(): readonly TextSet[] {
    const syntax = this.#syntax;
    this.#textSets ??= syntax ? requiredTexts(syntax, { caseSensitive: this.#caseSensitive }) : [];
    return this.#textSets;
  }

  /** Finds where a match may be; `undefined` if nothing would be faster than the regex. */
  get automaton(): Automaton | undefined {
    while ((!this.#automaton || this.#automaton.isTooCostly) && this.#tried < MAX_REPEATS.length) {
      this.#automaton = this.#build(MAX_REPEATS[this.#tried] ?? 1);
      this.#tried++;
    }
    return this.#automaton?.isTooCostly ? undefined : this.#automaton;
  }

  /** The first position of the kernel's text `[from, to)` where a match may end, or -1. `from` is a record's start. */
  find(kernel: ScanKernel, from: number, to: number): number {
    return this.automaton?.find(kernel, from, to) ?? (from < to ? from : -1);
  }

  #build(maxRepeat: number): Automaton | undefined {
    const nfa = this.#syntax && buildNfa(this.#syntax, { maxRepeat });
    const automaton = nfa && new Automaton(nfa);
    return automaton?.isUsable ? automaton : undefined;
  }

  get #syntax(): Syntax | undefined {
    this.#parsed ??= { syntax: parseRegex(this.#pattern, { caseSensitive: this.#caseSensitive }) };
    return this.#parsed.syntax;
  }
}
