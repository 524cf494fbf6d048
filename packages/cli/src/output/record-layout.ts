import type { PrintableRecord } from '../sources/log-source.ts';
import type { ColumnReader } from './column-text.ts';
import { csvRow } from './format-csv.ts';
import { RecordTable } from './record-table.ts';
import { fillTemplate, type TemplatePart } from './record-template.ts';
import type { Terminal } from './terminal.ts';

export interface LayoutOptions {
  columns: readonly string[];
  /** Whether the user named the columns: then none is left out. */
  isChosen: boolean;
  reader: ColumnReader;
  terminal: Pick<Terminal, 'colors' | 'columns' | 'note' | 'isTty'>;
}

/** How records become lines where columns are chosen. One for all sources of a command line: it has one header. */
export abstract class RecordLayout {
  protected readonly options: LayoutOptions;

  constructor(options: LayoutOptions) {
    this.options = options;
  }

  /** The lines of these records, the header first. */
  abstract format(records: readonly PrintableRecord[]): string;

  /** What is left to print when there are no more records. */
  end(): string {
    return '';
  }

  /** Fields among the columns that no record had. */
  get absent(): readonly string[] {
    return this.options.reader.absent;
  }
}

/** CSV has its header also without records: whatever reads it finds its columns. */
export class CsvLayout extends RecordLayout {
  #isBegun = false;

  format(records: readonly PrintableRecord[]): string {
    const { columns, reader } = this.options;
    const rows = records.map((record) => this.#row(columns.map((name) => reader.read(record, name))));
    return rows.length === 0 ? '' : this.#header() + rows.join('');
  }

  override end(): string {
    return this.#header();
  }

  #header(): string {
    const header = this.#isBegun ? '' : this.#row(this.options.columns);
    this.#isBegun = true;
    return header;
  }

  /** A terminal would show the carriage return. */
  #row(cells: readonly (string | undefined)[]): string {
    const row = csvRow(cells);
    return this.options.terminal.isTty ? `${row.slice(0, -2)}\n` : row;
  }
}

/** Aligned columns; the widths are those of the first records. */
export class TableLayout extends RecordLayout {
  #table: RecordTable | undefined;

  format(records: readonly PrintableRecord[]): string {
    if (records.length === 0) return '';
    if (this.#table) return this.#table.rows(records);
    this.#table = new RecordTable(this.options, records);
    return this.#table.header() + this.#table.rows(records);
  }
}

export class TemplateLayout extends RecordLayout {
  readonly #parts: readonly TemplatePart[];

  constructor(parts: readonly TemplatePart[], options: LayoutOptions) {
    super(options);
    this.#parts = parts;
  }

  format(records: readonly PrintableRecord[]): string {
    return records.map((record) => fillTemplate(this.#parts, record, this.options.reader)).join('');
  }
}
