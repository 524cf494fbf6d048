import { randomBytes } from 'node:crypto';
import type { GramKernel } from '../kernel/gram-kernel.ts';
import { NeedleSearch } from './needle-search.ts';
import { buildNeedleTable, type NeedleTable, needleForms } from './needle-table.ts';
import { findPatterns, PATTERN_LEFT_BYTES, PATTERN_RIGHT_BYTES, type PatternName } from './patterns.ts';
import { Ranges } from './ranges.ts';

/** Replaces each masked byte, so that offsets and sizes do not change. */
const MASK_BYTE = 42;

/**
 * At the end of a text that is still being written, the beginning of a secret is masked from this length on. Anything
 * shorter reveals next to nothing, and the ends of ordinary lines look like it all the time.
 */
const MIN_OPEN_BYTES = 3;

/** What is scrubbed, as plain data that threads share. */
export interface ScrubRules {
  /** Changes with every change of the rules. Random: it reveals nothing about the secrets. */
  id: string;
  table: NeedleTable | undefined;
  patterns: readonly PatternName[];
}

interface MaskOptions {
  /** Range that is masked; its surroundings are only read. */
  from?: number;
  to?: number;
  /** The text ends with these bytes: what may be the beginning of a secret there is masked too. */
  atEnd?: boolean;
}

/**
 * Masks secrets in text. Whether a byte is masked depends on at most `leftBytes` before it and `rightBytes` after it: a
 * reader of a part with that much of its surroundings gets the same result as a reader of the whole text.
 */
export class Scrubber {
  readonly rules: ScrubRules;
  readonly leftBytes: number;
  readonly rightBytes: number;
  readonly #search: NeedleSearch | undefined;
  readonly #found = new Ranges();

  /** `nearKernel`: the kernel whose memory already holds some of the texts. */
  constructor(rules: ScrubRules, nearKernel?: GramKernel) {
    const { table, patterns } = rules;
    this.#search = table && new NeedleSearch(table, nearKernel);
    const around = (this.#search?.longest ?? 1) - 1;
    this.rules = rules;
    this.leftBytes = Math.max(around, patterns.length > 0 ? PATTERN_LEFT_BYTES : 0);
    this.rightBytes = Math.max(around, patterns.length > 0 ? PATTERN_RIGHT_BYTES : 0);
  }

  get id(): string {
    return this.rules.id;
  }

  /** Masks in place. Returns whether there was anything to mask. */
  mask(bytes: Buffer, { from = 0, to = bytes.length, atEnd = false }: MaskOptions = {}): boolean {
    const found = this.#found;
    found.clear();
    this.#search?.find(bytes, found);
    if (this.rules.patterns.length > 0) findPatterns(this.rules.patterns, bytes, found);
    const open = atEnd ? (this.#search?.openBytes(bytes) ?? 0) : 0;
    if (open >= MIN_OPEN_BYTES) found.add(bytes.length - open, bytes.length);
    if (found.count > 0) found.fill(bytes, MASK_BYTE, { from, to });
    return found.count > 0;
  }

  /** Masks in place what may be the end of a secret at the start of a text that was cut at an arbitrary position. */
  maskCut(bytes: Buffer): void {
    bytes.fill(MASK_BYTE, 0, this.#search?.cutBytes(bytes) ?? 0);
  }

  /** How many bytes at the end are undecided if more text follows: they may be the beginning of a secret. */
  openBytes(bytes: Buffer): number {
    const open = this.#search?.openBytes(bytes) ?? 0;
    if (this.rules.patterns.length === 0) return open;
    const line = bytes.length - 1 - bytes.lastIndexOf(10);
    return Math.max(open, Math.min(line, this.rightBytes));
  }
}

/** Needles for all values together: a megabyte of tables at most, without slowing down scrubbing. */
const MAX_NEEDLES = 8192;

interface ScrubbingOptions {
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
