import type { ClusterRecord } from '@porthole/contract';
import type { LineKernel, LineRange, LineTables } from '@porthole/logs';
import type { FoundRecord, SearchEnd, SearchItem } from '@porthole/logs/types';

/*
 * Records of members as lines of JSON, merged without being parsed. The lines come from a `NodeState`, which has checked
 * them: each is valid JSON on one line, a record or the end. Lines that the kernel does not recognize are parsed.
 */

const NEWLINE = 0x0a;

/** Lines of one chunk in a row, and what the merge needs of them. */
interface LineTable extends LineTables {
  chunk: Buffer;
  /** Of all of them. */
  file: string;
}

/** A record as its line. What the merge needs of it is read when it is needed. */
export class LineRecord {
  readonly type = 'record';
  readonly #table: LineTable;
  readonly #index: number;

  constructor(table: LineTable, index: number) {
    this.#table = table;
    this.#index = index;
  }

  get file(): string {
    return this.#table.file;
  }

  /** `undefined` without a timestamp. */
  get timeMs(): number | undefined {
    const timeMs = this.#table.times[this.#index] as number;
    return Number.isNaN(timeMs) ? undefined : timeMs;
  }

  get offset(): number {
    const { chunk, from, fileEnds, cursors } = this.#table;
    const at = from + (fileEnds[this.#index] as number) + OFFSET_KEY.length;
    return Number.parseInt(chunk.toString('latin1', at, from + (cursors[this.#index] as number)), 10);
  }

  get cursor(): string {
    const { chunk, from, cursors, cursorEnds } = this.#table;
    return chunk.toString(
      'latin1',
      from + (cursors[this.#index] as number),
      from + (cursorEnds[this.#index] as number),
    );
  }

  /** Its line, with the newline. */
  get line(): Buffer {
    const { chunk, from, ends } = this.#table;
    return chunk.subarray(from + this.#start, from + (ends[this.#index] as number));
  }

  /** Only this one. */
  asLines(): LineRows {
    return new LineRows(this.#table, this.#index, this.#index + 1);
  }

  get #start(): number {
    return this.#index === 0 ? 0 : (this.#table.ends[this.#index - 1] as number);
  }
}

/** Records of one file as their lines, which follow each other in one piece. There is at least one. */
export class LineRows {
  readonly type = 'lines';
  readonly first: number;
  readonly end: number;
  readonly #table: LineTable;

  /** From the first line of the table to before `end`. */
  constructor(table: LineTable, first: number, end: number) {
    this.#table = table;
    this.first = first;
    this.end = end;
  }

  get count(): number {
    return this.end - this.first;
  }

  get range(): LineRange {
    const { first, end } = this;
    return { bytes: this.#table.chunk, tables: this.#table, first, end };
  }

  get last(): LineRecord {
    return new LineRecord(this.#table, this.end - 1);
  }

  /** By their places in the table; `NaN` without a timestamp. */
  get times(): ArrayLike<number> {
    return this.#table.times;
  }

  /** Some of them. */
  slice(first: number, end: number): LineRows {
    return new LineRows(this.#table, first, end);
  }

  records(): LineRecord[] {
    return Array.from({ length: this.count }, (_, index) => new LineRecord(this.#table, this.first + index));
  }
}

/** Merged records of one member in a row, not parsed. */
export interface LineRun {
  type: 'lines';
  node: string;
  /** How far the clock of the member is ahead. */
  offsetMs: number;
  /** Of the last one that has a time, by the clock of this node. */
  atMs: number | undefined;
  /** Of the first one; the others follow a record of the same member. */
  isUnsure: boolean;
  lines: LineRows;
}

export type MergedRecords = ClusterRecord | LineRun;

/** The items of NDJSON chunks; each chunk has whole lines. */
export async function* lineItems(
  chunks: AsyncIterable<Uint8Array>,
  kernel: LineKernel,
): AsyncGenerator<(SearchItem | LineRows)[], void, undefined> {
  const reader = new LineReader(kernel);
  for await (const chunk of chunks) yield reader.read(chunk);
}

const FILE_KEY = '{"type":"record","file":"';
const OFFSET_KEY = '","offset":';

/** Lines are parsed in rows of so many, where none is recognized: each attempt takes as long as parsing some. */
const MAX_PARSED = 1023;

/** Remembers the name of the file: most records have the same one as the record before. */
export class LineReader {
  readonly #kernel: LineKernel;
  #file = '';
  #fileBytes = Buffer.alloc(0);

  constructor(kernel: LineKernel) {
    this.#kernel = kernel;
  }

  /** If the client has recognized the lines by the same kernel, they are not read again. */
  read(piece: Uint8Array): (SearchItem | LineRows)[] {
    const chunk = Buffer.from(piece.buffer as ArrayBuffer, piece.byteOffset, piece.length);
    const items: (SearchItem | LineRows)[] = [];
    const known = this.#kernel.known(piece);
    if (known) {
      for (const tables of known) this.#add(chunk, tables, items);
      return items;
    }
    let pause = 0;
    for (let at = 0; at < chunk.length; ) {
      const tables = this.#kernel.read(chunk, at);
      if (tables) at += this.#add(chunk, tables, items);
      pause = tables ? 1 : Math.min(2 * pause + 1, MAX_PARSED);
      for (let parsed = 0; parsed < pause && at < chunk.length; parsed++) {
        const end = chunk.indexOf(NEWLINE, at);
        const lineEnd = end < 0 ? chunk.length : end;
        items.push(parseItem(chunk.toString('utf8', at, lineEnd)));
        at = lineEnd + 1;
      }
    }
    return items;
  }

  /** Adds lines that were recognized; returns their length. */
  #add(chunk: Buffer, tables: LineTables, items: (SearchItem | LineRows)[]): number {
    const { from, count, fileEnds, ends } = tables;
    let first = 0;
    let fileOfFirst = '';
    for (let index = 0, start = from; index < count; index++) {
      const file = this.#fileName(chunk, start + FILE_KEY.length, from + (fileEnds[index] as number));
      if (file !== fileOfFirst && index > first) {
        items.push(new LineRows({ ...tables, chunk, file: fileOfFirst }, first, index));
        first = index;
      }
      fileOfFirst = file;
      start = from + (ends[index] as number);
    }
    items.push(new LineRows({ ...tables, chunk, file: fileOfFirst }, first, count));
    return ends[count - 1] as number;
  }

  /** Names that the kernel recognizes have no escapes. */
  #fileName(chunk: Buffer, start: number, end: number): string {
    const known = this.#fileBytes;
    if (end - start === known.length && hasAt(chunk, known, start)) return this.#file;
    this.#fileBytes = Buffer.from(chunk.subarray(start, end));
    this.#file = this.#fileBytes.toString();
    return this.#file;
  }
}

function hasAt(chunk: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < bytes.length; index++) if (chunk[at + index] !== bytes[index]) return false;
  return true;
}

function parseItem(text: string): FoundRecord | SearchEnd {
  return JSON.parse(text) as FoundRecord | SearchEnd;
}
