import type { ScanKernel } from '../kernel/scan-kernel.ts';
import type { Nfa } from './nfa.ts';
import { StateTable } from './state-table.ts';

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
