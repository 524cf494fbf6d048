import type { SearchEnd } from '@porthole/logs';
import { rowDay } from '../schema/schema.ts';
import type { BatchBuilder } from './batch-sender.ts';
import type { FileEntry } from './log-files.ts';

/*
 * Makes rows of the lines of a search, which are JSON as our engine writes it: keys in their order, no white space. Both
 * are JSON of the same values, so most of a line is copied as it is: parsing and serializing each record takes twice as
 * long. Lines are read as strings with one character for each byte, so that positions and lengths are those of UTF-8.
 */

const NEWLINE = 10;
const DAY_MS = 86_400_000;

/** From the number of the offset on, up to the time; of the cursor, `head.length.offset.check.length.name`, the checksum. */
const HEAD = /(\d+),"bytes":(\d+),"cursor":"[^."]*\.[^."]*\.[^."]*\.([0-9a-z]+)\.[^"]*"(?:,"timeMs":(-?\d+))?/y;

const MESSAGE_KEY = ',"message":';
const CONTEXT_KEY = ',"context":';
const CONTEXT_TEXT_KEY = ',"contextText":';
const RAW_KEY = ',"raw":';
const CUT = ',"cut":true';
const CONTINUED = ',"continued":true';

/** Reads one line of a search at a time, and appends its row to the others if it is to be shipped. */
export class RowWriter {
  /** How many bytes of rows there are. */
  length = 0;
  /** Fields of the line that was read last. */
  offset = 0;
  bytes = 0;
  timeMs: number | undefined;
  #line = '';
  /** Where its level, source and tags begin. */
  #columnsAt = 0;
  #cursorCheck = 0;
  /** Numbers as they are written: making texts of them anew takes longer. */
  #digits: { offset: string; bytes: string; time: string | undefined } = { offset: '', bytes: '', time: undefined };
  #rows: Buffer = Buffer.allocUnsafe(256 * 1024);
  /** What all lines of the file begin with, and what all of its rows do. */
  #lineStart: Buffer = Buffer.alloc(0);
  #rowStart = '';
  #shippedMs = 0;
  /** The day of the last row: neighbours are mostly of the same one. */
  #dayNumber = Number.NaN;
  #day = '';

  /** The file that lines are of from now on: what they begin with, up to the offset, and the columns that its rows have. */
  setFile(lineStart: Buffer, columns: Readonly<Record<string, string | number>>, shippedMs: number): void {
    const text = JSON.stringify({ ...columns, shipped_ms: shippedMs });
    this.#lineStart = lineStart;
    this.#rowStart = Buffer.from(`${text.slice(0, -1)},"file_offset":`).toString('latin1');
    this.#shippedMs = shippedMs;
    this.#dayNumber = Number.NaN;
  }

  /** Whether the line that starts here is of the file. */
  isOfFile(chunk: Buffer, at: number): boolean {
    const start = this.#lineStart;
    return chunk.compare(start, 0, start.length, at, Math.min(chunk.length, at + start.length)) === 0;
  }

  /** The rows, where they are: valid until more are written. */
  get rows(): Buffer {
    return this.#rows.subarray(0, this.length);
  }

  /** Reads the line of the file that starts here. */
  read(chunk: Buffer, at: number): void {
    this.#line = chunk.toString('latin1', at, chunk.indexOf(NEWLINE, at));
    HEAD.lastIndex = this.#lineStart.length;
    const head = HEAD.exec(this.#line);
    if (!head) throw new TypeError('the line of a record has no cursor');
    const [, offset = '', bytes = '', check = '', time] = head;
    this.#digits = { offset, bytes, time };
    this.offset = Number(offset);
    this.bytes = Number(bytes);
    this.#cursorCheck = Number.parseInt(check, 36);
    this.timeMs = time === undefined ? undefined : Number(time);
    this.#columnsAt = HEAD.lastIndex + 1;
  }

  /**
   * Appends the row of the record that was read, and returns its day. `previousMs`: time of the last record before it in
   * its file that has one; 0 if none has.
   */
  write(previousMs: number): string {
    const { timeMs = previousMs } = this;
    const { offset, bytes, time = previousMs } = this.#digits;
    const line = this.#line;
    // Inside of strings, quotes are escaped: this is the key.
    const messageAt = line.indexOf(MESSAGE_KEY, this.#columnsAt - 1) + MESSAGE_KEY.length;
    if (messageAt < MESSAGE_KEY.length) throw new TypeError('the line of a record has no message');
    const columns = line.slice(this.#columnsAt, messageAt - MESSAGE_KEY.length + 1);
    const message = line.slice(messageAt, stringEnd(line, messageAt));
    let at = messageAt + message.length;
    let context = '';
    if (line.startsWith(CONTEXT_KEY, at)) {
      context = line.slice(at + CONTEXT_KEY.length, contextEnd(line, at + CONTEXT_KEY.length));
      at += CONTEXT_KEY.length + context.length;
    }
    if (line.startsWith(CONTEXT_TEXT_KEY, at)) at = stringEnd(line, at + CONTEXT_TEXT_KEY.length);
    const isCut = line.startsWith(CUT, at);
    if (isCut) at += CUT.length;
    const isContinued = line.startsWith(CONTINUED, at);
    if (isContinued) at += CONTINUED.length;
    if (!line.startsWith(RAW_KEY, at)) throw new TypeError('the line of a record has no text');
    at += RAW_KEY.length;
    // A text that is the last field ends with the line; a context that is shown as it is in the log follows it.
    const raw = line.slice(at, line.endsWith('"}') ? -1 : stringEnd(line, at));
    at += raw.length;
    if (line.startsWith(CONTEXT_KEY, at)) context = line.slice(at + CONTEXT_KEY.length, -1);
    this.#setDay(timeMs);
    this.#append(
      `${this.#rowStart}${offset},"bytes":${bytes},"cursor_check":${this.#cursorCheck},"day":"${this.#day}",` +
        `"time_ms":${time},"has_time":${this.timeMs === undefined ? 0 : 1},${wellFormed(columns)}"line":${raw}` +
        `${context === '' ? '' : `,"context":${JSON.stringify(context)}`}${messageColumns(message, raw)}` +
        `${isCut ? ',"cut":1' : ''}${isContinued ? ',"continued":1' : ''}}\n`,
    );
    return this.#day;
  }

  #setDay(timeMs: number): void {
    const number = Math.floor(timeMs / DAY_MS);
    if (number !== this.#dayNumber) this.#day = rowDay(timeMs, this.#shippedMs);
    this.#dayNumber = number;
  }

  #append(row: string): void {
    const needed = this.length + row.length;
    if (needed > this.#rows.length) {
      const grown = Buffer.allocUnsafe(Math.max(2 * this.#rows.length, needed));
      this.#rows.copy(grown, 0, 0, this.length);
      this.#rows = grown;
    }
    this.length += this.#rows.write(row, this.length, 'latin1');
  }
}

/** Where the message is in the text; itself where it is no part of it. Both are escaped, and in quotes. */
function messageColumns(message: string, raw: string): string {
  const found = raw.lastIndexOf(message.slice(1, -1), raw.length - message.length + 1);
  const head = found < 0 ? -1 : plainBytes(raw.slice(1, found));
  if (head < 0) return `,"message_text":${wellFormed(message)}`;
  const tail = plainBytes(raw.slice(found + message.length - 2, -1));
  return `${head > 0 ? `,"message_at":${head}` : ''}${tail > 0 ? `,"message_tail":${tail}` : ''}`;
}

/** Bytes of UTF-8 that an escaped text stands for; -1 if it ends in the middle of an escape. */
function plainBytes(text: string): number {
  let bytes = text.length;
  let at = text.indexOf('\\');
  while (at >= 0) {
    const length = text[at + 1] === 'u' ? 6 : 2;
    if (at + length > text.length) return -1;
    bytes -= length - 1;
    at = text.indexOf('\\', at + length);
  }
  return bytes;
}

/** Halves of characters, which some logs of JSON contain, are no text: servers refuse them. */
function wellFormed(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f]..|.)/g, (found) => (found.length > 2 ? '\\ufffd' : found));
}

/** Behind the string that starts at the position. */
function stringEnd(line: string, start: number): number {
  for (let at = line.indexOf('"', start + 1); at >= 0; at = line.indexOf('"', at + 1)) {
    let before = at - 1;
    while (line[before] === '\\') before--;
    if ((at - before) % 2 === 1) return at + 1;
  }
  throw new TypeError('the line of a record is incomplete');
}

/** Behind the object that starts at the position. */
function contextEnd(line: string, start: number): number {
  // Mostly the text follows it, as the last field: nothing in it can look like its key.
  const rawKey = line.endsWith('"}') ? line.lastIndexOf(RAW_KEY) : -1;
  if (line[rawKey - 1] === '}') return rawKey;
  let depth = 0;
  for (let at = start; at < line.length; ) {
    const character = line[at];
    if (character === '{') depth++;
    else if (character === '}') depth--;
    at = character === '"' ? stringEnd(line, at) : at + 1;
    if (depth === 0) return at;
  }
  throw new TypeError('the line of a record is incomplete');
}

const QUOTE = 0x22;
/** `{"type":"record"` and `{"type":"end"` differ here. */
const KIND_AT = 9;
const LETTER_R = 0x72;

const FILE_START = '{"type":"record","file":';
const CURSOR_KEY = Buffer.from('"cursor":"');

/** The file of the next record, as its line has it. */
export interface LineFile {
  name: string;
  /** What its cursors begin with. */
  mark: { headHash: string; headBytes: number };
  /** What its lines begin with, up to the offset. */
  lineStart: Buffer;
}

/** Why reading a chunk stopped. */
type PassState = 'more' | 'file' | 'full' | 'end';

/** The line of a record, in a chunk that is valid for now. */
interface Line {
  chunk: Buffer;
  at: number;
}

/**
 * One pass over the lines of a search: adds the rows of records that were not shipped yet. A record is added when another
 * one follows, because it is complete only then; the last one is held back for `addLast`.
 */
export class LogPass {
  state: PassState = 'more';
  end: SearchEnd | undefined;
  rows = 0;
  bytes = 0;
  /** Records without a time. */
  untimed = 0;
  /** The newest time, and by how much times went back at most. */
  toMs: number | null;
  disorderMs = 0;
  readonly #builder: BatchBuilder;
  readonly #onRow: (day: string) => void;
  #file: { entry: FileEntry; name: string } | undefined;
  #held: Line | undefined;
  /** The line of the last row, for its cursor: only that of the last of many is needed. */
  #lastRow: Line | undefined;
  /** Time of the record before, in its file. `undefined`: there is none. */
  #previousMs: number | undefined;

  /** `toMs`: the newest time before it. */
  constructor(builder: BatchBuilder, toMs: number | null, onRow: (day: string) => void) {
    this.#builder = builder;
    this.#onRow = onRow;
    this.toMs = toMs;
  }

  /** The file that the next lines are from; the writer knows it. */
  setFile(entry: FileEntry, name: string): void {
    this.keep();
    this.#file = { entry, name };
    this.#previousMs = undefined;
  }

  /** Reads lines from a position on; returns where it stopped, and `state` says why. */
  read(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at = chunk.indexOf(NEWLINE, at) + 1) {
      if (chunk[at + KIND_AT] !== LETTER_R) {
        this.end = JSON.parse(chunk.toString('utf8', at, chunk.indexOf(NEWLINE, at))) as SearchEnd;
        this.state = 'end';
        return chunk.length;
      }
      this.addLast();
      const isOfFile = this.#file !== undefined && this.#builder.writer.isOfFile(chunk, at);
      this.state = this.#builder.isFull ? 'full' : isOfFile ? 'more' : 'file';
      if (this.state !== 'more') return at;
      this.#held = { chunk, at };
    }
    this.state = 'more';
    return chunk.length;
  }

  /** Keeps what is needed of a chunk: before it is given back, what was read is saved, or another file is read. */
  keep(): void {
    if (this.#held) {
      const { chunk, at } = this.#held;
      this.#held = { chunk: Buffer.from(chunk.subarray(at, chunk.indexOf(NEWLINE, at) + 1)), at: 0 };
    }
    if (this.#file && this.#lastRow) this.#file.entry.cursor = cursorIn(this.#lastRow);
    this.#lastRow = undefined;
  }

  /** The record that is held back, unless it was shipped before. */
  get last(): { entry: FileEntry; name: string; offset: number; end: number } | undefined {
    const { writer } = this.#builder;
    if (!this.#held || !this.#file) return undefined;
    writer.read(this.#held.chunk, this.#held.at);
    const end = writer.offset + writer.bytes;
    return end > this.#file.entry.end ? { ...this.#file, offset: writer.offset, end } : undefined;
  }

  /** Adds the row of the record that is held back, unless it was shipped before. */
  addLast(): void {
    if (!this.#held || !this.#file) return;
    const { writer } = this.#builder;
    const { entry } = this.#file;
    writer.read(this.#held.chunk, this.#held.at);
    const { offset, bytes, timeMs } = writer;
    const end = offset + bytes;
    // The first may be the last one that was shipped, with more lines.
    const previousMs = this.#previousMs ?? (offset === entry.lastOffset ? entry.beforeMs : 0);
    this.#previousMs = timeMs ?? previousMs;
    if (end > entry.end) {
      this.rows++;
      this.bytes += end - Math.max(offset, entry.end);
      this.#noteTime(timeMs);
      entry.end = end;
      entry.lastOffset = offset;
      entry.beforeMs = previousMs;
      // The newest of everything up to here: what is deleted is older.
      entry.toMs = Math.max(entry.toMs ?? 0, this.toMs ?? 0);
      this.#onRow(writer.write(previousMs));
      this.#lastRow = this.#held;
    }
    this.#held = undefined;
  }

  #noteTime(timeMs: number | undefined): void {
    if (timeMs === undefined) this.untimed++;
    else if (this.toMs !== null && this.toMs >= timeMs) this.disorderMs = Math.max(this.disorderMs, this.toMs - timeMs);
    else this.toMs = timeMs;
  }
}

/** The file that the record whose line starts here is of. */
export function readLineFile(chunk: Buffer, at: number): LineFile {
  const text = chunk.toString('utf8', at, chunk.indexOf('"offset":', at) + '"offset":'.length);
  const name = JSON.parse(text.slice(FILE_START.length, -',"offset":'.length)) as string;
  const [headHash = '', headBytes = ''] = cursorIn({ chunk, at }).split('.', 2);
  return { name, mark: { headHash, headBytes: Number.parseInt(headBytes, 36) }, lineStart: Buffer.from(text) };
}

function cursorIn({ chunk, at }: Line): string {
  const start = chunk.indexOf(CURSOR_KEY, at) + CURSOR_KEY.length;
  return chunk.toString('latin1', start, chunk.indexOf(QUOTE, start));
}
