import { WASM_BASE64 } from './line-text-wasm.ts';
import { READS_BEYOND, RECORD_TEXTS, writeTexts } from './line-texts.ts';
import { loadWasm } from './load-wasm.ts';

interface Exports {
  renderLines(length: number, layout: number): number;
}

const MERGED_TEXTS = ['{"node":"', ',"atMs":', ',"isUnsure":true', ',"type":"record","file":"'];

/** By their numbers in kernel/line-text.ts. */
const LAYOUTS = { raw: 0, 'node and raw': 1, columns: 2 } as const;

/**
 * What is written of each record: its text in the file (its message if it has none) and a newline, the same behind its
 * node and a colon, or its columns as in the log format of nodes.
 */
export type TextLayout = keyof typeof LAYOUTS;

/**
 * Renders merged records, lines of JSON as a node writes them, as text. What it does not recognize may still be a record,
 * for the caller to decode.
 */
export class LineTextKernel {
  /** Where the text of each line ends in the output. */
  readonly textEnds: Uint32Array;
  readonly #exports: Exports;
  readonly #lines: Uint8Array;
  readonly #output: Uint8Array;
  readonly #mostBytes: number;

  constructor() {
    const { buffer, exports, constant: at } = loadWasm(WASM_BASE64);
    this.#exports = exports as unknown as Exports;
    const most = at('MAX_LINES');
    this.textEnds = new Uint32Array(buffer, at('OUTPUT_ENDS'), most);
    this.#mostBytes = at('LINES_BYTES');
    this.#lines = new Uint8Array(buffer, at('LINES'), this.#mostBytes + READS_BEYOND);
    this.#output = new Uint8Array(buffer, at('OUTPUT'), this.#mostBytes);
    writeTexts(buffer, [...RECORD_TEXTS, ...MERGED_TEXTS], at);
  }

  /** How many lines at the start of the bytes from `from` on were rendered: at most some hundred KiB. */
  render(bytes: Uint8Array, from: number, layout: TextLayout): number {
    const length = Math.min(bytes.length - from, this.#mostBytes);
    this.#lines.set(bytes.subarray(from, from + length));
    this.#lines.fill(0, length, length + READS_BEYOND);
    return this.#exports.renderLines(length, LAYOUTS[layout]);
  }

  /** The text of the lines that were rendered; until the next call. */
  text(count: number): Uint8Array {
    return this.#output.subarray(0, count === 0 ? 0 : this.textEnds[count - 1]);
  }
}
