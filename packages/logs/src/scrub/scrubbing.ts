import { randomBytes } from 'node:crypto';
import { needleForms } from './needle-forms.ts';
import { buildNeedleTable } from './needle-table.ts';
import type { PatternName } from './patterns.ts';
import { Scrubber } from './scrubber.ts';

/** Needles for all values together: a megabyte of tables at most, without slowing down scrubbing. */
const MAX_NEEDLES = 8192;

export interface ScrubbingOptions {
  patterns?: readonly PatternName[];
}

/** What is currently scrubbed from the text of a directory of logs. */
export class Scrubbing {
  readonly #patterns: readonly PatternName[];
  readonly #onChange = new Set<(scrubber: Scrubber) => void>();
  /** Every value since the start, the latest last: old ones still occur in old logs. */
  readonly #values = new Set<string>();
  #current: Scrubber | undefined;
  #parent: Scrubbing | undefined;
  #leaveParent: () => void = () => {};

  constructor({ patterns = [] }: ScrubbingOptions = {}) {
    this.#patterns = patterns;
    if (patterns.length > 0) this.#current = new Scrubber({ id: newId(), table: undefined, patterns });
  }

  /** `undefined` while there is nothing to scrub, which then costs nothing. */
  get current(): Scrubber | undefined {
    return this.#parent && this.#values.size === 0 ? this.#parent.current : this.#current;
  }

  /** Called after every change, before any further read. Returns a function that removes the listener. */
  onChange(listener: (scrubber: Scrubber) => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /**
   * Creates a scrubbing that includes this one, with its future values, and has additional values of its own, which are
   * not added here. Its own values are dropped first if there are too many. The caller closes it.
   */
  derive(): Scrubbing {
    const derived = new Scrubbing({ patterns: this.#patterns });
    derived.#parent = this;
    derived.#leaveParent = this.onChange((scrubber) => {
      if (derived.#values.size > 0) derived.#build([]);
      else for (const listener of derived.#onChange) listener(scrubber);
    });
    return derived;
  }

  close(): void {
    this.#leaveParent();
  }

  /**
   * Adds secret values. Returns how many values are not scrubbed because there are too many: the oldest earlier ones
   * are dropped first, then the last of these.
   */
  add(values: Iterable<string>): number {
    const given = [...new Set(values)];
    if (given.every((value) => this.#values.has(value))) return 0;
    return this.#build(given);
  }

  #build(given: readonly string[]): number {
    const kept = [...this.#values].filter((value) => !given.includes(value));
    const needles = new Map<string, Buffer>();
    const inherited = this.#parent ? [...this.#parent.#values] : [];
    for (const form of inherited.flatMap(needleForms)) needles.set(form.toString('latin1'), form);
    const taken = new Set<string>();
    for (const value of [...given, ...kept.reverse()]) {
      const fresh = needleForms(value).filter((form) => !needles.has(form.toString('latin1')));
      if (needles.size + fresh.length > MAX_NEEDLES) break;
      for (const form of fresh) needles.set(form.toString('latin1'), form);
      taken.add(value);
    }
    this.#values.clear();
    for (const value of [...taken].reverse()) this.#values.add(value);
    if (needles.size > 0) this.#replace([...needles.values()]);
    return given.filter((value) => !taken.has(value)).length;
  }

  #replace(needles: readonly Buffer[]): void {
    const scrubber = new Scrubber({ id: newId(), table: buildNeedleTable(needles), patterns: this.#patterns });
    this.#current = scrubber;
    for (const listener of this.#onChange) listener(scrubber);
  }
}

function newId(): string {
  return randomBytes(6).toString('hex');
}
