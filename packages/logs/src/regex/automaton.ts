import type { ScanKernel } from '../kernel/scan-kernel.ts';
import { type ByteClasses, byteClasses } from './char-set.ts';
import { type Nfa, NfaStepper, type StateSet } from './nfa.ts';

const NEWLINE = 10;

/** Walking four parts at a time pays off from this size on. */
const MIN_FOUR_BYTES = 16 * 1024;

/** And only while matches are rare: text walked beyond a match is walked again. */
const QUIET_BYTES = 32 * 1024;

/** Bytes per step of the four-way walk; an unknown transition is within the next that many bytes. */
const STRIDE = 4;

/** The table was cleared during the walk, so the row in which it began is lost. */
const LOST = -1;

/**
 * Finds where a text may match. There are no false negatives: where the pattern matches, it reports the last byte of
 * the match or one after, always within the record.
 */
export class Automaton {
  /** Whether a match may span several lines. */
  readonly crossesLines: boolean;
  readonly #table: StateTable;
  /** Bytes walked since the last match. */
  #quietBytes = 0;

  constructor(nfa: Nfa) {
    this.#table = new StateTable(nfa);
    this.crossesLines = nfa.nodes.some((node) => node.kind === 'set' && node.set.may[NEWLINE] === 1);
  }

  get isUsable(): boolean {
    return this.#table.isUsable;
  }

  get isTooCostly(): boolean {
    return this.#table.isTooCostly;
  }

  /**
   * The first position in the kernel's text `[from, to)`, `from` being a record's start, where a match may end; or -1.
   */
  find(kernel: ScanKernel, from: number, to: number): number {
    if (from >= to) return -1;
    const table = this.#table;
    table.row = table.startRow(kernel);
    const waryTo = Math.min(to, from + Math.max(0, QUIET_BYTES - this.#quietBytes));
    let at = table.walk(kernel, from, waryTo);
    if (at === waryTo) {
      at = to - at < MIN_FOUR_BYTES ? table.walk(kernel, at, to) : this.#walkFour(kernel, at, to);
      if (at === LOST) {
        table.row = table.startRow(kernel);
        at = table.walk(kernel, from, to);
      }
    }
    if (at === to && table.matchesAtEnd(kernel)) at = to - 1;
    this.#quietBytes = at < to ? 0 : this.#quietBytes + to - from;
    return at < to ? at : -1;
  }

  /**
   * Continues over `[from, to)`, four parts of it at a time. Each part but the first starts at a line as if no match
   * extended into it; if one may, it is walked again. Returns the position of a match, `to`, or LOST.
   */
  #walkFour(kernel: ScanKernel, from: number, to: number): number {
    const table = this.#table;
    const parts = quarters(kernel, from, to);
    if (!parts) return table.walk(kernel, from, to);
    const lineRow = table.startRow(kernel);
    const rows = [table.row, lineRow, lineRow, lineRow];
    const { emptied } = table;
    const walked = this.#walkTogether(kernel, parts, rows);
    if (table.emptied !== emptied) return LOST;
    for (let part = 0; part < 4; part++) {
      const [start = from, end = to] = [parts[part], parts[part + 1]];
      // All rows are lost when the table was cleared, except for the one this part begins with.
      if (table.emptied !== emptied) return table.walk(kernel, start, to);
      const isBegun = part === 0 || table.row === lineRow;
      if (isBegun) table.row = rows[part] ?? lineRow;
      const at = table.walk(kernel, isBegun ? start + walked : start, end);
      if (at < end) return at;
    }
    return to;
  }

  /** Walks over the parts in lockstep until one of them matches or is done. Returns how far, and the rows. */
  #walkTogether(kernel: ScanKernel, parts: readonly number[], rows: number[]): number {
    const table = this.#table;
    const [a = 0, b = 0, c = 0, d = 0, end = 0] = parts;
    const length = Math.min(b - a, c - b, d - c, end - d);
    const firstRow = table.firstRow(kernel);
    let walked = 0;
    for (;;) {
      kernel.reached.set(rows);
      const more = kernel.walkFour([a + walked, b + walked, c + walked, d + walked], length - walked, firstRow);
      rows.splice(0, 4, ...kernel.reached);
      walked += more;
      table.noteWalked(4 * more);
      if (walked + STRIDE > length) return walked;
      const behind = this.#stepAll(kernel, [a + walked, b + walked, c + walked, d + walked], rows);
      if (!behind) return walked;
      rows.splice(0, 4, ...behind);
      walked += STRIDE;
    }
  }

