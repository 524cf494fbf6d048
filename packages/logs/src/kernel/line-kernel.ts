import { READS_BEYOND, RECORD_TEXTS, writeTexts } from './line-texts.ts';
import { WASM_BASE64 } from './lines-wasm.ts';
import { loadWasm } from './load-wasm.ts';

interface Exports {
  scanLines(length: number, most: number): number;
}

/**
 * Recognizes lines of JSON that are records as nodes write them: each field known, valid, and in its place. Ten times as
 * fast as looking at every byte here; what it does not recognize may still be a record.
 */
export class LineKernel {
  /** Of each line that was recognized, counted from the start of the bytes: ends, with the newline. */
  readonly ends: Uint32Array;
  /** Where the name of the file ends, and where the cursor starts and ends; none of them has escapes. */
  readonly fileEnds: Uint32Array;
  readonly cursors: Uint32Array;
  readonly cursorEnds: Uint32Array;
  /** `NaN` without a timestamp. */
  readonly times: Float64Array;
  readonly #exports: Exports;
  readonly #lines: Uint8Array;
  readonly #mostBytes: number;

  constructor() {
    const { buffer, exports, constant: at } = loadWasm(WASM_BASE64);
    this.#exports = exports as unknown as Exports;
    const most = at('MAX_LINES');
    this.ends = new Uint32Array(buffer, at('LINE_ENDS'), most);
    this.fileEnds = new Uint32Array(buffer, at('FILE_ENDS'), most);
    this.cursors = new Uint32Array(buffer, at('CURSORS'), most);
    this.cursorEnds = new Uint32Array(buffer, at('CURSOR_ENDS'), most);
    this.times = new Float64Array(buffer, at('TIMES'), most);
    this.#mostBytes = at('LINES_BYTES');
    this.#lines = new Uint8Array(buffer, at('LINES'), this.#mostBytes + READS_BEYOND);
    writeTexts(buffer, RECORD_TEXTS, at);
  }

  /** How many lines at the start of the bytes from `from` on are recognized: at most `most`, and some hundred KiB. */
  scan(bytes: Uint8Array, from: number, most: number): number {
    const length = Math.min(bytes.length - from, this.#mostBytes);
    this.#lines.set(bytes.subarray(from, from + length));
    this.#lines.fill(0, length, length + READS_BEYOND);
    return this.#exports.scanLines(length, Math.min(most, this.ends.length));
  }

  /** The bytes and the number of the lines at the start of `lines` that are recognized, at most `most`. */
  recognize(lines: Uint8Array, from: number, most: number): { bytes: number; count: number } {
    let bytes = 0;
    let count = 0;
    while (from + bytes < lines.length && count < most) {
      const found = this.scan(lines, from + bytes, most - count);
      if (found === 0) break;
      bytes += this.ends[found - 1] ?? 0;
      count += found;
    }
    return { bytes, count };
  }
}
