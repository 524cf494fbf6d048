import type { Format, HeadProgram } from '../parse/format.ts';
import { CONTRACT_WORDS, findLevelWord, levelRank } from '../parse/level.ts';
import { GramKernel } from './gram-kernel.ts';
import { fillHeadTables } from './head-tables.ts';
import { type LoadedWasm, loadWasm } from './load-wasm.ts';
import { RenderKernel } from './render-kernel.ts';
import { WASM_BASE64 } from './scan-wasm.ts';

/** Rows of a text index: one for each hash of a gram. */
export const GRAM_ROWS = 32_768;

interface Exports {
  find(from: number, to: number, length: number, i: number, j: number): number;
  findNamed(from: number, to: number, length: number, i: number, j: number, valueBytes: number): number;
  heads(from: number, to: number, limit: number, known: number, most: number): number;
  mayHaveErrors(from: number, to: number): boolean;
  mayHaveHole(from: number, to: number, step: number): boolean;
  summarise(count: number): void;
  checksum(from: number, to: number): number;
  addGrams(from: number, to: number, bit: number): void;
  forgetShapes(): void;
  jsonPath(from: number, to: number, length: number): number;
  contextPath(from: number, to: number, length: number): number;
  jsonMembers(from: number, to: number, lengths: number): number;
  column(from: number, to: number, isTags: boolean): number;
  walk(from: number, to: number, row: number, firstRow: number): number;
}

/** A text to search for: its bytes, and for each the bits to set before comparing (0x20: a letter of either case). */
export interface Needle {
  bytes: Uint8Array;
  mask: Uint8Array;
  /** Positions of its two rarest bytes. */
  rarest: readonly [number, number];
  /** In the value of a member of JSON that it is the name of, in lower case; occurrences before others do not count. */
  value?: Uint8Array;
  /** Whether an occurrence counts, by what follows it at `at`; those of others are passed over. */
  follows?: (text: Buffer, at: number, end: number) => boolean;
}

interface MemoryAround {
  before: number;
  length: number;
}

/** Summarises all records of a block. Times are infinite if it has none. */
export interface RecordsSummary {
  minMs: number;
  maxMs: number;
  /** Maximum by which a record is older than an earlier one in the block. */
  lateMs: number;
  /** Records per level rank; 0: without a level. */
  counts: number[];
  /** Records without a time. */
  untimed: number;
}

/** Longest part of a text that the kernel searches for. */
export const MAX_NEEDLE_BYTES = 1024;

/** The compiled inner loops and their memory. One per thread; positions count from the start of the text. */
export class ScanKernel {
  /** Text to scan is read into this buffer. */
  readonly text: Buffer;
  /** Results of `heads`: start of each record, its time, the rank of its level; where a line ends of which it is not sure. */
  readonly positions: Uint32Array;
  readonly times: Float64Array;
  readonly ranks: Uint8Array;
  /** An automaton for `walk`: for each byte the offset of its column in a row, in bytes, and rows of row addresses. */
  readonly byteClasses: Uint8Array;
  readonly rows: Uint32Array;
  /** The address of the first row. */
  readonly rowsAddress: number;
  /** The row in which the last walk ended; or where `heads` stopped, and of how many lines it was unsure. */
  readonly reached: Uint32Array;
  /** The first value that `jsonPath` has found: start, end, and whether it has escapes. */
  readonly #path: Uint8Array;
  readonly foundValue: Uint32Array;
  /** For each row of a text index a byte: the columns of eight blocks, filled by `addGrams`. */
  readonly gramColumns: Uint8Array;
  /** Members that `jsonMembers` has found: start, end and kind of the value of each. */
  readonly members: Uint32Array;
  /** Finds secrets in `text`. */
  readonly grams: GramKernel;
  /** Groups the records that `heads` has found. */
  readonly sourceGroups: SourceGroups;
  /** Renders records in `text` as lines of JSON. */
  readonly lineRenderer: RenderKernel;
  /** The automaton whose rows are loaded. */
  rowsOwner: object | undefined;
  readonly #exports: Exports;
  /** Free bytes before `text`. */
  readonly #roomBefore: number;
  readonly #needle: Uint8Array;
  readonly #mask: Uint8Array;
  readonly #valueText: Uint8Array;
  readonly #program: Uint8Array;
  readonly #summaryTimes: Float64Array;
  readonly #summaryCounts: Uint32Array;
  #loadedProgram: HeadProgram | undefined;
  #loadedPath: Uint8Array | undefined;
  #currentNeedle: Needle | undefined;
  #rarest: readonly [number, number] = [0, 0];
  #needleBytes = 0;
  #valueBytes = 0;

