import { type LoadedWasm, loadWasm } from '@porthole/records';
import { WASM_BASE64 } from '../kernel/rows-wasm.ts';
import { rowDay } from '../row/archive-row.ts';
import { RowWriter } from './row-writer.ts';

const DAY_MS = 86_400_000;
const NEWLINE = 10;

/** By their numbers in kernel/rows/write-row.ts. */
const WORDS = [
  ...[',"bytes":', ',"cursor_check":', ',"has_time":1,', ',"has_time":0,', '"line":', ',"context":"'],
  ...[',"message_text":', ',"message_at":', ',"message_tail":', ',"cut":1', ',"continued":1', '}\n'],
];
const WORD_BYTES = 32;

/** Of the largest row; the text of a record is at most 64 KiB, which is six times as long if all of it is escaped. */
const MAX_ROW_BYTES = 8 * 1024 ** 2;

/** Why it stopped, by the numbers in kernel/rows.ts. */
const STOPS = ['lines', 'no-record', 'full', 'file', 'day', 'unusual'] as const;
export type RowStop = (typeof STOPS)[number];

interface Exports {
  setFile(lineStart: number, rowStart: number, day: number): void;
  makeRows(start: number, end: number, length: number, maxLength: number, maxRows: number): number;
}

/** Where the kernel keeps a number. */
const PLACES = [
  ...['END', 'LAST_OFFSET', 'BEFORE_MS', 'CARRIED_MS', 'TO_MS', 'READ_BYTES', 'FIRST', 'DAY_FROM_MS', 'DAY_TO_MS'],
  ...['NEEDED_MS', 'LINE_COUNT', 'ROW_COUNT', 'LAST_LINE', 'LINE_BEFORE', 'HAS_LAST', 'UNDO_LENGTH', 'UNDO_END'],
  ...['UNDO_LAST_OFFSET', 'UNDO_BEFORE_MS', 'STOP', 'LENGTH', 'DISORDER_MS', 'UNTIMED', 'UNDO_UNTIMED'],
];

/** What is known of a file and its records, as the kernel goes through them. */
export interface RowState {
  end: number;
  lastOffset: number;
  beforeMs: number;
  carriedMs: number;
  /** `NaN`: no record has a time so far. */
  toMs: number;
  readBytes: number;
  /** By how much times went back at most, and how many records have none. */
  disorderMs: number;
  untimed: number;
  /** Of the next line: 0, it follows another one; 1, it is the first of its file; 2, and its file has a cursor. */
  first: number;
}

/** What was made in one go. */
export interface MadeRows {
  stop: RowStop;
  /** Where the next line starts. */
  at: number;
  lines: number;
  rows: number;
  /** Where the lines of the last row and of the one before it start; -1: not in this go. */
  lastLine: number;
  lineBefore: number;
  /** Of the rows. */
  day: string;
  /** What is to be undone with the last row; absent: the last line has none. */
  undo: { length: number; end: number; lastOffset: number; beforeMs: number; untimed: number } | undefined;
}

