import type { PrintableRecord } from '../sources/log-source.ts';
import { type ColumnReader, isField } from './column-text.ts';
import { cutEnd, cutMiddle, displayWidth } from './display-width.ts';
import { type Column, fitColumns, GAP } from './fit-columns.ts';
import { formatTime } from './format-time.ts';
import type { LayoutOptions } from './record-layout.ts';
import { visibleText } from './visible-text.ts';

/** Wider values do not make their column wider: on a terminal they are cut, piped they move what follows them. */
const MAX_WIDTH = 40;

/** Narrower terminals get times without the year and the fraction: `11-15 05:00:00`. */
const WIDE_COLUMNS = 72;

const MIN_WIDTH = 6;

/** Cut, they would say nothing. */
const WHOLE: ReadonlySet<string> = new Set(['time', 'level']);

/** Of the columns that have a usual one: the first records may all be INFO, of one place. */
const USUAL_WIDTHS: Readonly<Record<string, number>> = { level: 5 };

/** Left out where the terminal is too narrow for all, the highest first. */
const HIDE_RANKS: Readonly<Record<string, number>> = { source: 3, component: 2, file: 1 };

/** Records as rows of a table that has no end: the widths of its columns are those of the first records. */
export class RecordTable {
  readonly #names: readonly string[];
  readonly #widths: readonly number[];
  readonly #reader: ColumnReader;
  readonly #terminal: LayoutOptions['terminal'];

  constructor({ columns, isChosen, reader, terminal }: LayoutOptions, first: readonly PrintableRecord[]) {
    this.#reader = reader;
    this.#terminal = terminal;
    const natural = columns.map((name) => {
      const cells = first.map((record) => Math.min(MAX_WIDTH, displayWidth(this.#cell(record, name))));
      return Math.max(title(name).length, USUAL_WIDTHS[name] ?? 0, ...cells);
    });
    const { shown, widths } = fitColumns(
      columns.map((name) => toColumn(name, isChosen)),
      natural,
      terminal.columns,
    );
    this.#names = shown.map((index) => columns[index] ?? '');
    this.#widths = widths;
    const hidden = columns.filter((name) => !this.#names.includes(name));
    if (hidden.length > 0) terminal.note(`the terminal is too narrow for: ${hidden.map(title).join(', ')}`);
  }

  header(): string {
    return `${this.#terminal.colors.dim(this.#line(this.#names.map(title)))}\n`;
  }

  rows(records: readonly PrintableRecord[]): string {
    return records.map((record) => `${this.#line(this.#names.map((name) => this.#cell(record, name)))}\n`).join('');
  }

  /** Piped, nothing is cut. */
  #line(cells: readonly string[]): string {
    const { columns, isTty } = this.#terminal;
    const padded = cells.map((text, index) => {
      const width = this.#widths[index] ?? 0;
      const shown = isTty && index < cells.length - 1 ? cutMiddle(text, width) : text;
      return shown + ' '.repeat(Math.max(0, width - displayWidth(shown)));
    });
    return cutEnd(padded.join(GAP).trimEnd(), columns);
  }

  /** On one line. */
  #cell(record: PrintableRecord, name: string): string {
    const { timeMs, atMs = timeMs } = record;
    if (name !== 'time') return visibleText(this.#reader.read(record, name) ?? '-').replace(/\s+/g, ' ');
    if (atMs === undefined) return '-';
    const time = formatTime(atMs, this.#reader.zone);
    return this.#terminal.columns < WIDE_COLUMNS ? time.slice(5, 19) : time;
  }
}

/** Fields are named as they are: case matters. */
function title(name: string): string {
  return isField(name) ? name : name.toUpperCase();
}

/** Chosen columns become narrow instead. */
function toColumn(name: string, isChosen: boolean): Column {
  if (isChosen) return { title: title(name), ...(!WHOLE.has(name) && { minWidth: MIN_WIDTH }) };
  const hideRank = HIDE_RANKS[name];
  return { title: title(name), ...(hideRank !== undefined && { hideRank }) };
}
