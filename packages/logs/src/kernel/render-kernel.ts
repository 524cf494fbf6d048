import {
  GELF_KEYS,
  LEVEL_KEYS,
  MESSAGE_KEYS,
  PRIORITY_KEYS,
  SOURCE_KEYS,
  TAG_KEYS,
  TIME_KEYS,
} from '../parse/formats/lines/known-keys.ts';
import { LEVELS_BY_RANK } from '../parse/level.ts';
import { BUILT_IN_FIELDS } from '../query/record-fields.ts';
import type { LoadedWasm } from './load-wasm.ts';

interface Exports {
  setLines(start: number, cursorHead: number, cursorTail: number, most: number, format: number, extras: number): void;
  render(from: number, to: number, base: number): number;
}

/** Formats whose columns the kernel finds. */
const FORMATS: readonly string[] = ['contract', 'json'];

/** What the lines of one file have in common. */
export interface LineTexts {
  /** Up to the offset of the record. */
  start: string;
  /** Between its length and its cursor, with what all cursors begin with. */
  cursorHead: string;
  /** What all cursors end with, and what follows. */
  cursorTail: string;
  /** Longer records are not rendered. */
  mostBytes: number;
  format: string;
  allFields: boolean;
  /** Whether lines have the text itself, too. */
  raw: boolean;
  /** Whether they need not have anything else of the record. */
  onlyRaw: boolean;
}

/** Renders records as lines of JSON, straight from the text of the kernel. */
export class RenderKernel {
  /** The records to render: positions in the text, and what their heads show. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly times: Float64Array;
  readonly ranks: Uint8Array;
  /** The lines, and where they end. */
  readonly output: Buffer;
  readonly renderedEnds: Uint32Array;
  readonly mostRecords: number;
  readonly #exports: Exports;
  readonly #mostText: number;
  readonly #texts: Record<'start' | 'cursorHead' | 'cursorTail', Buffer>;
  #current: LineTexts | undefined;

  constructor({ buffer, exports, constant: at }: LoadedWasm) {
    this.#exports = exports as unknown as Exports;
    const most = at('MAX_SPANS');
    this.mostRecords = most;
    this.starts = new Uint32Array(buffer, at('SPAN_STARTS'), most);
    this.ends = new Uint32Array(buffer, at('SPAN_ENDS'), most);
    this.times = new Float64Array(buffer, at('SPAN_TIMES'), most);
    this.ranks = new Uint8Array(buffer, at('SPAN_RANKS'), most);
    this.renderedEnds = new Uint32Array(buffer, at('RENDERED_ENDS'), most);
    this.output = Buffer.from(buffer, at('OUTPUT'), at('OUTPUT_BYTES'));
    this.#mostText = at('MAX_LINE_TEXT') - READS_BEYOND;
    const text = (name: string) => Buffer.from(buffer, at(name), at('MAX_LINE_TEXT'));
    this.#texts = { start: text('LINE_START'), cursorHead: text('CURSOR_HEAD'), cursorTail: text('CURSOR_TAIL') };
    fillNames(Buffer.from(buffer, at('NAMES'), NAMES.length * NAME_BYTES));
    fillKnownKeys(Buffer.from(buffer, at('KNOWN_KEYS'), KEY_ROWS * KEY_ROW_BYTES));
  }

  /** Whether such lines can be rendered. */
  canRender({ start, cursorHead, cursorTail, format }: LineTexts): boolean {
    const texts = [start, cursorHead, cursorTail];
    return FORMATS.includes(format) && texts.every((text) => Buffer.byteLength(text) <= this.#mostText);
  }

  /**
   * Renders the records `[from, to)` of the tables, until one is unusual, or the output is full. Returns the first that
   * was not rendered; the ends of the others are in `renderedEnds`.
   */
  render(texts: LineTexts, from: number, to: number, base: number): number {
    if (this.#current !== texts) this.#setLines(texts);
    return this.#exports.render(from, to, base);
  }

  #setLines(texts: LineTexts): void {
    const { start, cursorHead, cursorTail } = this.#texts;
    this.#current = texts;
    this.#exports.setLines(
      start.write(texts.start),
      cursorHead.write(texts.cursorHead),
      cursorTail.write(texts.cursorTail),
      texts.mostBytes,
      FORMATS.indexOf(texts.format),
      (texts.allFields ? 1 : 0) | (texts.raw ? 2 : 0) | (texts.onlyRaw ? 4 : 0),
    );
  }
}

/** Texts are copied 16 bytes at a time. */
const READS_BEYOND = 16;

/** Texts by their numbers in kernel/render/names.ts. */
const NAME_BYTES = 16;
const NAMES = [
  ...[',"bytes":', '"timeMs":', '"level":"', '"source":"', '"tags":["', '"message":"', ',"context":', ',"fields":{'],
  ...['"level":', '"source":', '"component":', '"message":', 'context.', ...BUILT_IN_FIELDS],
  ...LEVELS_BY_RANK.slice(1).map(String),
  ',"raw":"',
];

function fillNames(rows: Buffer): void {
  for (const [index, name] of NAMES.entries()) {
    rows.write(name, index * NAME_BYTES);
    rows[(index + 1) * NAME_BYTES - 1] = name.length;
  }
}

/** Keys in a hash table, with open addressing: see kernel/render/member-role.ts. */
const KEY_ROWS = 256;
const KEY_ROW_BYTES = 32;

const [TIME, LEVEL, OTHER_LEVEL, SOURCE, MESSAGE, TAG, UNUSUAL] = [1, 2, 3, 4, 16, 64, 255];

function fillKnownKeys(rows: Buffer): void {
  const add = (key: string, role: number) => {
    const code = (index: number) => key.charCodeAt(index);
    let row = (key.length + code(0) * 5 + code(key.length - 1) * 17) % KEY_ROWS;
    while (rows[row * KEY_ROW_BYTES] !== 0) {
      // The first meaning of a key counts.
      if (rows.toString('latin1', row * KEY_ROW_BYTES + 2).startsWith(`${key}\0`)) return;
      row = (row + 1) % KEY_ROWS;
    }
    rows.set([role, key.length, ...Buffer.from(key)], row * KEY_ROW_BYTES);
  };
  for (const key of GELF_KEYS) add(key, UNUSUAL);
  for (const key of TIME_KEYS) add(key, TIME);
  for (const key of LEVEL_KEYS) add(key, LEVEL);
  for (const key of PRIORITY_KEYS) add(key, OTHER_LEVEL);
  for (const key of SOURCE_KEYS) add(key, SOURCE);
  for (const [order, key] of MESSAGE_KEYS.entries()) add(key, MESSAGE + order);
  for (const [order, key] of TAG_KEYS.entries()) add(key, TAG + order);
}