  constructor() {
    const loaded = loadWasm(WASM_BASE64);
    const { buffer, exports, constant: at } = loaded;
    this.grams = new GramKernel(loaded);
    this.sourceGroups = new SourceGroups(loaded);
    this.lineRenderer = new RenderKernel(loaded);
    this.#exports = exports as unknown as Exports;
    this.text = Buffer.from(buffer, at('TEXT'), at('TEXT_CAPACITY') - READS_BEYOND);
    this.#roomBefore = at('TEXT_ROOM');
    this.positions = new Uint32Array(buffer, at('POSITIONS'), at('MAX_HEADS'));
    this.times = new Float64Array(buffer, at('TIMES'), at('MAX_HEADS'));
    this.ranks = new Uint8Array(buffer, at('LEVELS'), at('MAX_HEADS'));
    this.#needle = new Uint8Array(buffer, at('NEEDLE'), MAX_NEEDLE_BYTES);
    this.#mask = new Uint8Array(buffer, at('MASK'), MAX_NEEDLE_BYTES);
    this.#valueText = new Uint8Array(buffer, at('VALUE_TEXT'), MAX_VALUE_BYTES);
    this.#summaryTimes = new Float64Array(buffer, at('SUMMARY'), 3);
    this.#summaryCounts = new Uint32Array(buffer, at('SUMMARY') + 24, 8);
    this.#program = new Uint8Array(buffer, at('PROGRAM'), at('PROGRAM_BYTES'));
    this.byteClasses = new Uint8Array(buffer, at('BYTE_CLASSES'), 256);
    this.rows = new Uint32Array(buffer, at('ROWS'), at('ROWS_BYTES') / 4);
    this.rowsAddress = at('ROWS');
    this.reached = new Uint32Array(buffer, at('REACHED'), 2);
    this.#path = new Uint8Array(buffer, at('PATH'), at('MAX_PATH'));
    this.foundValue = new Uint32Array(buffer, at('FOUND_VALUE'), 3);
    this.gramColumns = new Uint8Array(buffer, at('GRAM_COLUMNS'), GRAM_ROWS);
    this.members = new Uint32Array(buffer, at('NAMED_MEMBERS'), at('MAX_NAMED_MEMBERS') * 3);
    fillColumnWords(new DataView(buffer, at('COLUMN_WORDS')));
    fillLevelEnds(new Uint8Array(buffer, at('LEVEL_ENDS'), 16));
    fillHeadTables(loaded);
  }

