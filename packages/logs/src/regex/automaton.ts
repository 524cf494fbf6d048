import type { ScanKernel } from '../kernel/scan-kernel.ts';
import { type ByteClasses, byteClasses } from './char-set.ts';
import { type Nfa, NfaStepper, type StateSet } from './nfa.ts';

const NEWLINE = 10;

/** Rows that lead to themselves: the transition is not known yet; a match. */
const UNKNOWN = 0;
const MATCH = 1;
const FIRST_STATE = 2;

/** The offset of a column is one byte. */
const MAX_CLASSES = 64;

/** Visiting a node costs about as much as the regex engine needs for this many bytes. */
const BYTES_PER_VISIT = 2;

/** Visits spent on rows before they have to pay off: about 20 ms. */
const FREE_VISITS = 500_000;

/**
 * Finds where a text may match. There are no false negatives: where the pattern matches, it reports the last byte of
 * the match or one after, always within the record. The kernel walks over the text by a table: a row for each set of
 * states, filled as texts need it. If several share a kernel, each is filled again when its turn comes.
 */
export class Automaton {
  /** Whether a match may span several lines. */
  readonly crossesLines: boolean;
  /** Filling the table cost more than it can save with this pattern and text. */
  isTooCostly = false;
  /** The row in which the last walk ended. */
  #row = 0;
  readonly #classes: ByteClasses;
  readonly #stepper: NfaStepper;
  readonly #start: StateSet | undefined;
  #states: StateSet[] = [];
  #rowsByKey = new Map<string, number>();
  #walkedBytes = 0;

  constructor(nfa: Nfa) {
    this.#classes = byteClasses(nfa);
    this.#stepper = new NfaStepper(nfa);
    this.#start = this.#stepper.start();
    this.crossesLines = nfa.nodes.some((node) => node.kind === 'set' && node.set.may[NEWLINE] === 1);
  }

  /** Whether it is of any use: it fits, and not every text matches. */
  get isUsable(): boolean {
    return this.#start !== undefined && this.#width <= MAX_CLASSES;
  }

  /**
   * The first position in the kernel's text `[from, to)`, `from` being a record's start, where a match may end; or -1.
   */
  find(kernel: ScanKernel, from: number, to: number): number {
    if (from >= to) return -1;
    if (kernel.rowsOwner !== this) this.#empty(kernel);
    this.#row = this.#start ? this.#rowFor(kernel, this.#start) : this.#address(kernel, MATCH);
    const at = this.#walk(kernel, from, to);
    if (at < to) return at;
    const state = this.#state(kernel);
    return state && this.#stepper.matchesAtEnd(state) ? to - 1 : -1;
  }

  /** Walks over `[from, to)`; returns the position at which a match is known, or `to`. */
  #walk(kernel: ScanKernel, from: number, to: number): number {
    const firstRow = this.#address(kernel, FIRST_STATE);
    let at = from;
    while (at < to) {
      const before = at;
      at = kernel.walk(at, to, { row: this.#row, firstRow });
      this.#walkedBytes += at - before;
      this.#row = kernel.reached[0] ?? 0;
      if (at === to) break;
      // If it became too costly, the regex engine tests one more record and the rest is scanned by other means.
      if (!this.#step(kernel, at) || this.isTooCostly) return at;
      at++;
    }
    return to;
  }

  /** Advances by one byte whose transition is unknown or a match: false for a match. */
  #step(kernel: ScanKernel, at: number): boolean {
    const column = this.#classes.classByByte[kernel.text[at] ?? 0] ?? 0;
    const cell = (this.#row - kernel.rowsAddress) / 4 + column;
    if (kernel.rows[cell] === this.#address(kernel, MATCH)) return false;
    const state = this.#state(kernel);
    const states = state && this.#stepper.step(state, this.#classes.samples[column] ?? 0);
    this.isTooCostly = this.#stepper.visited > FREE_VISITS + this.#walkedBytes / BYTES_PER_VISIT;
    if (!states) {
      kernel.rows[cell] = this.#address(kernel, MATCH);
      return false;
    }
    const isFull = (this.#states.length + 1) * this.#width > kernel.rows.length;
    if (isFull) this.#empty(kernel);
    this.#row = this.#rowFor(kernel, states);
    if (!isFull) kernel.rows[cell] = this.#row;
    return true;
  }

  get #width(): number {
    return this.#classes.samples.length;
  }

  #address(kernel: ScanKernel, index: number): number {
    return kernel.rowsAddress + index * this.#width * 4;
  }

  #state(kernel: ScanKernel): StateSet | undefined {
    return this.#states[(this.#row - kernel.rowsAddress) / (this.#width * 4)];
  }

  #rowFor(kernel: ScanKernel, states: StateSet): number {
    const key = `${states.wordBefore ? 'w' : ''}${states.nodes.join()}`;
    const known = this.#rowsByKey.get(key);
    if (known !== undefined) return known;
    const index = this.#states.push(states) - 1;
    const row = this.#address(kernel, index);
    this.#fill(kernel, index, UNKNOWN);
    this.#rowsByKey.set(key, row);
    return row;
  }

  #empty(kernel: ScanKernel): void {
    const nowhere: StateSet = { nodes: [], wordBefore: false };
    kernel.rowsOwner = this;
    kernel.byteClasses.set(this.#classes.classByByte.map((column) => column * 4));
    this.#states = [nowhere, nowhere];
    this.#rowsByKey = new Map();
    this.#fill(kernel, UNKNOWN, UNKNOWN);
    this.#fill(kernel, MATCH, MATCH);
    if (this.#start) this.#rowFor(kernel, this.#start);
  }

  #fill(kernel: ScanKernel, index: number, target: number): void {
    kernel.rows.fill(this.#address(kernel, target), index * this.#width, (index + 1) * this.#width);
  }
}
