import type { Needle, ScanKernel } from '../kernel/scan-kernel.ts';
import type { RegexPrefilter } from './prefilter.ts';

/** Where texts find so many records in vain, going through everything with the automaton is quicker. */
const MIN_REFUSED = 32;
const MIN_BYTES_PER_REFUSED = 2048;

/**
 * Positions in loaded text whose records come into question, found by texts of which each match holds one, or by the
 * automaton of a regex. The first is at the speed of memory as long as the texts are rare; where they are not, other
 * texts are tried, and then the second.
 */
export class Candidates {
  readonly #kernel: ScanKernel;
  readonly #prefilter: RegexPrefilter | undefined;
  /** Sets still to be tried. */
  readonly #needleSets: (readonly Needle[])[];
  #needles: readonly Needle[] | undefined;
  /** Where each text stands next; -1: not yet looked for. */
  #hits: number[] = [];
  #from = 0;
  #passedBytes = 0;
  #refused = 0;

  /** Of each set, every match must hold one; the rarest come first. */
  constructor(kernel: ScanKernel, needleSets: readonly (readonly Needle[])[], prefilter: RegexPrefilter | undefined) {
    this.#kernel = kernel;
    this.#prefilter = prefilter;
    this.#needleSets = [...needleSets];
    this.#nextSet();
  }

  /** To be called when other text has been loaded. */
  begin(): void {
    this.#hits.fill(-1);
  }

  /** The first such position in `[from, end)`, or -1. A position tells about the whole record it is in. */
  next(from: number, end: number): number {
    this.#from = from;
    if (!this.#needles) return this.#prefilter?.find(this.#kernel, from, end) ?? -1;
    const hit = this.#nextText(this.#needles, from, end);
    this.#passedBytes += (hit < 0 ? end : hit) - from;
    return hit;
  }

  /** A closer look at a record that was found: whether it still comes into question. */
  confirm(start: number, end: number): boolean {
    const automaton = this.#prefilter?.automaton;
    if (!automaton) return true;
    // The automaton may have begun in a record before, unless that makes no difference.
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

  #nextText(needles: readonly Needle[], from: number, end: number): number {
    let nearest = end;
    needles.forEach((needle, index) => {
      if ((this.#hits[index] ?? -1) < from) {
        this.#kernel.setNeedle(needle);
        const hit = this.#kernel.find(from, end);
        this.#hits[index] = hit < 0 ? end : hit;
      }
      nearest = Math.min(nearest, this.#hits[index] ?? end);
    });
    return nearest < end ? nearest : -1;
  }
}
