const NEWLINE = 10;

/** From the number of the offset on, up to the time; of the cursor, `head.length.offset.check.length.name`, the checksum. */
const HEAD = /(\d+),"bytes":(\d+),"cursor":"[^."]*\.[^."]*\.[^."]*\.([0-9a-z]+)\.[^"]*"(?:,"timeMs":(-?\d+))?/y;

/** Where records are: columns of their rows. */
export interface ShippedFile {
  cluster: string;
  node: string;
  role: string;
  log: string;
  file: string;
  file_id: string;
  mark: string;
}

/** Reads one line of a search at a time, and appends its record to the others, as a sink wants it, if it is to be shipped. */
export abstract class LineWriter {
  /** How many bytes were written. */
  length = 0;
  /** Fields of the line that was read last. */
  offset = 0;
  bytes = 0;
  timeMs: number | undefined;
  /** With one character for each byte. */
  protected line = '';
  /** Where its level, source and tags begin. */
  protected columnsAt = 0;
  protected cursorCheck = 0;
  /** Numbers as they are written: making texts of them anew takes longer. */
  protected digits: { offset: string; bytes: string; time: string | undefined } = {
    offset: '',
    bytes: '',
    time: undefined,
  };
  #written: Buffer = Buffer.allocUnsafe(256 * 1024);
  /** What all lines of the file begin with. */
  #lineStart: Buffer = Buffer.alloc(0);

  /** Whether a batch should end here, however small it is. */
  get isFull(): boolean {
    return false;
  }

  /** The file that lines are of from now on, what they begin with, up to the offset, and when they are shipped. */
  setFile(lineStart: Buffer, _file: ShippedFile, _shippedMs: number): void {
    this.#lineStart = lineStart;
  }

  /** Whether the line that starts here is of the file. */
  isOfFile(chunk: Buffer, at: number): boolean {
    const start = this.#lineStart;
    return chunk.compare(start, 0, start.length, at, Math.min(chunk.length, at + start.length)) === 0;
  }

  /** What was written, where it is: valid until more is. */
  get written(): Buffer {
    return this.#written.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Reads the line of the file that starts here. */
  read(chunk: Buffer, at: number): void {
    this.line = chunk.toString('latin1', at, chunk.indexOf(NEWLINE, at));
    HEAD.lastIndex = this.#lineStart.length;
    const head = HEAD.exec(this.line);
    if (!head) throw new TypeError('the line of a record has no cursor');
    const [, offset = '', bytes = '', check = '', time] = head;
    this.digits = { offset, bytes, time };
    this.offset = Number(offset);
    this.bytes = Number(bytes);
    this.cursorCheck = Number.parseInt(check, 36);
    this.timeMs = time === undefined ? undefined : Number(time);
    this.columnsAt = HEAD.lastIndex + 1;
  }

  /** Appends the record that was read. `previousMs`: time of the last one before it in its file that has one; 0 if none has. */
  abstract write(previousMs: number): void;

  /** Of a text, each character is a byte. */
  protected append(record: string | Buffer): void {
    const needed = this.length + record.length;
    if (needed > this.#written.length) {
      const grown = Buffer.allocUnsafe(Math.max(2 * this.#written.length, needed));
      this.#written.copy(grown, 0, 0, this.length);
      this.#written = grown;
    }
    if (typeof record === 'string') this.#written.write(record, this.length, 'latin1');
    else record.copy(this.#written, this.length);
    this.length = needed;
  }
}
