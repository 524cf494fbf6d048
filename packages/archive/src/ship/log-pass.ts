import type { SearchEnd } from '@porthole/logs';
import type { BatchBuilder } from './batch-builder.ts';
import type { FileEntry } from './log-files.ts';

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
  toMs: number | null = null;
  /** The last record of all, if it has a row. */
  last: LastRow | undefined;
  readonly #builder: BatchBuilder;
  readonly #onRow: (day: string) => void;
  #file: { entry: FileEntry; prefix: Buffer; name: string; isFirst: boolean } | undefined;
  #carriedMs = 0;
  /** Where the cursor of the last row is: only the last of many is needed. */
  #line: { chunk: Buffer; at: number; entry: FileEntry } | undefined;

  constructor(builder: BatchBuilder, onRow: (day: string) => void) {
    this.#builder = builder;
    this.#onRow = onRow;
  }

  /** The file that lines are of from now on; the writer has been told. */
  setFile(entry: FileEntry, { prefix, name }: LineFile): void {
    this.#file = { entry, prefix, name, isFirst: true };
  }

  /** Reads lines from a position on; returns where it stopped, and `state` says why. */
  read(chunk: Buffer, start: number): number {
    let at = start;
    while (at < chunk.length) {
      const end = chunk.indexOf(NEWLINE, at);
      if (chunk[at + KIND_AT] !== LETTER_R) {
        this.end = JSON.parse(chunk.toString('utf8', at, end)) as SearchEnd;
        this.state = 'end';
        return chunk.length;
      }
      // Only now: the last row is followed by another record, so that it is complete.
      this.state = this.#builder.isFull ? 'full' : this.#isOfFile(chunk, at) ? 'more' : 'file';
      if (this.state !== 'more') return at;
      this.#readLine(chunk, at, end);
      at = end + 1;
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

  /** Takes the last row back. */
  undoLast(): void {
    const { last } = this;
    if (!last) return;
    const { entry, beforeLine, cursor } = last;
    this.#line = cursor === undefined && beforeLine ? { ...beforeLine, entry } : undefined;
    Object.assign(entry, last.before, cursor === undefined ? {} : { cursor });
    this.#builder.writer.length = last.length;
    this.#builder.rows--;
    this.rows--;
    this.bytes -= last.end - Math.max(last.offset, last.before.end);
    this.last = undefined;
  }

  #isOfFile(chunk: Buffer, at: number): boolean {
    if (!this.#file) return false;
    const { prefix } = this.#file;
    return chunk.compare(prefix, 0, prefix.length, at, at + prefix.length) === 0;
  }

  #readLine(chunk: Buffer, at: number, lineEnd: number): void {
    const file = this.#file;
    if (!file) return;
    const { writer } = this.#builder;
    const { reader } = writer;
    reader.read(chunk, at + file.prefix.length, lineEnd);
    const { offset, bytes, timeMs } = reader;
    const { entry } = file;
    if (file.isFirst) {
      file.isFirst = false;
      this.#carriedMs = entry.cursor !== null && offset === entry.lastOffset ? entry.beforeMs : 0;
    }
    const end = offset + bytes;
    if (end > entry.end) {
      this.#noteLast(file, offset, end);
      this.#onRow(writer.write(this.#carriedMs));
      this.rows++;
      this.bytes += end - Math.max(offset, entry.end);
      entry.end = end;
      entry.lastOffset = offset;
      entry.beforeMs = this.#carriedMs;
      this.#line = { chunk, at, entry };
      if (timeMs !== undefined) this.toMs = Math.max(this.toMs ?? timeMs, timeMs);
    } else this.last = undefined;
    if (timeMs !== undefined) this.#carriedMs = timeMs;
  }

  #noteLast({ entry, name }: { entry: FileEntry; name: string }, offset: number, end: number): void {
    const before = { end: entry.end, lastOffset: entry.lastOffset, beforeMs: entry.beforeMs };
    const beforeLine = this.#line?.entry === entry ? this.#line : undefined;
    this.last = {
      entry,
      name,
      offset,
      end,
      length: this.#builder.writer.length,
      before,
      beforeLine,
      cursor: undefined,
    };
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
