import type { GramKernel } from '../kernel/gram-kernel.ts';
import { NeedleSearch } from './needle-search.ts';
import type { NeedleTable } from './needle-table.ts';
import { findPatterns, PATTERN_LEFT_BYTES, PATTERN_RIGHT_BYTES, type PatternName } from './patterns.ts';
import { Ranges } from './ranges.ts';

/** Replaces each masked byte, so that offsets and sizes do not change. */
export const MASK_BYTE = 42;

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

export interface MaskOptions {
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
