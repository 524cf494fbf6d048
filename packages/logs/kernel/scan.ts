/*
 * The inner loops of scanning, in AssemblyScript (TypeScript syntax, compiled to WebAssembly with SIMD). `npm run
 * kernel` compiles it to src/kernel/scan-wasm.ts, which src/kernel/scan-kernel.ts loads. Nothing is allocated here, and
 * every function may read up to 128 bytes beyond the end it is given.
 */

export { render, setLines } from './render/render';
export { checksum } from './scan/checksum';
export { column } from './scan/columns';
export { find, findNamed } from './scan/find';
export { heads } from './scan/heads';
export { mayHaveHole } from './scan/holes';
export { jsonMembers } from './scan/json-members';
export { contextPath, jsonPath } from './scan/json-path';
export { forgetShapes } from './scan/json-shapes';
export { mayHaveErrors } from './scan/level-words';
export { groupSources } from './scan/source-groups';
export { summarise } from './scan/summarise';
export { addGrams } from './scan/text-grams';
export { walk } from './scan/walk';
export { escapes } from './scrub/escapes';
export { findGrams } from './scrub/find-grams';

/** Memory layout, read by the host. */
export const COLUMN_WORDS: u32 = 1024;
export const NEEDLE: u32 = 2048;
export const MASK: u32 = 3072;
export const MAX_NEEDLE: u32 = 1024;
/**
 * What was learned of the lines of a file, see src/parse/heads/head-program.ts: where their times are, where those of each
 * slot have their levels, what letters mean, and times as they are written but for the clock.
 */
export const PROGRAM: u32 = 4096;
export const PROGRAM_SLOTS: u32 = PROGRAM + 64;
export const PROGRAM_LETTERS: u32 = PROGRAM_SLOTS + 1024;
export const PROGRAM_ENTRIES: u32 = PROGRAM_LETTERS + 256;
/** Levels that were read, by what follows the time: bytes, which of them count, the slot and the rank. */
export const KNOWN_LEVELS: u32 = PROGRAM_ENTRIES + 32 * 208;
/** Entries by the first bytes of times. */
export const ENTRY_SLOTS: u32 = KNOWN_LEVELS + 12 * 48;
export const PROGRAM_BYTES: u32 = ENTRY_SLOTS + 32 * 4 - PROGRAM;
/**
 * Tables for reading heads, filled by the host: classes of bytes, marks that close others, ranks of letters, level words
 * by hash, words as lists of keys, and sets of words by their first three letters.
 */
export const CLASSES: u32 = 16384;
export const CLOSING: u32 = CLASSES + 256;
export const LETTER_RANKS: u32 = CLOSING + 256;
export const LEVEL_KEYS: u32 = LETTER_RANKS + 256;
export const METHODS: u32 = LEVEL_KEYS + 256;
export const REMARKS: u32 = METHODS + 256;
export const NAMED_STARTS: u32 = REMARKS + 256;
export const ZONE_STARTS: u32 = NAMED_STARTS + 4096;
/** For each first letter of level words, a bit for each length. */
export const WORD_LENGTHS: u32 = ZONE_STARTS + 4096;
export const LEVEL_WORDS: u32 = WORD_LENGTHS + 64;
/** All positions, passed in and returned, count from here. */
export const TEXT: u32 = 262144;
/** Free space before the text: what precedes a part is read into it, to decide what must be masked at its start. */
export const TEXT_ROOM: u32 = 32768;
/** The text region: two blocks and a lookahead. */
export const TEXT_CAPACITY: u32 = 655360;
/**
 * An automaton: for each byte the offset of its column in a row, in bytes, and the rows, which hold addresses of rows.
 */
export const BYTE_CLASSES: u32 = 0;
export const ROWS: u32 = TEXT + TEXT_CAPACITY;
export const ROWS_BYTES: u32 = 262144;
/** The row `walk` ended in, or where `heads` stopped. */
export const REACHED: u32 = ROWS + ROWS_BYTES;
/** Search tables for masking secrets, and the hits: see grams.ts. */
export const GRAMS: u32 = REACHED + 64;
export const GRAM_HASHES: u32 = 65536;
export const INTRODUCERS: u32 = GRAMS + GRAM_HASHES;
export const FOLLOW: u32 = INTRODUCERS + 16;
export const PAIRS: u32 = FOLLOW + 256;
export const FIRSTS: u32 = PAIRS + 8192;
export const HITS: u32 = FIRSTS + 256;
export const MAX_HITS: u32 = 65536;
/** The path for `jsonPath`; start and end of the first value found, or of a column, and whether it has escapes. */
export const PATH: u32 = HITS + MAX_HITS * 4;
export const MAX_PATH: u32 = 1024;
export const FOUND_VALUE: u32 = PATH + MAX_PATH;
/**
 * Groups of records, see source-groups.ts: the times of the first and of the newest record, where the source is, its
 * hash, the number of records, the position of the newest one, and the level. Then the table to find them, of u16: the
 * number of a group plus one, or zero; four times as many as groups, so that a free one is near.
 */
