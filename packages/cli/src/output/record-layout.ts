import type { ClusterRecord } from '@porthole/contract';
import type { FoundRecord, Zone } from '@porthole/logs';
import { canonicalField } from '@porthole/logs/query';
import { type Column, cutEnd, cutMiddle, displayWidth, fitColumns, GAP } from './fit-columns.ts';
import { formatInstant, formatTime } from './format-units.ts';
import type { Terminal } from './terminal.ts';
import { errorAt, visibleText } from './visible-text.ts';

/** A record; those of a cluster carry their node and corrected time. */
export type PrintableRecord = FoundRecord &
  Partial<Pick<ClusterRecord, 'node' | 'atMs' | 'isUnsure'>> & {
    /** The file with its directory or node, where files of several sources have the same name. */
    target?: string;
  };

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

/** Wider values do not make their column wider: on a terminal they are cut, piped they move what follows them. */
const MAX_WIDTH = 40;

/** Narrower terminals get times without the year and the fraction: `11-15 05:00:00`. */
const WIDE_COLUMNS = 72;

const MIN_WIDTH = 6;

/** Cut, they would say nothing. */
const WHOLE: ReadonlySet<string> = new Set(['time', 'level']);

/** Some columns have a usual width: the first records may all be INFO, of one place. */
const USUAL_WIDTHS: Readonly<Record<string, number>> = { level: 5 };

/** Left out where the terminal is too narrow for all, the highest first. */
const HIDE_RANKS: Readonly<Record<string, number>> = { source: 3, component: 2, file: 1 };

/** Records as rows of a table that has no end: the widths of its columns are those of the first records. */
class RecordTable {
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

/** Text as it is, or the name of a column. */
export type TemplatePart = { text: string } | { name: string };

/** A brace pair, a name in braces, a lone brace, or text. */
const PART = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** Parses `{time} {level} {shard}`; `{{` and `}}` are braces. Throws an error that shows the character. */
export function parseTemplate(template: string): TemplatePart[] {
  return [...template.matchAll(PART)].map(({ 0: part, 1: name, index }): TemplatePart => {
    if (name !== undefined) return { name: checkName(name, template, index) };
    if (part === '{') throw errorAt(`${place(index)}: "{" is not closed; write {{ for a brace`, template, index);
    if (part === '}') throw errorAt(`${place(index)}: "}" closes nothing; write }} for a brace`, template, index);
    return { text: part === '{{' || part === '}}' ? part.charAt(0) : part };
  });
}

function checkName(name: string, template: string, index: number): string {
  if (/^\S+$/.test(name)) return name;
  const why = name.trim() === '' ? 'expected a name like {time} or {shard}' : 'a name has no white space';
  throw errorAt(`${place(index + 1)}: ${why}`, template, index + 1);
}

function place(index: number): string {
  return `invalid --template at character ${index + 1}`;
}

/** The names in it. */
export function templateColumns(parts: readonly TemplatePart[]): string[] {
  return parts.flatMap((part) => ('name' in part ? [part.name] : []));
}

/** One record, with its newline. What a record does not have is empty. */
function fillTemplate(parts: readonly TemplatePart[], record: PrintableRecord, reader: ColumnReader): string {
  return `${parts.map((part) => ('text' in part ? part.text : (reader.read(record, part.name) ?? ''))).join('')}\n`;
}

/** What a record has besides its fields. A field with such a name is written `context.NAME`. */
export const OWN_COLUMNS = ['time', 'node', 'file'] as const;

/** Fields that every record carries; the others are sent where they are requested. */
const BUILT_IN = ['level', 'source', 'component', 'message'] as const;

const ALWAYS_PRESENT: ReadonlySet<string> = new Set([...OWN_COLUMNS, ...BUILT_IN]);

/** Whether the column is a field that has to be requested. */
export function isField(column: string): boolean {
  return !ALWAYS_PRESENT.has(column);
}

/** Reads the columns of records, and remembers which fields none of them has: a mistyped name, perhaps. */
export class ColumnReader {
  readonly zone: Zone;
  readonly #absent: Set<string>;

  constructor(columns: readonly string[], zone: Zone) {
    this.zone = zone;
    this.#absent = new Set(columns.filter(isField));
  }

  /** Fields that no record had so far. */
  get absent(): string[] {
    return [...this.#absent];
  }

  read(record: PrintableRecord, name: string): string | undefined {
    const text = columnText(record, name, this.zone);
    if (text !== undefined) this.#absent.delete(name);
    return text;
  }
}

/** The exact text of one column; `undefined` if the record has none. Times are RFC 3339. */
export function columnText(record: PrintableRecord, name: string, zone: Zone): string | undefined {
  const { timeMs, atMs = timeMs, node, file, target = file, level, source, tags = [], message, fields } = record;
  switch (name) {
    case 'time':
      return atMs === undefined ? undefined : formatInstant(atMs, zone);
    case 'node':
      return node;
    case 'file':
      return target;
    case 'level':
      return level;
    case 'source':
      return source;
    case 'component':
      return tags.length === 0 ? undefined : tags.join(' ');
    case 'message':
      return message;
    default:
      return fields && fieldText(fields, canonicalField(name));
  }
}

/** Several values are a JSON list. */
function fieldText(fields: NonNullable<PrintableRecord['fields']>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * What a spreadsheet takes for the start of a formula: one of `= + - @`, also their full-width forms, behind whatever it
 * drops (blanks, control characters, quotes); or a tab or line break, which some take for the end of the cell.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}"']*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;

/** Numbers, and the `-` of access logs, are what they are; as texts, nothing could be calculated from them. */
const PLAIN = /^\s*(?:-|[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*$/i;

/**
 * One row of RFC 4180, with its line break. An absent value is empty, an empty text is `""`. A text that a spreadsheet
 * would calculate gets an apostrophe in front: log lines are written by whoever sends requests.
 */
export function csvRow(cells: readonly (string | undefined)[]): string {
  const row = cells.map((text) => (text === undefined ? '' : csvCell(text))).join(',');
  // An empty line would be read as no row.
  return `${row === '' ? '""' : row}\r\n`;
}

function csvCell(text: string): string {
  const inert = FORMULA.test(text) && !PLAIN.test(text) ? `'${text}` : text;
  return inert === '' || /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
