import type { BlockCheck } from '../block-index/block-index.ts';
import type { FormatName } from '../parse/format.ts';
import type { ScanFile } from '../scan/jobs.ts';
import type { RecordFilter } from '../types.ts';
import type { KeptSegment, TextSegment } from './types.ts';

/** Builds the segment from this block on, of as many blocks as cannot change any more. */
export interface SegmentJob {
  kind: 'segment';
  file: ScanFile;
  firstBlock: number;
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
  /** Of the indexed text: it decides how a value may be written. */
  format: FormatName;
  /** Of the index. */
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
