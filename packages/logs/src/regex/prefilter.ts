import type { Needle, ScanKernel } from '../kernel/scan-kernel.ts';
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

/** If the texts select this many records in vain, walking everything with the automaton is faster. */
const MIN_REFUSED = 32;
const MIN_BYTES_PER_REFUSED = 2048;

/**
 * Finds positions in the loaded text whose records may match, by texts of which each match contains one, or by the
 * automaton of a regex. The former runs at memory speed as long as the texts are rare; if they are not, other texts are
 * tried, and then the automaton.
 */
export class Candidates {
  readonly #kernel: ScanKernel;
  readonly #prefilter: RegexPrefilter | undefined;
  /** Sets not tried yet. */
  readonly #needleSets: (readonly Needle[])[];
  #needles: readonly Needle[] | undefined;
  /** Next position of each text; -1: not searched yet. */
  #hits: number[] = [];
  #from = 0;
  #passedBytes = 0;
  #refused = 0;

  /** Every match contains one text of each set; the rarest come first. */
  constructor(kernel: ScanKernel, needleSets: readonly (readonly Needle[])[], prefilter: RegexPrefilter | undefined) {
    this.#kernel = kernel;
    this.#prefilter = prefilter;
    this.#needleSets = [...needleSets];
    this.#nextSet();
  }

  /** Must be called when other text has been loaded. */
  begin(): void {
    this.#hits.fill(-1);
  }

  /** The first candidate position in `[from, end)`, or -1. It applies to the whole record around it. */
  next(from: number, end: number): number {
    this.#from = from;
    if (!this.#needles) return this.#prefilter?.find(this.#kernel, from, end) ?? -1;
    const hit = this.#nextText(this.#needles, from, end);
    this.#passedBytes += (hit < 0 ? end : hit) - from;
    return hit;
  }

  /** Examines a candidate record more closely: whether it may still match. */
  confirm(start: number, end: number): boolean {
    const automaton = this.#prefilter?.automaton;
    if (!automaton) return true;
    // The automaton may have started in an earlier record, unless that makes no difference.
    if (!this.#needles && (start === this.#from || !automaton.crossesLines)) return true;
    const isPossible = automaton.find(this.#kernel, start, end) >= 0;
    if (!isPossible && this.#needles) this.#refuse();
    return isPossible;
  }

  #refuse(): void {
    this.#refused++;
    if (this.#refused < MIN_REFUSED) return;
    if (this.#passedBytes < this.#refused * MIN_BYTES_PER_REFUSED) this.#nextSet();
  }

  #nextSet(): void {
    this.#needles = this.#needleSets.shift();
    this.#hits = this.#needles?.map(() => -1) ?? [];
    this.#passedBytes = 0;
    this.#refused = 0;
  }

  #find(needle: Needle, from: number, end: number): number {
    const { bytes, follows } = needle;
    const { text } = this.#kernel;
    this.#kernel.setNeedle(needle);
    let hit = this.#kernel.find(from, end);
    while (follows && hit >= 0 && !follows(text, hit + bytes.length, end)) hit = this.#kernel.find(hit + 1, end);
    return hit;
  }

  #nextText(needles: readonly Needle[], from: number, end: number): number {
    let nearest = end;
    needles.forEach((needle, index) => {
      if ((this.#hits[index] ?? -1) < from) {
        const hit = this.#find(needle, from, end);
        this.#hits[index] = hit < 0 ? end : hit;
      }
      nearest = Math.min(nearest, this.#hits[index] ?? end);
    });
    return nearest < end ? nearest : -1;
  }
}
