import { type EntryLine, noticeLine, toEntryLine } from './entry-line.ts';

/** Of one entry in memory: an entry can have any size, and a byte takes four characters if it is not text. */
const MAX_ENTRY_BYTES = 16 * 1024 ** 2;

const LINE_FEED = 0x0a;

/** Splits the output of `journalctl -o json` into entries. An entry that is too long is replaced by a notice. */
export class EntrySplitter {
  #parts: Buffer[] = [];
  #bytes = 0;
  #lastTime = '0';

  /** The entries that end in this chunk. */
  push(chunk: Buffer): EntryLine[] {
    const entries: EntryLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      const entry = this.#take();
      if (entry) entries.push(entry);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return entries;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= MAX_ENTRY_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #take(): EntryLine | undefined {
    const [parts, bytes] = [this.#parts, this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    if (bytes === 0) return undefined;
    if (bytes > MAX_ENTRY_BYTES) {
      const message = `an entry of ${bytes} bytes was left out here: it is longer than ${MAX_ENTRY_BYTES} bytes`;
      return { cursor: undefined, time: undefined, line: noticeLine(message, this.#lastTime) };
    }
    const [only = Buffer.alloc(0), ...others] = parts;
    const entry = toEntryLine((others.length === 0 ? only : Buffer.concat(parts)).toString());
    this.#lastTime = entry.time ?? this.#lastTime;
    return entry;
  }
}
