import type { GzMap } from '../../gzip/gz-map.ts';
import type { ChunkMap } from '../../packed/chunk-map.ts';
import type { Utf16, Utf16Map } from '../../packed/utf16.ts';
import type { FormatName } from '../../parse/format.ts';
import type { UserFormat } from '../../parse/user-format.ts';
import type { ScrubRules } from '../../scrub/scrubber.ts';
import type { BlockSummary, TailSummary } from './blocks.ts';

/** A file as a scanning thread needs it. The descriptor stays open until the job has ended. */
export interface ScanFile {
  name: string;
  /** Cache key of the file for threads; without it nothing is cached. */
  key?: string;
  /** Changes with every change of the file; absent if a change need not show in it. */
  stamp?: string | undefined;
  fd: number;
  /** Size on disk. */
  sizeBytes: number;
  /** Length of the text: the same, unless it is compressed. */
  textBytes: number;
  packedMap: PackedMap | undefined;
  /** If it is UTF-16. */
  encoding?: Utf16 | undefined;
  /** Where its text begins; only NULs precede it. */
  textStart: number;
  /** For a plain file: length and hash of the first bytes of its text. If they differ later, the file was truncated. */
  start: { bytes: number; hash: number } | undefined;
  /** What is masked in its text. */
  scrub: ScrubRules | undefined;
  format: FormatName;
  /** The definition of the format, unless it is built in. Threads are shared by directories with different formats. */
  formats?: readonly UserFormat[] | undefined;
  zone: string;
  writtenMs: number;
}

/** Which records of a file are scanned: those that start in these blocks and in this range. */
export interface ScanPart {
  file: ScanFile;
  /** Pairs of first and end (exclusive) block, in scan order. */
  runs: readonly number[];
  /** Offsets at which a record may start. */
  startBytes: number;
  endBytes: number;
}

/** How the text of a compressed file is read from any offset. */
export type PackedMap = GzMap | ChunkMap | Utf16Map;

/** What every scan reports in addition to its results. */
export interface ScanReport {
  /** Blocks scanned, in scan order. */
  blocks: number[];
  /** Range of the times seen in the scanned part. */
  minMs: number;
  maxMs: number;
  summaries: BlockSummary[];
  /** Summarises a last block that can still change: only the order of its times is kept. */
  tail?: TailSummary;
  /** Offset of the first hole of NULs that was read. */
  holeAt?: number;
  /**
   * The scan paused, to let others run, or was cancelled within a block. Oldest first: records that start at or after
   * this offset remain. Newest first: those that start before it.
   */
  pausedAt?: number;
}
