import type { RecordFilter } from '../../types.ts';
import type { ScanPart, ScanReport } from '../block/scan-file.ts';
import type { PackedBlockGroups } from './scanned-groups.ts';

/** Groups records by level and origin. */
export interface DigestJob extends ScanPart {
  kind: 'digest';
  filter: RecordFilter;
}

/** What the records of a group have in common. */
export interface GroupKind {
  rank: number;
  source: string | null;
  /** Of records without a source. */
  shape: string | null;
}

/** How many records, the earliest and latest time of them, and the offset of the newest. */
export interface Members {
  count: number;
  firstMs: number;
  lastMs: number;
  offset: number;
}

export interface ScannedGroup extends GroupKind, Members {}

export interface DigestResult extends ScanReport {
  groups: ScannedGroup[];
  ungrouped: number;
  /** The groups of blocks that will not change any more, if all records of the block were grouped. */
  kept: PackedBlockGroups | undefined;
}
