import { rowDay } from '../schema/schema.ts';
import { LineWriter, type ShippedFile } from './line-writer.ts';

/*
 * Makes rows of the lines of a search, which are JSON as our engine writes it: keys in their order, no white space. Both
 * are JSON of the same values, so most of a line is copied as it is: parsing and serializing each record takes twice as
 * long. Lines are read as strings with one character for each byte, so that positions and lengths are those of UTF-8.
 */

const DAY_MS = 86_400_000;

const MESSAGE_KEY = ',"message":';
const CONTEXT_KEY = ',"context":';
const CONTEXT_TEXT_KEY = ',"contextText":';
const RAW_KEY = ',"raw":';
const CUT = ',"cut":true';
const CONTINUED = ',"continued":true';

/** Each is a partition, and thus a part of its own: servers refuse more than a hundred in one insert. */
const MAX_DAYS = 40;

/** Writes rows of the table `records`. */
export class RowWriter extends LineWriter {
  readonly #days = new Set<string>();
  /** What all rows of the file begin with. */
  #rowStart = '';
  #shippedMs = 0;
  /** The day of the last row: neighbours are mostly of the same one. */
  #dayNumber = Number.NaN;
  #day = '';

  override get isFull(): boolean {
    return this.#days.size >= MAX_DAYS;
  }

  override clear(): void {
    super.clear();
    this.#days.clear();
    this.#dayNumber = Number.NaN;
  }

  override setFile(lineStart: Buffer, file: ShippedFile, shippedMs: number): void {
    super.setFile(lineStart, file, shippedMs);
    const text = JSON.stringify({ ...file, shipped_ms: shippedMs });
    this.#rowStart = Buffer.from(`${text.slice(0, -1)},"file_offset":`).toString('latin1');
    this.#shippedMs = shippedMs;
    this.#dayNumber = Number.NaN;
  }

  write(previousMs: number): void {
    const { timeMs = previousMs, line, columnsAt } = this;
    const { offset, bytes, time = previousMs } = this.digits;
    // Inside of strings, quotes are escaped: this is the key.
    const messageAt = line.indexOf(MESSAGE_KEY, columnsAt - 1) + MESSAGE_KEY.length;
    if (messageAt < MESSAGE_KEY.length) throw new TypeError('the line of a record has no message');
    const columns = line.slice(columnsAt, messageAt - MESSAGE_KEY.length + 1);
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
    this.append(
      `${this.#rowStart}${offset},"bytes":${bytes},"cursor_check":${this.cursorCheck},"day":"${this.#day}",` +
        `"time_ms":${time},"has_time":${this.timeMs === undefined ? 0 : 1},${wellFormed(columns)}"line":${raw}` +
        `${context === '' ? '' : `,"context":${JSON.stringify(context)}`}${messageColumns(message, raw)}` +
        `${isCut ? ',"cut":1' : ''}${isContinued ? ',"continued":1' : ''}}\n`,
    );
  }

  #setDay(timeMs: number): void {
    const number = Math.floor(timeMs / DAY_MS);
    if (number === this.#dayNumber) return;
    this.#day = rowDay(timeMs, this.#shippedMs);
    this.#days.add(this.#day);
    this.#dayNumber = number;
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
