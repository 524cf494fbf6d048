import type { SearchEnd } from '@porthole/logs';
import type { BatchBuilder } from './batch-builder.ts';
import type { FileEntry } from './log-files.ts';
import type { MadeRows } from './row-kernel.ts';

const NEWLINE = 10;
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
  /** What its lines begin with. */
  prefix: Buffer;
}

/** The last row, and what is undone if it may not be shipped yet. */
interface LastRow {
  entry: FileEntry;
  name: string;
  offset: number;
  end: number;
  /** Of the rows before it. */
  length: number;
  before: Pick<FileEntry, 'end' | 'lastOffset' | 'beforeMs'>;
  untimedBefore: number;
  /** Where the cursor before it is, or itself, once that was kept. */
  beforeLine: { chunk: Buffer; at: number } | undefined;
  cursor: string | null | undefined;
}

/** Why reading a chunk stopped. */
export type PassState = 'more' | 'file' | 'full' | 'end';

/** One pass over the lines of a search: adds the rows of records that were not shipped yet. Synchronous: there are many. */
export class LogPass {
  state: PassState = 'more';
  end: SearchEnd | undefined;
  rows = 0;
  bytes = 0;
  /** The newest time, and by how much times went back at most. */
  toMs: number | null;
  disorderMs = 0;
  /** The last record of all, if it has a row. */
  last: LastRow | undefined;
  readonly #builder: BatchBuilder;
  readonly #onRows: (rows: number, day: string) => void;
  #file: { entry: FileEntry; name: string } | undefined;
  /** Where the cursor of the last row is: only the last of many is needed. */
  #line: { chunk: Buffer; at: number; entry: FileEntry } | undefined;

  /** `toMs`: the newest time before it. */
  constructor(builder: BatchBuilder, toMs: number | null, onRows: (rows: number, day: string) => void) {
    this.#builder = builder;
    this.#onRows = onRows;
    this.toMs = toMs;
    Object.assign(builder.writer.state, { toMs: toMs ?? Number.NaN, disorderMs: 0, untimed: 0 });
  }

  /** The file that lines are of from now on; the writer has been told. */
  setFile(entry: FileEntry, { name }: LineFile): void {
    this.#file = { entry, name };
    const { end, lastOffset, beforeMs, cursor } = entry;
    const { state } = this.#builder.writer;
    Object.assign(state, { end, lastOffset, beforeMs, carriedMs: 0, first: cursor === null ? 1 : 2 });
  }

  /** Reads lines from a position on; returns where it stopped, and `state` says why. */
  read(chunk: Buffer, start: number): number {
    const builder = this.#builder;
    let at = start;
    while (at < chunk.length) {
      if (chunk[at + KIND_AT] !== LETTER_R) {
        this.end = JSON.parse(chunk.toString('utf8', at, chunk.indexOf(NEWLINE, at))) as SearchEnd;
        this.state = 'end';
        return chunk.length;
      }
      // Only now: the last row is followed by another record, so that it is complete.
      this.state = builder.isFull ? 'full' : this.#file ? 'more' : 'file';
      if (this.state !== 'more') return at;
      let made = builder.writer.make(chunk, at, builder.room);
      this.#note(chunk, made);
      if (made.stop === 'unusual' && !builder.isFull) {
        made = builder.writer.makeOne(chunk, made.at);
        this.#note(chunk, made);
      }
      at = made.at;
      if (made.stop === 'day') builder.writer.startDay();
      if (made.stop !== 'file') continue;
      this.state = 'file';
      return at;
    }
    this.state = 'more';
    return at;
  }

  /** Keeps the cursor of the last row: before the chunk is given back, what was read is saved, or another file is read. */
  keepCursor(): void {
    if (!this.#line) return;
    const { last } = this;
    const { chunk, at, entry } = this.#line;
    this.#line = undefined;
    if (last?.entry === entry && last.cursor === undefined) {
      last.cursor = last.beforeLine ? cursorIn(last.beforeLine.chunk, last.beforeLine.at) : entry.cursor;
    }
    entry.cursor = cursorIn(chunk, at);
  }

  /** How many records without a time there were since it was asked last. */
  takeUntimed(): number {
    const { state } = this.#builder.writer;
    const { untimed } = state;
    state.untimed = 0;
    return untimed;
  }

  /** Takes the last row back. */
  undoLast(): void {
    const { last } = this;
    if (!last) return;
    const { entry, beforeLine, cursor } = last;
    this.#line = cursor === undefined && beforeLine ? { ...beforeLine, entry } : undefined;
    Object.assign(entry, last.before, cursor === undefined ? {} : { cursor });
    this.#builder.writer.length = last.length;
    this.#builder.writer.state.untimed = last.untimedBefore;
    this.#builder.rows--;
    this.rows--;
    this.bytes -= last.end - Math.max(last.offset, last.before.end);
    this.last = undefined;
  }

  /** What was made of some lines of the file. */
  #note(chunk: Buffer, { lines, rows, lastLine, lineBefore, day, undo }: MadeRows): void {
    const file = this.#file;
    if (!file || lines === 0) return;
    const { entry, name } = file;
    const { state } = this.#builder.writer;
    if (rows > 0) {
      const { end, lastOffset, beforeMs } = state;
      const known = this.#line?.entry === entry ? this.#line : undefined;
      const beforeLine = lineBefore < 0 ? known : { chunk, at: lineBefore };
      Object.assign(entry, { end, lastOffset, beforeMs });
      this.#line = { chunk, at: lastLine, entry };
      this.rows += rows;
      this.bytes += state.readBytes;
      state.readBytes = 0;
      if (!Number.isNaN(state.toMs)) this.toMs = state.toMs;
      this.disorderMs = state.disorderMs;
      // Of everything up to here: what is deleted is older.
      entry.toMs = Math.max(entry.toMs ?? 0, this.toMs ?? 0);
      this.#onRows(rows, day);
      this.last = undo && {
        ...{ entry, name, offset: lastOffset, end, length: undo.length, beforeLine, cursor: undefined },
        before: { end: undo.end, lastOffset: undo.lastOffset, beforeMs: undo.beforeMs },
        untimedBefore: undo.untimed,
      };
    } else this.last = undefined;
  }
}

/** The file that the record whose line starts here is of. */
export function readLineFile(chunk: Buffer, at: number): LineFile {
  const text = chunk.toString('utf8', at, chunk.indexOf('"offset":', at) + '"offset":'.length);
  const name = JSON.parse(text.slice(FILE_START.length, -',"offset":'.length)) as string;
  const [headHash = '', headBytes = ''] = cursorIn(chunk, at).split('.', 2);
  return { name, mark: { headHash, headBytes: Number.parseInt(headBytes, 36) }, prefix: Buffer.from(text) };
}

function cursorIn(chunk: Buffer, at: number): string {
  const start = chunk.indexOf(CURSOR_KEY, at) + CURSOR_KEY.length;
  return chunk.toString('latin1', start, chunk.indexOf(0x22, start));
}
