import { WASM_BASE64 } from './line-text-wasm.ts';
import { READS_BEYOND, RECORD_TEXTS, writeTexts } from './line-texts.ts';
import { loadWasm } from './load-wasm.ts';

interface Exports {
  renderLines(length: number, layout: number): number;
}

const MERGED_TEXTS = ['{"node":"', ',"atMs":', ',"isUnsure":true', ',"type":"record","file":"'];

/** By their numbers in kernel/line-text.ts. */
const LAYOUTS = { raw: 0, 'node and raw': 1, contract: 2 } as const;

/**
 * What is written of each record: its text in the file (its message if it has none) and a newline, the same behind its
 * node and a colon, or a line in the format of the contract.
 */
export type TextLayout = keyof typeof LAYOUTS;

const NODE_START = '{"node":"'.length;

/**
 * Renders merged records, lines of JSON as a node writes them, as text. What it does not recognize may still be a record,
 * for the caller to decode.
 */
export class LineTextKernel {
  /** Of each line, counted from the start of the bytes: ends, with the newline. */
  readonly ends: Uint32Array;
  /** Where its text ends in the output. */
  readonly textEnds: Uint32Array;
  /** By the clock of the node that merged them; `NaN` without a timestamp. */
  readonly times: Float64Array;
  readonly offsets: Float64Array;
  /** 1 if it has the node and the file of the line before it in this call. */
  readonly sameFiles: Uint32Array;
  readonly #nodeEnds: Uint32Array;
  readonly #files: Uint32Array;
  readonly #fileEnds: Uint32Array;
  readonly #exports: Exports;
  readonly #lines: Buffer;
  readonly #output: Uint8Array;
  readonly #mostBytes: number;

  constructor() {
    const { buffer, exports, constant: at } = loadWasm(WASM_BASE64);
    this.#exports = exports as unknown as Exports;
    const most = at('MAX_LINES');
    this.ends = new Uint32Array(buffer, at('LINE_ENDS'), most);
    this.textEnds = new Uint32Array(buffer, at('OUTPUT_ENDS'), most);
    this.times = new Float64Array(buffer, at('TIMES'), most);
    this.offsets = new Float64Array(buffer, at('OFFSETS'), most);
    this.sameFiles = new Uint32Array(buffer, at('SAME_FILES'), most);
    this.#nodeEnds = new Uint32Array(buffer, at('NODE_ENDS'), most);
    this.#files = new Uint32Array(buffer, at('FILES'), most);
    this.#fileEnds = new Uint32Array(buffer, at('FILE_ENDS'), most);
    this.#mostBytes = at('LINES_BYTES');
    this.#lines = Buffer.from(buffer, at('LINES'), this.#mostBytes + READS_BEYOND);
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

  /** Of a line that was rendered; until the next call. */
  nodeOf(index: number): string {
    return this.#lines.toString('utf8', this.#startOf(index) + NODE_START, this.#nodeEnds[index]);
  }

  fileOf(index: number): string {
    return this.#lines.toString('utf8', this.#files[index], this.#fileEnds[index]);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.ends[index - 1] as number);
  }
}
