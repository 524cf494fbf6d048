import type { SearchEnd } from '@porthole/logs';
import type { BatchBuilder } from './batch-sender.ts';
import type { FileEntry } from './log-files.ts';

const NEWLINE = 10;
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
  readonly #onRow: () => void;
  #file: { entry: FileEntry; name: string } | undefined;
  #held: Line | undefined;
  /** The line of the last row, for its cursor: only that of the last of many is needed. */
  #lastRow: Line | undefined;
  /** Time of the record before, in its file. `undefined`: there is none. */
  #previousMs: number | undefined;

  /** `toMs`: the newest time before it. */
  constructor(builder: BatchBuilder, toMs: number | null, onRow: () => void) {
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
      writer.write(previousMs);
      this.#onRow();
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