  /** The rows one stride further, computed if they are not known; `undefined` if one of them matches. */
  #stepAll(kernel: ScanKernel, starts: readonly number[], rows: readonly number[]): number[] | undefined {
    const table = this.#table;
    const { emptied } = table;
    const behind: number[] = [];
    for (const [part, start] of starts.entries()) {
      table.row = rows[part] ?? 0;
      const at = table.walk(kernel, start, start + STRIDE);
      if (at < start + STRIDE || table.emptied !== emptied) return undefined;
      behind.push(table.row);
    }
    return behind;
  }
}

/**
 * Boundaries of four parts of about the same size, all but the first at a line start, and the end; `undefined` if there
 * are no such lines.
 */
function quarters({ text }: ScanKernel, from: number, to: number): number[] | undefined {
  const size = Math.floor((to - from) / 4);
  const lines = [1, 2, 3].map((part) => text.indexOf(NEWLINE, from + part * size) + 1);
  const parts = [from, ...lines, to];
  return parts.every((start, part) => part === 0 || start > (parts[part - 1] ?? 0)) ? parts : undefined;
}

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
 * The table by which the kernel walks over text: a row for each set of states, filled as texts need it. If several
 * share a kernel, each is filled again when its turn comes.
 */
class StateTable {
  /** Filling it cost more than it can save with this pattern and text. */
  isTooCostly = false;
  /** How often it was cleared: rows returned before that are invalid. */
  emptied = 0;
  /** The row in which the last walk ended. */
  row = 0;
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
  }

  /** Whether it is of any use: it fits, and not every text matches. */
  get isUsable(): boolean {
    return this.#start !== undefined && this.#width <= MAX_CLASSES;
  }

  /** The row at the beginning of a record, and of a line that no match extends into. */
  startRow(kernel: ScanKernel): number {
    if (kernel.rowsOwner !== this) this.#empty(kernel);
    return this.#start ? this.#rowFor(kernel, this.#start) : this.#address(kernel, MATCH);
  }

  /** Rows before this one are special. */
  firstRow(kernel: ScanKernel): number {
    return this.#address(kernel, FIRST_STATE);
  }

  /** Walks over `[from, to)`; returns the position at which a match is known, or `to`, and leaves its row in `row`. */
  walk(kernel: ScanKernel, from: number, to: number): number {
    const firstRow = this.firstRow(kernel);
    let at = from;
    while (at < to) {
      const before = at;
      at = kernel.walk(at, to, { row: this.row, firstRow });
      this.noteWalked(at - before);
      this.row = kernel.reached[0] ?? 0;
      if (at === to) break;
      // If it became too costly, the regex engine tests one more record and the rest is scanned by other means.
      if (!this.#step(kernel, at) || this.isTooCostly) return at;
      at++;
    }
    return to;
  }

  noteWalked(bytes: number): void {
    this.#walkedBytes += bytes;
  }

  /** Whether a match ends at the end of the text, the walk having ended in `row`. */
  matchesAtEnd(kernel: ScanKernel): boolean {
    const state = this.#state(kernel);
    return state !== undefined && this.#stepper.matchesAtEnd(state);
  }

  /** Advances by one byte whose transition is unknown or a match: false for a match. */
  #step(kernel: ScanKernel, at: number): boolean {
    const column = this.#classes.classByByte[kernel.text[at] ?? 0] ?? 0;
    const cell = (this.row - kernel.rowsAddress) / 4 + column;
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
    this.row = this.#rowFor(kernel, states);
    if (!isFull) kernel.rows[cell] = this.row;
    return true;
  }

  get #width(): number {
    return this.#classes.samples.length;
  }

  #address(kernel: ScanKernel, index: number): number {
    return kernel.rowsAddress + index * this.#width * 4;
  }

  #state(kernel: ScanKernel): StateSet | undefined {
    return this.#states[(this.row - kernel.rowsAddress) / (this.#width * 4)];
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
    this.emptied++;
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
