import { type FoundLines, MAX_RESULT_BYTES, NOTHING_FOUND } from './found-lines.ts';

/** Room at first: most results are small, or as large as the text of some blocks. */
const FIRST_BYTES = 16 * 1024;
const FIRST_RECORDS = 256;
const GROWTH = 8;
const RECORDS_GROWTH = 4;

const NO_TEXT = newBuffer(0);
const NO_NUMBERS = new Uint32Array();
const NO_TIMES = new Float64Array();

/** A growing buffer of records: their text, and what is known of each. None until there is one: most files have no match. */
export class FoundBuffer {
  count = 0;
  /** Length of the text. */
  bytes = 0;
  text: Buffer<ArrayBuffer>;
  ends = NO_NUMBERS;
  offsets = NO_TIMES;
  times = NO_TIMES;
  lengths = NO_NUMBERS;

  /** `room`: the memory of an earlier result. */
  constructor(room?: ArrayBuffer) {
    this.text = room ? Buffer.from(room) : NO_TEXT;
  }

  /** Makes room for so much more text. */
  reserve(bytes: number): void {
    const needed = this.bytes + bytes;
    if (needed <= this.text.length) return;
    const usual = Math.max(FIRST_BYTES, Math.min(GROWTH * this.text.length, MAX_RESULT_BYTES));
    const larger = newBuffer(Math.max(usual, needed + needed / 4));
    this.text.copy(larger, 0, 0, this.bytes);
    this.text = larger;
  }

  append(bytes: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    bytes.copy(this.text, this.bytes, start, end);
    this.bytes += end - start;
  }

  /** Makes room for so many more records. */
  reserveRecords(count: number): void {
    const needed = this.count + count;
    if (needed <= this.ends.length) return;
    const size = Math.max(needed, FIRST_RECORDS, RECORDS_GROWTH * this.ends.length);
    this.ends = grown(this.ends, new Uint32Array(size));
    this.lengths = grown(this.lengths, new Uint32Array(size));
    this.offsets = grown(this.offsets, new Float64Array(size));
    this.times = grown(this.times, new Float64Array(size));
  }

  found({ withLengths }: { withLengths: boolean }): FoundLines {
    const { count } = this;
    if (count === 0 && this.text.length === 0) return NOTHING_FOUND;
    return {
      text: new Uint8Array(this.text.buffer, 0, this.bytes),
      ends: this.ends.subarray(0, count),
      offsets: this.offsets.subarray(0, count),
      times: this.times.subarray(0, count),
      ...(withLengths && { lengths: this.lengths.subarray(0, count) }),
    };
  }
}

/** In memory of its own, which can be transferred; what is not written to is never read. */
function newBuffer(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(Math.ceil(bytes));
}

function grown<T extends Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
