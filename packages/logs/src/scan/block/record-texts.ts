import { CHECK_BYTES, fnv1a, markEncoder } from '../../cursor/cursor.ts';
import type { LineHead } from '../../parse/format.ts';
import { FoundBuffer } from './found-buffer.ts';
import type { FoundCollector, FoundLines, RecordsJob } from './found-lines.ts';
import { trimHole } from './nul-holes.ts';
import { type RecordSpan, type ShownAs, spanFrom } from './record-formatter.ts';

const NEWLINE = 10;

/**
 * Collects records as they are in the file, byte for byte. Adjacent ones are copied at once: a whole block, if all of it
 * matches. One without a newline gets one, unless the next one continues it; the last one is left as it is.
 */
export class RecordTexts implements FoundCollector {
  readonly #encode: ReturnType<typeof markEncoder>;
  readonly #restFrom: number;
  readonly #found: FoundBuffer;
  /** Adjacent records that were found but not copied yet. */
  #run: Buffer = Buffer.alloc(0);
  #runStart = 0;
  #runEnd = 0;
  /** The last record has no newline, and where the text that continues it would start. */
  #isOpen = false;
  #nextOffset = -1;

  constructor({ file, mark, restFrom = 0, room }: RecordsJob) {
    this.#found = new FoundBuffer(room?.[0]);
    this.#encode = markEncoder({ ...mark, file: file.name });
    this.#restFrom = restFrom;
  }

  get count(): number {
    return this.#found.count;
  }

  get resultBytes(): number {
    return this.#found.bytes + this.#runEnd - this.#runStart;
  }

  cursorFor({ bytes, start, end, offset }: RecordSpan): string {
    const checkBytes = Math.min(CHECK_BYTES, end - start);
    return this.#encode({ offset, check: fnv1a(bytes, start, start + checkBytes), checkBytes });
  }

  add(record: RecordSpan, head: ShownAs & LineHead): void {
    const isRest = record.offset < this.#restFrom;
    const { bytes, start, end, offset } = isRest ? spanFrom(record, this.#restFrom) : record;
    if (this.#isOpen && offset !== this.#nextOffset) this.#closeLast();
    // The hole was read as newlines, of which one may be the record's.
    const textEnd = Math.min(end, trimHole(bytes, start, end) + 1);
    if (this.#run !== bytes || this.#runEnd !== start) {
      this.endBlock();
      this.#run = bytes;
      this.#runStart = start;
    }
    this.#runEnd = textEnd;
    const found = this.#found;
    found.reserveRecords(1);
    found.ends[found.count] = this.resultBytes;
    found.offsets[found.count] = offset;
    found.lengths[found.count] = end - start;
    found.times[found.count++] = isRest ? Number.NaN : head.timeMs;
    this.#isOpen = bytes[textEnd - 1] !== NEWLINE;
    this.#nextOffset = offset + end - start;
  }

  /** The memory of the block is reused for the next one. */
  endBlock(): void {
    if (this.#runEnd > this.#runStart) this.#found.append(this.#run, this.#runStart, this.#runEnd);
    this.#runStart = 0;
    this.#runEnd = 0;
  }

  found(): FoundLines {
    this.endBlock();
    return this.#found.found({ withLengths: true });
  }

  #closeLast(): void {
    this.endBlock();
    const found = this.#found;
    found.reserve(1);
    found.text[found.bytes++] = NEWLINE;
    found.ends[found.count - 1] = found.bytes;
  }
}