export const MAX_BLOCK_GROUPS: u32 = 1024;
export const GROUP_FIRST_MS: u32 = (FOUND_VALUE + 16 + 7) & ~7;
export const GROUP_LAST_MS: u32 = GROUP_FIRST_MS + MAX_BLOCK_GROUPS * 8;
export const GROUP_STARTS: u32 = GROUP_LAST_MS + MAX_BLOCK_GROUPS * 8;
export const GROUP_LENGTHS: u32 = GROUP_STARTS + MAX_BLOCK_GROUPS * 4;
export const GROUP_HASHES: u32 = GROUP_LENGTHS + MAX_BLOCK_GROUPS * 4;
export const GROUP_COUNTS: u32 = GROUP_HASHES + MAX_BLOCK_GROUPS * 4;
export const GROUP_NEWEST: u32 = GROUP_COUNTS + MAX_BLOCK_GROUPS * 4;
export const GROUP_RANKS: u32 = GROUP_NEWEST + MAX_BLOCK_GROUPS * 4;
export const GROUP_SLOTS: u32 = GROUP_RANKS + MAX_BLOCK_GROUPS * 4;
export const GROUP_SLOTS_BYTES: u32 = MAX_BLOCK_GROUPS * 8;
/** Of a text index: a byte per row for the grams of one block, and one with a bit for each of eight blocks. */
export const SEEN_GRAMS: u32 = GROUP_SLOTS + GROUP_SLOTS_BYTES;
export const GRAM_COLUMNS: u32 = SEEN_GRAMS + 32768;
/**
 * Records to render: where they are, their times and the ranks of their levels; then, where their lines end. What all
 * lines have in common, and scratch memory: see render.ts.
 */
export const MAX_SPANS: u32 = 1024;
export const SPAN_STARTS: u32 = GRAM_COLUMNS + 32768;
export const SPAN_ENDS: u32 = SPAN_STARTS + MAX_SPANS * 4;
export const SPAN_TIMES: u32 = SPAN_ENDS + MAX_SPANS * 4;
export const SPAN_RANKS: u32 = SPAN_TIMES + MAX_SPANS * 8;
export const RENDERED_ENDS: u32 = SPAN_RANKS + MAX_SPANS;
export const MAX_LINE_TEXT: u32 = 2048;
export const LINE_START: u32 = RENDERED_ENDS + MAX_SPANS * 4;
export const CURSOR_HEAD: u32 = LINE_START + MAX_LINE_TEXT;
export const CURSOR_TAIL: u32 = CURSOR_HEAD + MAX_LINE_TEXT;
export const DIGITS: u32 = CURSOR_TAIL + MAX_LINE_TEXT;
export const KEY_HASHES: u32 = DIGITS + 64;
export const MAX_FIELD_PATH: u32 = 256;
export const FIELD_PATH: u32 = KEY_HASHES + 1024;
export const KNOWN_KEYS: u32 = FIELD_PATH + MAX_FIELD_PATH;
export const NAMES: u32 = KNOWN_KEYS + 8192;
export const TAG_MEMBERS: u32 = NAMES + 512;
export const MEMBERS: u32 = TAG_MEMBERS + 128;
export const MEMBER_TEXT: u32 = MEMBERS + 2048;
export const OUTPUT: u32 = MEMBER_TEXT + 32768;
export const OUTPUT_BYTES: u32 = 688128;
/** Members that `jsonMembers` has found: three numbers each. */
export const NAMED_MEMBERS: u32 = (OUTPUT + OUTPUT_BYTES + 15) & ~15;
export const MAX_NAMED_MEMBERS: u32 = 16;
/** Records found by `heads`: a block has at most one in two bytes, and one more that has no head. */
export const MAX_HEADS: u32 = 131072 + 16;
export const POSITIONS: u32 = NAMED_MEMBERS + MAX_NAMED_MEMBERS * 12;
export const TIMES: u32 = POSITIONS + MAX_HEADS * 4;
export const LEVELS: u32 = TIMES + MAX_HEADS * 8;
/** The indices of those that are in no group. */
export const OTHERS: u32 = LEVELS + MAX_HEADS;
/** What `summarise` counts: the earliest and the latest time, how late one is, records without one, and those of each rank. */
export const SUMMARY: u32 = OTHERS + MAX_HEADS * 4;
/** By the low four bits of a letter: that letter, if a word of ERROR or above ends with it. */
export const LEVEL_ENDS: u32 = (SUMMARY + 3 * 8 + 8 * 4 + 15) & ~15;
/** Shapes of lines of JSON, see json-shapes.ts, and the values of a line whose shape is kept. */
export const MAX_SHAPE_NODES: u32 = 512;
export const SHAPES: u32 = LEVEL_ENDS + 16;
export const READ_VALUES: u32 = SHAPES + MAX_SHAPE_NODES * 128;
/** What the value behind a name must contain, see find.ts. */
export const VALUE_TEXT: u32 = READ_VALUES + 65 * 12;
export const MAX_VALUE_TEXT: u32 = 64;
export const MEMORY_BYTES: u32 = VALUE_TEXT + MAX_VALUE_TEXT;

/** A bit for each byte of four vectors of comparisons. */
export function bits64(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}