/** Makes rows of lines, hundreds at a time; `RowWriter` makes the same of one at a time, and all that are unusual. */
export class RowKernel {
  /** How many bytes of rows there are. */
  length = 0;
  readonly state: RowState = {
    end: 0,
    lastOffset: 0,
    beforeMs: 0,
    carriedMs: 0,
    toMs: Number.NaN,
    readBytes: 0,
    disorderMs: 0,
    untimed: 0,
    first: 1,
  };
  readonly #maxBytes: number;
  readonly #loaded: LoadedWasm;
  readonly #exports: Exports;
  readonly #memory: Buffer;
  readonly #numbers: Float64Array;
  readonly #at: Readonly<Record<string, number>>;
  readonly #writer = new RowWriter();
  #shippedMs = 0;
  #lineStart: Buffer = Buffer.alloc(0);
  #rowStart: Buffer = Buffer.alloc(0);
  #day: Buffer = Buffer.alloc(0);
  #dayName = '';

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#loaded = loadWasm(WASM_BASE64, maxBytes + MAX_ROW_BYTES);
    const { buffer, exports, constant } = this.#loaded;
    this.#exports = exports as unknown as Exports;
    this.#memory = Buffer.from(buffer);
    this.#numbers = new Float64Array(buffer, constant('NUMBERS'), 32);
    this.#at = Object.fromEntries(PLACES.map((name) => [name, constant(name)]));
    for (const [index, word] of WORDS.entries()) {
      const at = constant('WORDS') + index * WORD_BYTES;
      this.#memory.write(word, at);
      this.#memory[at + WORD_BYTES - 1] = word.length;
    }
  }

  /** What all lines of a file begin with, and what all of its rows do: columns and their values. */
  setFile(lineStart: Buffer, columns: Readonly<Record<string, string | number>>, shippedMs: number): void {
    const text = JSON.stringify({ ...columns, shipped_ms: shippedMs });
    this.#lineStart = lineStart;
    this.#rowStart = Buffer.from(`${text.slice(0, -1)},"file_offset":`);
    this.#shippedMs = shippedMs;
    this.#set('DAY_FROM_MS', Number.NaN);
    this.#day = Buffer.alloc(0);
    this.#writer.setFile(columns, shippedMs);
    this.#tell();
  }

  /** The rows, where they are: valid until more are made. */
  get rows(): Buffer {
    const start = this.#loaded.constant('ROWS');
    return this.#memory.subarray(start, start + this.length);
  }

  /** Begins anew. */
  clear(): void {
    this.length = 0;
  }

  /** Goes on with the day of the time that was needed. */
  startDay(): void {
    const timeMs = this.#get('NEEDED_MS');
    const from = Math.floor(timeMs / DAY_MS) * DAY_MS;
    this.#dayName = rowDay(timeMs, this.#shippedMs);
    this.#day = Buffer.from(`,"day":"${this.#dayName}","time_ms":`);
    this.#set('DAY_FROM_MS', from);
    this.#set('DAY_TO_MS', from + DAY_MS);
    this.#tell();
  }

  /** Makes rows of the lines of a chunk from a position on: as many as it can without asking. */
  make(chunk: Buffer, from: number, maxRows: number): MadeRows {
    const { constant } = this.#loaded;
    const most = constant('LINES_BYTES');
    const end = chunk.length - from <= most ? chunk.length : chunk.lastIndexOf(NEWLINE, from + most - 1) + 1;
    const isTooLong = end <= from || this.#lineStart.length > constant('LINE_START_BYTES');
    if (isTooLong || this.#rowStart.length > constant('ROW_START_BYTES')) return nothingMade('unusual', from);
    const lines = constant('LINES');
    chunk.copy(this.#memory, lines, from, end);
    const { state } = this;
    for (const [name, key] of SHARED) this.#set(name, state[key]);
    const at = from + this.#exports.makeRows(0, end - from, this.length, this.#maxBytes, maxRows);
    for (const [name, key] of SHARED) state[key] = this.#get(name);
    this.length = this.#get('LENGTH');
    const place = (name: string) => (this.#get(name) < 0 ? -1 : from + this.#get(name));
    return {
      stop: STOPS[this.#get('STOP')] ?? 'unusual',
      at,
      lines: this.#get('LINE_COUNT'),
      rows: this.#get('ROW_COUNT'),
      lastLine: place('LAST_LINE'),
      lineBefore: place('LINE_BEFORE'),
      day: this.#dayName,
      undo: this.#get('HAS_LAST') === 1 ? this.#undo() : undefined,
    };
  }

  /** Makes the row of one line, byte by byte. */
  makeOne(chunk: Buffer, from: number): MadeRows {
    const { state } = this;
    const { reader } = this.#writer;
    const start = this.#lineStart;
    if (chunk.compare(start, 0, start.length, from, from + start.length) !== 0) return nothingMade('file', from);
    const end = chunk.indexOf(NEWLINE, from);
    reader.read(chunk, from + this.#lineStart.length, end);
    const { offset, bytes, timeMs } = reader;
    const isContinuation = state.first === 2 && offset === state.lastOffset;
    const carriedMs = state.first === 0 ? state.carriedMs : isContinuation ? state.beforeMs : 0;
    const made = { ...nothingMade('lines', end + 1), lines: 1 };
    if (offset + bytes > state.end) {
      const { end: known, lastOffset, beforeMs, untimed } = state;
      made.undo = { length: this.length, end: known, lastOffset, beforeMs, untimed };
      made.rows = 1;
      made.lastLine = from;
      made.day = this.#writer.write(carriedMs);
      this.length += this.#writer.take().copy(this.#memory, this.#loaded.constant('ROWS') + this.length);
      state.readBytes += offset + bytes - Math.max(offset, known);
      Object.assign(state, { end: offset + bytes, lastOffset: offset, beforeMs: carriedMs });
      if (timeMs === undefined) state.untimed++;
      else if (state.toMs >= timeMs) state.disorderMs = Math.max(state.disorderMs, state.toMs - timeMs);
      else state.toMs = timeMs;
    }
    state.first = 0;
    state.carriedMs = timeMs ?? carriedMs;
    return made;
  }

  #undo() {
    return {
      length: this.#get('UNDO_LENGTH'),
      end: this.#get('UNDO_END'),
      lastOffset: this.#get('UNDO_LAST_OFFSET'),
      beforeMs: this.#get('UNDO_BEFORE_MS'),
      untimed: this.#get('UNDO_UNTIMED'),
    };
  }

  #tell(): void {
    const { constant } = this.#loaded;
    if (this.#lineStart.length <= constant('LINE_START_BYTES'))
      this.#lineStart.copy(this.#memory, constant('LINE_START'));
    if (this.#rowStart.length <= constant('ROW_START_BYTES')) this.#rowStart.copy(this.#memory, constant('ROW_START'));
    this.#day.copy(this.#memory, constant('DAY'));
    this.#exports.setFile(this.#lineStart.length, this.#rowStart.length, this.#day.length);
  }

  #get(name: string): number {
    return this.#numbers[this.#at[name] ?? 0] ?? 0;
  }

  #set(name: string, value: number): void {
    this.#numbers[this.#at[name] ?? 0] = value;
  }
}

const SHARED: readonly [string, keyof RowState][] = [
  ['END', 'end'],
  ['LAST_OFFSET', 'lastOffset'],
  ['BEFORE_MS', 'beforeMs'],
  ['CARRIED_MS', 'carriedMs'],
  ['TO_MS', 'toMs'],
  ['READ_BYTES', 'readBytes'],
  ['DISORDER_MS', 'disorderMs'],
  ['UNTIMED', 'untimed'],
  ['FIRST', 'first'],
];

function nothingMade(stop: RowStop, at: number): MadeRows {
  return { stop, at, lines: 0, rows: 0, lastLine: -1, lineBefore: -1, day: '', undo: undefined };
}