  /**
   * Memory around a position of `text`, into which a part can be read together with what precedes and follows it. Only
   * at the start of `text`: elsewhere, the memory before is in use. `undefined` if there is not enough room.
   */
  readonly memoryAround = (target: Buffer, at: number, { before, length }: MemoryAround): Buffer | undefined => {
    const isFree = before === 0 || (at === 0 && before <= this.#roomBefore);
    if (target !== this.text || !isFree || at - before + length > target.length) return undefined;
    return Buffer.from(target.buffer, target.byteOffset + at - before, length);
  };

  /** Whether one of the bytes at `from`, `from + step` and so on is a NUL; `undefined` if the bytes are elsewhere. */
  readonly mayHaveHole = (bytes: Buffer, from: number, to: number, step: number): boolean | undefined => {
    if (bytes.buffer !== this.text.buffer) return undefined;
    const shift = bytes.byteOffset - this.text.byteOffset;
    return Boolean(this.#exports.mayHaveHole(shift + from, shift + to, step));
  };

  /** By which `heads` reads lines from now on; without a program, it is not sure of any. */
  setProgram(program: HeadProgram | undefined, { hasLearned = false } = {}): void {
    if (program === this.#loadedProgram && !hasLearned) return;
    this.#loadedProgram = program;
    this.#program.fill(0);
    if (program) this.#program.set(program.image);
  }

  /**
   * Lines that start in `[from, to)`, `from` being a line start, and start records, or may: those of which it is not sure
   * have the rank UNSURE. They follow the first `known` ones. Text ends at `limit`. Returns how many there are, at
   * most `most` unsure ones; `reached` is where it stopped.
   */
  heads(from: number, to: number, { limit, known, most }: { limit: number; known: number; most: number }): number {
    return this.#exports.heads(from, to, limit, known, most);
  }

  /**
   * Whether the text up to `end`, which ends a line there, may have records of ERROR or above in the native format. Writes a
   * byte behind it.
   */
  mayHaveErrors(end: number): boolean {
    this.text[end] = NEWLINE;
    return Boolean(this.#exports.mayHaveErrors(0, end + 1));
  }

  /** Summarises the first `count` records of the table of `heads`. */
  summarise(count: number): RecordsSummary {
    this.#exports.summarise(count);
    const [minMs = 0, maxMs = 0, lateMs = 0] = this.#summaryTimes;
    const [untimed = 0, ...counts] = this.#summaryCounts;
    return { minMs, maxMs, lateMs, counts, untimed };
  }

  /** A hash of the text `[from, to)`. */
  checksum(from: number, to: number): number {
    return this.#exports.checksum(from, to) >>> 0;
  }

  /**
   * Adds the grams of the text `[from, to)` to the column of this bit in `gramColumns`. Folds letters, also some bytes
   * beyond: the text must be loaded again for any other use.
   */
  addGrams(from: number, to: number, bit: number): void {
    this.#exports.addGrams(from, to, bit);
  }

  /** The longest path that `setPath` takes. */
  get maxPathBytes(): number {
    return this.#path.length;
  }

  /** What `jsonPath`, `contextPath` and `jsonMembers` find from now on. */
  setPath(path: Uint8Array): void {
    if (path === this.#loadedPath) return;
    this.#loadedPath = path;
    this.#path.set(path);
    this.#exports.forgetShapes();
  }

  /**
   * How many values the JSON object in the line `[from, to)` has at the path of `setPath`; the first one is left in
   * `foundValue`. Negative: the text is no object, has several lines, or is too unusual to be read without parsing it.
   */
  jsonPath(from: number, to: number, pathBytes: number): number {
    return this.#exports.jsonPath(from, to, pathBytes);
  }

  /**
   * How many members of the JSON object in the line `[from, to)` have one of the names of `setPath`, left in `members`;
   * `lengths` has a bit for the length of each name. Negative as above.
   */
  jsonMembers(from: number, to: number, lengths: number): number {
    return this.#exports.jsonMembers(from, to, lengths);
  }

  /** As `jsonPath` for the context of the line `[from, to)` in the native format. */
  contextPath(from: number, to: number, pathBytes: number): number {
    return this.#exports.contextPath(from, to, pathBytes);
  }

  /**
   * Whether the record `[from, to)` of the native format, which has a level, has a source, or tags; they are left in
   * `foundValue`. Negative: it is unusual.
   */
  column(from: number, to: number, isTags: boolean): number {
    return this.#exports.column(from, to, isTags);
  }

  setNeedle(needle: Needle): void {
    if (needle === this.#currentNeedle) return;
    const { bytes, mask, rarest, value } = needle;
    this.#currentNeedle = needle;
    this.#valueBytes = value?.length ?? 0;
    if (value) this.#valueText.set(value);
    this.#needle.set(bytes);
    this.#mask.set(mask);
    this.#needleBytes = bytes.length;
    this.#rarest = rarest;
  }

  /** The first position of the current needle within `[from, to)` that counts, unless `follows` rejects it, or -1. */
  find(from: number, to: number): number {
    const [i, j] = this.#rarest;
    return this.#valueBytes === 0
      ? this.#exports.find(from, to, this.#needleBytes, i, j)
      : this.#exports.findNamed(from, to, this.#needleBytes, i, j, this.#valueBytes);
  }

  /**
   * Walks the automaton over `[from, to)`. Returns the position of the first byte that leads to a row before
   * `firstRow`, or `to`; the row before it is then in `reached`.
   */
  walk(from: number, to: number, { row, firstRow }: { row: number; firstRow: number }): number {
    return this.#exports.walk(from, to, row, firstRow);
  }
}

const NEWLINE = 10;
const ERROR_RANK = levelRank('ERROR');

/** Of a value that occurrences of its name must precede; longer ones are cut. */
export const MAX_VALUE_BYTES = 64;

/** The loops read up to 128 bytes at a time. */
const READS_BEYOND = 128;

/** Letters of a word, five bits each, and its rank; terminated by a zero. */
function fillColumnWords(table: DataView): void {
  let row = 0;
  for (const word of CONTRACT_WORDS) {
    const key = [...word].reduce((sum, letter) => sum * 32n + BigInt(letter.charCodeAt(0) - 96), 0n);
    table.setBigUint64(row, key, true);
    table.setBigUint64(row + 8, BigInt(findLevelWord(Buffer.from(word), 0, word.length)?.rank ?? 0), true);
    row += 16;
  }
  table.setBigUint64(row, 0n, true);
}

function fillLevelEnds(table: Uint8Array): void {
  for (const word of CONTRACT_WORDS) {
    const { rank = 0 } = findLevelWord(Buffer.from(word), 0, word.length) ?? {};
    if (rank < ERROR_RANK) continue;
    const last = word.charCodeAt(word.length - 1);
    const known = table[last & 15];
    // One of two words would never be seen.
    if (known !== 0 && known !== last) throw new Error(`${word} ends with a letter that has no place in the table`);
    table[last & 15] = last;
  }
}

/** Instead of the rank of a level: the format must read the line. */
export const UNSURE = 255;

/**
 * Bytes from frequent to rare in log text, counted over logs of databases; bytes that are missing here are rarer still.
 * Only speed depends on it.
 */
const FREQUENT = '\0 0e12ta3no5i4r8s67\t9".,l:cd-u/\nm[]pgf={}hbvy_kwTxSINFO()ERADLCPMG|BjUVqzHWY+XKZQJ#;*%&@!<>';

/**
 * Prepares a text for searching. Letters beyond ASCII are compared exactly: do not pass a text that needs case folding
 * for them.
 */
export function makeNeedle(text: string | Uint8Array, { caseSensitive }: { caseSensitive: boolean }): Needle {
  const given = Buffer.from(text).subarray(0, MAX_NEEDLE_BYTES);
  const mask = given.map((byte) => (!caseSensitive && isLetter(byte) ? 0x20 : 0));
  const bytes = given.map((byte, index) => byte | (mask[index] ?? 0));
  return { bytes, mask, rarest: rarestTwo(bytes) };
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 97 && lower <= 122;
}

function rarestTwo(bytes: Uint8Array): [number, number] {
  const byRarity = Array.from(bytes, (byte, index) => ({ index, rarity: byteRarity(byte) })).sort(
    (a, b) => b.rarity - a.rarity,
  );
  const first = byRarity[0]?.index ?? 0;
  // The second of two equal adjacent bytes adds little.
  const other = byRarity.find(({ index }) => bytes[index] !== bytes[first]) ?? byRarity[1];
  return [first, other?.index ?? first];
}

/** Higher for bytes that are rarer in logs. */
export function byteRarity(byte: number): number {
  const position = FREQUENT.indexOf(String.fromCharCode(byte));
  return position < 0 ? FREQUENT.length : position;
}

interface GroupExports {
  groupSources(
    count: number,
    end: number,
    ranks: number,
    hasTimes: boolean,
    fromMs: number,
    toMs: number,
    from: number,
    to: number,
  ): number;
}

/** Which records are grouped. */
interface GroupedRecords {
  /** How many `heads` has found, and where their text ends. */
  count: number;
  end: number;
  /** A bit for each rank of a level. */
  rankBits: number;
  hasTimes: boolean;
  fromMs: number;
  toMs: number;
  /** Positions at which they may start. */
  from: number;
  to: number;
}

/** The part of the kernel that groups the records of a block of the native format by level and source. */
class SourceGroups {
  /** Each group has its times, where its source is, its records, where the newest one starts, and its level. */
  readonly firstMs: Float64Array;
  readonly lastMs: Float64Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly counts: Uint32Array;
  readonly newest: Uint32Array;
  readonly ranks: Uint32Array;
  readonly #exports: GroupExports;
  readonly #others: Uint32Array;
  readonly #foundValue: Uint32Array;

  constructor({ buffer, exports, constant: at }: LoadedWasm) {
    this.#exports = exports as unknown as GroupExports;
    const size = at('MAX_BLOCK_GROUPS');
    this.firstMs = new Float64Array(buffer, at('GROUP_FIRST_MS'), size);
    this.lastMs = new Float64Array(buffer, at('GROUP_LAST_MS'), size);
    this.starts = new Uint32Array(buffer, at('GROUP_STARTS'), size);
    this.lengths = new Uint32Array(buffer, at('GROUP_LENGTHS'), size);
    this.counts = new Uint32Array(buffer, at('GROUP_COUNTS'), size);
    this.newest = new Uint32Array(buffer, at('GROUP_NEWEST'), size);
    this.ranks = new Uint32Array(buffer, at('GROUP_RANKS'), size);
    this.#others = new Uint32Array(buffer, at('OTHERS'), at('MAX_HEADS'));
    this.#foundValue = new Uint32Array(buffer, at('FOUND_VALUE'), 1);
  }

  /** Groups records of the table that `heads` has filled. Returns the number of groups. */
  group({ count, end, rankBits, hasTimes, fromMs, toMs, from, to }: GroupedRecords): number {
    return this.#exports.groupSources(count, end, rankBits, hasTimes, fromMs, toMs, from, to);
  }

  /** The indices of the records that are in no group: they have no source, or are unusual, or there are too many groups. */
  get others(): Uint32Array {
    return this.#others.subarray(0, this.#foundValue[0] ?? 0);
  }
}

const LINE = Buffer.from('2024-08-16 09:48:23.118\tINFO\tbroker/query.go:42\tQuery completed\t{"took":"12ms"}\n');

const TEXT_BYTES = 256 * 1024;

/** The engine compiles a loop again, for speed, once it has run for a few hundred KiB; that is done in the background. */
const TIMES = 6;

/** Runs the loops that search whole files, so that they are compiled when the first search needs them; given the native format. */
export function exerciseKernel(kernel: ScanKernel, { program }: Format): void {
  for (let at = 0; at < TEXT_BYTES; at += LINE.length) LINE.copy(kernel.text, at);
  program?.learn(kernel.text, 0, LINE.length - 1);
  kernel.setProgram(program);
  const limits = { limit: TEXT_BYTES, known: 0, most: TEXT_BYTES };
  for (let round = 0; round < TIMES; round++) {
    for (const caseSensitive of [true, false]) {
      kernel.setNeedle(makeNeedle('no line has it', { caseSensitive }));
      kernel.find(0, TEXT_BYTES);
    }
    kernel.heads(0, TEXT_BYTES, limits);
    kernel.checksum(0, TEXT_BYTES);
  }
}
