import type { FormatName } from '../parse/format.ts';
import type { RecordFilter } from '../types.ts';
import type { BlockCheck } from './block/blocks.ts';
import type { ScanFile } from './block/scan-file.ts';

/** Builds the segment from this block on, of as many blocks as cannot change any more. */
export interface SegmentJob {
  kind: 'segment';
  file: ScanFile;
  firstBlock: number;
  /** The file may be growing: blocks from this one on are left out. Absent: they must not change meanwhile. */
  endBlock?: number | undefined;
  /** Checks of a segment of the same text: if all of them hold, it is true of this file, too, and nothing is built. */
  known?: readonly BlockCheck[] | undefined;
}

export interface SegmentResult {
  /** `null` if the job was cancelled, there is no such block, or the file has changed since it was opened. */
  segment: TextSegment | null;
  /** Whether the known checks hold. */
  isKnown: boolean;
  readBytes: number;
  busyMs: number;
}

/** Which blocks may contain the texts that a filter requires, according to an index. */
export interface ProbeJob {
  kind: 'probe';
  filter: RecordFilter;
  /** The format of the indexed text: it decides how a value may be written. */
  format: FormatName;
  /** The descriptor of the index. */
  fd: number;
  segments: readonly Pick<KeptSegment, 'width' | 'at' | 'sums'>[];
}

export interface ProbeResult {
  /** For each segment the bits of its blocks, `width / 8` bytes; `null`: every block may match. */
  bits: (Uint8Array<ArrayBuffer> | null)[];
  /** Some rows could not be read, or have another checksum. */
  isDamaged: boolean;
}

export type TextIndexJob = SegmentJob | ProbeJob;

export interface TextIndexResults {
  segment: SegmentResult;
  probe: ProbeResult;
}

/** Bytes of a gram; letters are folded to lower case, so that one index serves searches with and without case. */
export const GRAM_BYTES = 4;

/** Most blocks of one segment: 128 MiB of text, of which a search reads a few rows of 64 bytes. */
export const SEGMENT_BLOCKS = 512;

/** A file that grows is indexed in segments of so many blocks, 8 MiB, which stay as they are. */
export const PART_BLOCKS = 32;

/**
 * Which grams occur in adjacent blocks of a text: a row of bits per hash, in which each block has one bit, the lowest of
 * a byte first. A block that has all bits of the grams of a text may contain it; any other does not.
 */
export interface TextSegment {
  /** A multiple of `SEGMENT_BLOCKS`, or in a file that has grown of `PART_BLOCKS`. */
  firstBlock: number;
  /** Bits of a row: a multiple of 8, at most `SEGMENT_BLOCKS`. */
  width: number;
  /** Check the text that each column was made from, one per block from the first on; columns beyond prove nothing. */
  checks: readonly BlockCheck[];
  /** `GRAM_ROWS` rows of `width / 8` bytes. */
  rows: Uint8Array<ArrayBuffer>;
}

/** Where the rows of a kept segment are. */
export interface KeptSegment extends Pick<TextSegment, 'firstBlock' | 'width'> {
  /** Number of its blocks: of its checks. */
  blocks: number;
  /** Offset of its first row in the file of the index. */
  at: number;
  /** Checksums of its rows, as `groupSums` makes them. */
  sums: Uint32Array;
  /** Stamps of files with which its blocks were read or verified while they were settled. */
  stamps: readonly string[];
}

/** What is kept of one text. The descriptor stays open until it is released. */
export interface KeptIndex {
  fd: number;
  segments: readonly KeptSegment[];
  /** The checks of a segment, `undefined` if they cannot be read. */
  checks(segment: KeptSegment): Promise<readonly BlockCheck[] | undefined>;
  release(): void;
}

/** Identifies a text by its content, so that a renamed, copied or compressed file finds what is known of it. */
export interface TextKey {
  /** As in `FileMark`. */
  headHash: string;
  headBytes: number;
  /** Identifies the rules by which secrets are masked; empty: none. */
  scrubId: string;
  /** How it is split into records: a record belongs to the block it starts in, wherever it ends. */
  reading: string;
}

/** Keeps segments. Only speed depends on it: what is damaged or missing is just not there. */
export interface TextIndexStore {
  open(key: TextKey): Promise<KeptIndex | undefined>;
  /** Adds a segment, and removes those that start in one of its blocks. `stamp`: the first of its `stamps`. */
  put(key: TextKey, segment: TextSegment, stamp: string): Promise<void>;
  /** Segments were found to be true of a file with this stamp: it is added to theirs, the newest few are kept. */
  renew(key: TextKey, firstBlocks: readonly number[], stamp: string): Promise<void>;
  /** Its rows were found to be damaged. */
  drop(key: TextKey): Promise<void>;
  /** A file was searched for a text without the index: it is worth indexing before others. */
  noteScanned(name: string): void;
}
